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

/// What came by the page and is still in the spool: it counts for what an hour allows, too, or any number could come at
/// once, or while the database cannot be written.
class Uploads {
 public:
  /// Writes one more of this student's and returns its receipt; nullopt where he has sent `most` since then already.
  std::optional<std::string> write(const Folder& folder, const SpoolEntry& entry, int64_t student, int64_t most,
                                   double since_s);

 private:
  std::mutex mutex_;
  std::map<int64_t, std::vector<std::string>> receipts_;  ///< by student
};

/// The class's page: what each request gets, from any number of threads. It remembers nothing between requests but
/// uploads that wait in the spool, so that changes of class.toml and tokens show at once. Boards come from what is
/// published (answers.h), so that the many who look at them do not ask the database.
///
///   /                 the assignments
///   /board/A          the ranking; where the class shows names, for students only
///   /public/A/FILE    what students begin with
///   /enter, /leave    a token becomes a cookie
///   /own              the student's submissions, and a form to hand in; /submit takes it
///   /submission/N     one of his own, by number or by receipt
///   /style.css
class Site {
 public:
  /// `tell` hears, in a line, what went wrong here, and is no visitor's business.
  Site(Folder folder, std::function<void(const std::string& line)> tell);

  /// Whatever is asked, or broken, gets a page; nothing is thrown.
  Reply reply(const Visit& visit) const;

  /// The page for what never becomes a Visit.
  Reply refusal(int status) const;

 private:
  Folder folder_;
  std::function<void(const std::string& line)> tell_;
  mutable Uploads uploads_;
};

/// Requests that change something, by POST; every other path is only read.
bool is_form_path(const std::string& path);

/// The most bytes of a request's body: a source, and what a form puts around it.
inline constexpr int64_t kMostBodyBytes = (int64_t{1} << 20) + (int64_t{64} << 10);

}  // namespace convlab::classroom
