#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/folder.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

// A job is a folder in jobs/, one per attempt, through which a worker and `class judge` communicate, on one machine or
// on two.

/// Returns "17-2" for the second attempt at job 17.
std::string job_name(const Lease& lease);

/// Writes job.json and removes the folders of earlier attempts. Throws Error(unavailable) if it cannot be written, or
/// if the assignment, its pack or its secret cannot be read.
void write_job(const Folder& folder, const Settings& settings, const Lease& lease);

/// Read the stage that the judge reported, and its verdict; nullopt if there is none yet.
std::optional<judge::Stage> stage_of_job(const Folder& folder, const Lease& lease);
std::optional<judge::Judgement> judgement_of_job(const Folder& folder, const Lease& lease);

void remove_job(const Folder& folder, const Lease& lease);

}  // namespace convlab::classroom
