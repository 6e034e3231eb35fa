#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/web/visit.h"

namespace convlab::classroom {

/// Uploads from the web page that are still in the spool. They count toward the hourly limit; otherwise any number
/// could arrive at once, or while the database is not writable.
class Uploads {
 public:
  /// Writes an upload of this student and returns its receipt, or nullopt if the student has already sent `most` since
  /// `since_s`.
  std::optional<std::string> write(const Folder& folder, const SpoolEntry& entry, int64_t student, int64_t most,
                                   double since_s);

 private:
  std::mutex mutex_;
  std::map<int64_t, std::vector<std::string>> receipts_;  ///< by student
};

/// The class's web site: replies to requests from any number of threads. It keeps no state between requests except
/// uploads waiting in the spool, so changes of class.toml and tokens take effect immediately. Boards are read from
/// published files (class_answers.h), so that many readers do not load the database.
///
///   /                 the assignments
///   /board/A          the ranking; if the class shows real names, for students only
///   /public/A/FILE    starter files
///   /enter, /leave    exchange a token for a cookie, and sign out
///   /own              the student's submissions, and a form that posts to /submit
///   /submission/N     one of the student's submissions, by number or by receipt
///   /style.css
class Site {
 public:
  /// `tell` receives one-line messages about internal errors that visitors must not see.
  Site(Folder folder, std::function<void(const std::string& line)> tell);

  /// Returns a page for any request, including errors; never throws.
  Reply reply(const Visit& visit) const;

  /// Returns the page for a request that could not be parsed into a Visit.
  Reply refusal(int status) const;

 private:
  Folder folder_;
  std::function<void(const std::string& line)> tell_;
  mutable Uploads uploads_;
};

/// Returns whether this path changes something, by POST; all other paths are read-only.
bool is_form_path(const std::string& path);

/// Maximum size of a request's body: a source file and the form around it.
inline constexpr int64_t kMostBodyBytes = (int64_t{1} << 20) + (int64_t{64} << 10);

}  // namespace convlab::classroom
