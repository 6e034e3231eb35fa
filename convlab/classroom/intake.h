#pragma once

#include "convlab/classroom/folder.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

/// Takes what is in the spool into the database, then tells the students (answers.h). What comes after the deadline,
/// too often or for no assignment is a submission that is refused; what is none is set aside with the reason. Any
/// number of the owner's processes may do so at once.
void take_in(const Folder& folder, const Settings& settings, Store& store);

}  // namespace convlab::classroom
