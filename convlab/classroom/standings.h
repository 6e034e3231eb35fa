#pragma once

#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/folder.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

/// Which names a ranking shows.
enum class Shown { as_settings_say, by_name };

/// Returns the ranking of an assignment.
std::vector<RankingEntry> standings(const Folder& folder, const Settings& settings, Store& store,
                                    const AssignmentSettings& assignment, Shown shown);

/// Returns the registrar's data: each student of the class, for an assignment.
std::vector<Grade> grades(const Folder& folder, const Settings& settings, Store& store,
                          const AssignmentSettings& assignment);

/// Summarizes simt's counters of a submission's kernels; "" if there are none.
std::string counters_text(const judge::Judgement& judgement);

/// Returns a student's pseudonym in this class.
std::string alias_of(const Folder& folder, int64_t student);

}  // namespace convlab::classroom
