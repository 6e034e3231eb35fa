#pragma once

#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/folder.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

// Files that students read instead of the database: the queue in public/queue.json, where student numbers are
// reassigned each time it is written; the rankings in public/rankings.json; and their own submissions in
// answers/SECRET.json, whose name only they know. No number in public files stays with a student, because permanent
// numbers follow the class roster.

/// Writes the queue and the answers of these students. The newest submissions of each include stage logs.
void publish(const Folder& folder, const Settings& settings, Store& store, const std::vector<int64_t>& students);

/// Writes the rankings. Call it when verdicts change; it reads all verdicts.
void publish_rankings(const Folder& folder, const Settings& settings, Store& store);

/// Reads the published queue.
QueueState published_queue(const Folder& folder);

/// Reads the published ranking of an assignment.
std::vector<RankingEntry> published_ranking(const Folder& folder, const std::string& assignment);

/// Reads a student's published submissions; none if nothing was published yet.
std::vector<Submission> published_submissions(const Folder& folder, const std::string& secret);

}  // namespace convlab::classroom
