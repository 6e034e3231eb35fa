#pragma once

#include <optional>
#include <string>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

/// Takes what is in the spool into the database, then tells the students (answers.h). What comes after the deadline,
/// too often or for no assignment is a submission that is refused, of which no file is kept; what is none is removed,
/// and the reason lies where its receipt leads. Any number of the owner's processes may do so at once. It ends after
/// about `most_s`, with what is left for the next time; of a user who sent more than an hour allows, the rest comes
/// last.
void take_in(const Folder& folder, const Settings& settings, Store& store, double most_s = 5);

/// That one alone.
void take_in_one(const Folder& folder, const Settings& settings, Store& store, const std::string& receipt);

/// Why there is no submission of this receipt: what its sender reads, however it was told that it has arrived.
std::optional<std::string> why_set_aside(const Folder& folder, const std::string& receipt);

/// The owner forgets what was set aside.
void forget_set_aside(const Folder& folder, Store& store);

}  // namespace convlab::classroom
