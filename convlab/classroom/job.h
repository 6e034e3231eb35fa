#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

// A job is a folder in jobs/, an own one for each attempt, by which a worker and `class judge` talk, on one machine or
// two.

/// "17-2": the second attempt at job 17.
std::string job_name(const Lease& lease);

/// Writes job.json, and removes what earlier attempts left. Error(unavailable) where it cannot be written, or the
/// assignment, its pack or its secret cannot be read.
void write_job(const Folder& folder, const Settings& settings, const Lease& lease);

/// The stage that the judge has said to be in, and its answer; nullopt where there is none yet.
std::optional<judge::Stage> stage_of_job(const Folder& folder, const Lease& lease);
std::optional<judge::Judgement> judgement_of_job(const Folder& folder, const Lease& lease);

void remove_job(const Folder& folder, const Lease& lease);

}  // namespace convlab::classroom
