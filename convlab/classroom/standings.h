#pragma once

#include <string>
#include <vector>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

/// Under which names a ranking shows students.
enum class Shown { as_settings_say, by_name };

/// The ranking of an assignment.
std::vector<RankingEntry> standings(const Folder& folder, const Settings& settings, Store& store,
                                    const AssignmentSettings& assignment, Shown shown);

/// What the registrar gets: each student of the class, for an assignment.
std::vector<Grade> grades(const Folder& folder, const Settings& settings, Store& store,
                          const AssignmentSettings& assignment);

/// What simt counted of a submission's kernels, in a few words; "" where nothing was.
std::string counters_text(const judge::Judgement& judgement);

/// The made-up name of a student in this class.
std::string alias_of(const Folder& folder, int64_t student);

}  // namespace convlab::classroom
