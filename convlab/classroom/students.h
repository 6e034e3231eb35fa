#pragma once

#include <string>

#include "convlab/classroom/store.h"

namespace convlab::classroom {

/// Returns the student's name that is closest to `name`, for "did you mean ...?"; "" if none is close.
std::string closest_student(Store& store, const std::string& name);

/// Returns the student of this name. Throws Error(bad_input), with the closest name or the first few, if there is none.
Student require_student(Store& store, const std::string& name);

}  // namespace convlab::classroom
