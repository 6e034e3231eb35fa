#pragma once

#include <optional>
#include <string>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/folder.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

/// Moves submissions from the spool into the database, then publishes them to the students (class_answers.h). A
/// submission that is late, exceeds the hourly limit or names an unknown assignment is stored as refused, without its
/// file. Files that are not submissions are removed, and the reason is written under their receipt. Any number of the
/// owner's processes may run this concurrently. Stops after about `most_s` seconds and leaves the remaining files for
/// the next call. Submissions beyond a user's hourly limit are processed last.
void take_in(const Folder& folder, const Settings& settings, Store& store, double most_s = 5);

/// Processes only this submission.
void take_in_one(const Folder& folder, const Settings& settings, Store& store, const std::string& receipt);

/// Returns why a receipt was rejected, or nullopt. The sender reads this even after they saw that the file arrived.
std::optional<std::string> why_set_aside(const Folder& folder, const std::string& receipt);

/// Deletes the records of rejected files; for the class owner.
void forget_set_aside(const Folder& folder, Store& store);

}  // namespace convlab::classroom
