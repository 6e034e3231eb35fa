#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/queue.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::app {

/// A submission, and when its turn comes.
struct Seen {
  classroom::Submission submission;
  std::optional<classroom::Turn> turn;  ///< of one that waits
};

/// The class as this account sees it: its owner by the database, others by what is published for them.
class Member {
 public:
  /// The owner takes in what is in the spool. Error(bad_input) where `root` is no class.
  explicit Member(const std::string& root);

  const classroom::Folder& folder() const { return folder_; }
  const classroom::Settings& settings() const { return settings_; }
  bool is_owner() const { return store_.has_value(); }

  /// The owner's alone.
  classroom::Store& store() { return *store_; }

  /// Hands in a file and returns its receipt. `as`: "" for this account itself. Error(bad_input) where the file is no
  /// submission.
  std::string submit(const std::string& file, const std::string& assignment, const std::string& as);

  /// The owner's: all; others': their own.
  std::vector<Seen> submissions(const classroom::Which& which);

  /// Error(bad_input) unless it is one of submissions().
  Seen submission(int64_t number);

  /// By its receipt: without a number as long as nobody has taken it in. Error(bad_input) where there is none, or with
  /// the reason why it was set aside.
  Seen submission(const std::string& receipt);

  std::vector<classroom::RankingEntry> ranking(const classroom::AssignmentSettings& assignment);

  /// Of this account's own submissions.
  std::set<int64_t> own_numbers();

 private:
  /// `own`: this account's submissions, as they were published.
  classroom::QueueState queue(const std::vector<classroom::Submission>& own);

  /// Under which this account's answers lie; kept in the user's configuration.
  std::string secret() const;

  classroom::Folder folder_;
  classroom::Settings settings_;
  std::optional<classroom::Store> store_;
  std::optional<classroom::Submission> handed_in_;  ///< by this process, as it was then
};

}  // namespace convlab::app
