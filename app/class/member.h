#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/folder.h"
#include "convlab/classroom/queue.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/store.h"

namespace convlab::app {

/// A submission and its position in the queue.
struct Seen {
  classroom::Submission submission;
  std::optional<classroom::Turn> turn;  ///< only while it is queued
};

/// A class as the current user sees it: the owner reads the database, students read what is published for them.
class Member {
 public:
  /// If the user is the owner, also imports the submissions in the spool. Throws Error(bad_input) if `root` is not a
  /// class.
  explicit Member(const std::string& root);

  const classroom::Folder& folder() const { return folder_; }
  const classroom::Settings& settings() const { return settings_; }
  bool is_owner() const { return store_.has_value(); }

  /// Only for the owner.
  classroom::Store& store() { return *store_; }

  /// Submits a file and returns its receipt. `as`: the student to submit for; "" for the current user. Throws
  /// Error(bad_input) if the file cannot be submitted.
  std::string submit(const std::string& file, const std::string& assignment, const std::string& as);

  /// Returns all submissions for the owner, otherwise only the user's own.
  std::vector<Seen> submissions(const classroom::Which& which);

  /// Throws Error(bad_input) unless it is one of submissions().
  Seen submission(int64_t number);

  /// Returns the submission with this receipt. It has no number until it is imported from the spool. Throws
  /// Error(bad_input) if there is none, with the reason if it was rejected.
  Seen submission(const std::string& receipt);

  std::vector<classroom::RankingEntry> ranking(const classroom::AssignmentSettings& assignment);

  /// Returns the numbers of the user's own submissions.
  std::set<int64_t> own_numbers();

 private:
  /// Returns the queue, including handed_in_ if it is not published yet. `own`: the user's published submissions.
  classroom::QueueState queue(const std::vector<classroom::Submission>& own);

  /// Returns the secret that names the user's published answers. It is kept in the user's configuration folder and
  /// created if it is missing.
  std::string secret() const;

  classroom::Folder folder_;
  classroom::Settings settings_;
  std::optional<classroom::Store> store_;
  std::optional<classroom::Submission> handed_in_;  ///< submitted by this process, in its state at that time
};

}  // namespace convlab::app
