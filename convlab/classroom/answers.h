#pragma once

#include <string>
#include <vector>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

// What students may read without the database: the queue in public/queue.json, where students are numbers that change
// with each queue; the rankings in public/rankings.json; and their own submissions in answers/SECRET.json, whose name
// nobody else knows. No number in what all may read stays with a student: numbers follow the class's roster.

/// Writes the queue, and the answers of these students, the newest of them with what the stages said.
void publish(const Folder& folder, const Settings& settings, Store& store, const std::vector<int64_t>& students);

/// Writes the rankings, which verdicts alone change: it reads all verdicts.
void publish_rankings(const Folder& folder, const Settings& settings, Store& store);

/// The queue as it was published.
QueueState published_queue(const Folder& folder);

/// The ranking of an assignment as it was published.
std::vector<RankingEntry> published_ranking(const Folder& folder, const std::string& assignment);

/// A student's submissions as they were published; none where there are none yet.
std::vector<Submission> published_submissions(const Folder& folder, const std::string& secret);

}  // namespace convlab::classroom
