#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/folder.h"
#include "convlab/classroom/store.h"

/// Deletes submissions and students, for example after a submission for a misspelled name.
namespace convlab::classroom {

/// Deletes these submissions, with their files and results, and publishes what remains. Their numbers are not used
/// again. Throws Error(bad_input), and deletes nothing, if a number is unknown or a worker is judging a submission.
/// Returns the deleted submissions.
std::vector<Submission> delete_submissions(const Folder& folder, const Settings& settings, Store& store,
                                           const std::vector<int64_t>& numbers);

/// Deletes a student with all submissions and the token, in the same way. Throws Error(bad_input) if the name is
/// unknown.
std::vector<Submission> delete_student(const Folder& folder, const Settings& settings, Store& store,
                                       const std::string& name);

}  // namespace convlab::classroom
