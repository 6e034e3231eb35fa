#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/web/visit.h"

namespace convlab::classroom {

/// The class's page: what each request gets. It remembers nothing between requests, so that any number of threads may
/// ask, and changes of class.toml and tokens show at once. Boards come from what is published (answers.h), so that the
/// many who look at them do not ask the database.
///
///   /                 the assignments
///   /board/A          the ranking; where the class shows names, for students only
///   /public/A/FILE    what students begin with
///   /enter, /leave    a token becomes a cookie
///   /own              the student's submissions, and a form to hand in; /submit takes it
///   /submission/N     one of his own
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
  mutable std::mutex taking_in_;  ///< who comes when another has it finds his submission taken in
};

/// Requests that change something, by POST; every other path is only read.
bool is_form_path(const std::string& path);

/// The most bytes of a request's body: a source, and what a form puts around it.
inline constexpr int64_t kMostBodyBytes = (int64_t{1} << 20) + (int64_t{64} << 10);

}  // namespace convlab::classroom
