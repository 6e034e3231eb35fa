// Replies to the requests of the class's web page.

#include "convlab/classroom/web/class_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <iterator>
#include <set>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/classroom/aliases.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/standings.h"
#include "convlab/classroom/web/access_tokens.h"
#include "convlab/classroom/web/board_page.h"
#include "convlab/classroom/web/own_page.h"
#include "convlab/classroom/web/submission_page.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kKeepToken_s = int64_t{180} * 24 * 3600;
constexpr int64_t kMostPublicBytes = int64_t{4} << 20;
constexpr double kHour = 3600;
constexpr int64_t kMostOwn = 500;

/// An error page for the visitor.
struct Refused {
  int status;
  std::string what, what_to_do;
};

Refused not_there() { return {404, "This page does not exist or is not yours.", ""}; }

Reply redirect(const std::string& path) { return {.status = 303, .headers = {{"Location", path}}}; }

std::optional<Turn> turn_of(const QueueState& state, const std::vector<Turn>& turns, int64_t submission) {
  const auto found = std::ranges::find(state.waiting, submission, &QueuedJob::submission);
  return found == state.waiting.end() ? std::nullopt
                                      : std::optional(turns[static_cast<size_t>(found - state.waiting.begin())]);
}

std::vector<Turn> turns_of(const QueueState& state) {
  return turns(state.waiting, state.running, state.durations, state.workers);
}

/// Handles one request.
class Answering {
 public:
  Answering(const Folder& folder, const Visit& visit, const std::function<void(const std::string&)>& tell,
            Uploads& uploads)
      : folder_(folder), visit_(visit), tell_(tell), uploads_(uploads) {}

  Reply reply() {
    Reply reply;
    try {
      reply = route();
    } catch (const Refused& refused) {
      reply = {.status = refused.status, .body = error_page(frame_, refused.status, refused.what, refused.what_to_do)};
    } catch (const std::exception& error) {
      tell_(fmt::format("{} {}: {}", printable(visit_.method), printable(visit_.path), printable(error.what())));
      reply = {.status = 503,
               .body = error_page(frame_, 503,
                                  "The class data is not available right now. Your earlier submissions are not lost.",
                                  "Try again in a minute. If it still fails, tell your teacher.")};
    }
    if (is_new_visitor_) set_cookie(reply, visit_, kVisitorCookie, visitor_, -1);
    return reply;
  }

 private:
  Reply route() {
    if (visit_.path == "/style.css") {
      return {.body = style(), .type = "text/css; charset=utf-8", .headers = {{"Cache-Control", "max-age=300"}}};
    }
    know_visitor();
    const std::vector<std::string> parts = split(visit_.path, '/');
    const std::string first = parts.size() > 1 ? parts[1] : "";
    const bool reads = visit_.method == "GET" || visit_.method == "HEAD";
    if (is_form_path(visit_.path) && visit_.method == "POST") return take_form();
    if (!reads) throw Refused{405, "This page is read-only.", ""};
    if (visit_.path == "/") return board_list();
    if (visit_.path == "/enter") return {.body = enter_page(frame_, "")};
    if (visit_.path == "/own") return own();
    if (first == "board" && parts.size() == 3) return board(parts[2]);
    if (first == "submission" && parts.size() == 3) return submission(parts[2]);
    if (first == "public" && parts.size() == 4) return public_file(parts[2], parts[3]);
    throw not_there();
  }

  void know_visitor() {
    visitor_ = cookie_of(visit_, kVisitorCookie);
    is_new_visitor_ = visitor_.empty();
    if (is_new_visitor_) visitor_ = random_hex(kSecretBytes);
    settings_ = read_settings(folder_);
    const std::string token = cookie_of(visit_, kTokenCookie);
    frame_ = {.class_name = settings_.name, .viewer = {.form = form_value(visitor_, token)}};
    if (token.empty()) return;
    Store store(folder_.database(), Access::read_only);
    if (std::optional<Student> found = student_of_token(store, token)) {
      student_ = *found;
      frame_.viewer.name = found->name;
    }
  }

  Reply take_form() {
    if (!form_is_ours(visit_)) {
      throw Refused{403, "This form was not sent from a page of this class in this browser.",
                    "Reload the page and send the form again; cookies must be enabled."};
    }
    if (visit_.path == "/enter") return enter();
    if (visit_.path == "/leave") return leave();
    return submit();
  }

  Reply enter() {
    std::string token = field("token");
    std::erase_if(token, [](char each) { return each == ' ' || each == '\n' || each == '\r' || each == '\t'; });
    Store store(folder_.database(), Access::read_only);
    if (!student_of_token(store, token)) {
      return {.status = 403, .body = enter_page(frame_, "This token is not valid, or was replaced by a new one.")};
    }
    Reply reply = redirect("/own");
    set_cookie(reply, visit_, kTokenCookie, token, kKeepToken_s);
    return reply;
  }

  Reply leave() {
    Reply reply = redirect("/");
    set_cookie(reply, visit_, kTokenCookie, "", 0);
    return reply;
  }

  Reply submit() {
    if (!frame_.viewer.is_student()) throw Refused{403, "Only students can submit.", "Sign in with your token."};
    SpoolEntry entry{
        .as = frame_.viewer.name, .secret = random_hex(kSecretBytes), .file = visit_.file_name, .source = visit_.file};
    try {
      entry.assignment = settings_.assignment(field("assignment")).name;
      require_file_name(entry.file);
      if (entry.source.empty()) throw bad_input("the file is empty");
    } catch (const Error& error) {
      throw Refused{400, error.what(), "Nothing was submitted."};
    }
    if (static_cast<int64_t>(entry.source.size()) > kMostSourceBytes) {
      throw Refused{413,
                    fmt::format("The file has {} bytes; the limit is {} bytes.", entry.source.size(), kMostSourceBytes),
                    "Nothing was submitted."};
    }
    // Refused submissions count too, so that nobody can fill the database with them.
    const double since_s = unix_seconds() - kHour;
    const auto receipt = uploads_.write(folder_, entry, student_.id, settings_.per_hour, since_s);
    if (!receipt) {
      throw Refused{429, fmt::format("You have reached the limit of {} submissions per hour.", settings_.per_hour),
                    "Test the file on your machine with 'convlab verify' and submit it later."};
    }
    try {
      Store store(folder_.database());
      take_in_one(folder_, settings_, store, *receipt);
    } catch (const std::exception& error) {  // it is safe in the spool, and a worker will process it
      tell_(fmt::format("{} stays in the spool: {}", *receipt, printable(error.what())));
      return {.status = 202, .body = arrived_page(frame_, *receipt)};
    }
    return received(*receipt);
  }

  /// Returns where a submission is now.
  Reply received(const std::string& receipt) {
    std::error_code error;
    const bool waits =
        fs::exists(entry_path(folder_.spool(), receipt), error);  // check first, because the file leaves the spool last
    Store store(folder_.database(), Access::read_only);
    const std::vector<Submission> found = store.submissions({.student = student_.id, .receipt = receipt});
    if (!found.empty()) return redirect(fmt::format("/submission/{}", found.front().number));
    if (const auto why = why_set_aside(folder_, receipt))
      throw Refused{400, "The submission was rejected and not kept: " + *why, ""};
    if (waits) return {.body = arrived_page(frame_, receipt)};
    throw not_there();
  }

  Reply board_list() {
    std::vector<AssignmentView> views;
    const QueueState state = published_queue(folder_);
    for (const AssignmentSettings& each : settings_.assignments) views.push_back(view_of(each, state));
    return {.body = class_page(frame_, views)};
  }

  Reply board(const std::string& name) {
    if (!settings_.aliases && !frame_.viewer.is_student()) return redirect("/enter");
    AssignmentView view = view_of(assignment(name), published_queue(folder_));
    std::error_code error;
    for (const auto& each : fs::directory_iterator(folder_.public_files() / view.name, error)) {
      if (each.is_regular_file(error)) view.files.push_back(each.path().filename().string());
    }
    std::ranges::sort(view.files);
    return {.body = board_page(frame_, view, own_numbers())};
  }

  std::set<int64_t> own_numbers() const {
    if (!frame_.viewer.is_student()) return {};
    return Store(folder_.database(), Access::read_only).numbers_of(student_.id);
  }

  Reply own() {
    if (!frame_.viewer.is_student()) return redirect("/enter");
    OwnView view{.alias = settings_.aliases ? alias_of(folder_, student_.id) : student_.name,
                 .assignments = settings_.assignments};
    Store store(folder_.database(), Access::read_only);
    const QueueState state = published_queue(folder_);
    const std::vector<Turn> all = turns_of(state);
    for (Submission& each : store.submissions({.student = student_.id, .newest = kMostOwn, .with_logs = false})) {
      const int64_t number = each.number;
      view.submissions.push_back({std::move(each), turn_of(state, all, number)});
    }
    return {.body = own_page(frame_, view)};
  }

  Reply submission(const std::string& text) {
    if (!frame_.viewer.is_student()) return redirect("/enter");
    if (is_secret(text)) return received(text);
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || rest != text.data() + text.size()) throw not_there();
    Store store(folder_.database(), Access::read_only);
    const std::vector<Submission> found = store.submissions({.number = number, .student = student_.id});
    if (found.empty()) throw not_there();
    const QueueState state = published_queue(folder_);
    return {.body = submission_page(frame_, found.front(), turn_of(state, turns_of(state), number),
                                    store.has_worker(found.front().device, settings_.lease_s))};
  }

  /// Returns a regular file of public/NAME. Compares directory entries, so that the name cannot be a path.
  Reply public_file(const std::string& name, const std::string& file) {
    const fs::path place = folder_.public_files() / assignment(name).name;
    std::error_code error;
    for (const auto& each : fs::directory_iterator(place, error)) {
      if (each.path().filename().string() != file || !each.is_regular_file(error)) continue;
      return {.body = read_text(each.path(), kMostPublicBytes), .type = "text/plain; charset=utf-8"};
    }
    throw not_there();
  }

  const AssignmentSettings& assignment(const std::string& name) const {
    const auto found = std::ranges::find(settings_.assignments, name, &AssignmentSettings::name);
    if (found == settings_.assignments.end()) throw not_there();
    return *found;
  }

  AssignmentView view_of(const AssignmentSettings& assignment, const QueueState& state) const {
    AssignmentView view{.name = assignment.name, .device = assignment.device, .deadline_s = assignment.deadline_s};
    view.ranking = published_ranking(folder_, assignment.name);
    const auto is_made_up = [](const RankingEntry& each) { return each.best.is_made_up; };
    if (settings_.aliases &&
        !std::ranges::all_of(view.ranking,
                             is_made_up)) {  // the ranking was published when the class still showed names
      Store store(folder_.database());
      publish_rankings(folder_, settings_, store);
      view.ranking = published_ranking(folder_, assignment.name);
    }
    view.waiting = std::ranges::count(state.waiting, assignment.name, &QueuedJob::assignment);
    view.running = std::ranges::count_if(
        state.running, [&](const RunningJob& each) { return each.job.assignment == assignment.name; });
    return view;
  }

  std::string field(const std::string& name) const {
    const auto found = visit_.fields.find(name);
    return found == visit_.fields.end() ? "" : found->second;
  }

  const Folder& folder_;
  const Visit& visit_;
  const std::function<void(const std::string&)>& tell_;
  Uploads& uploads_;
  Settings settings_;
  Frame frame_{.class_name = "The class"};
  Student student_;
  std::string visitor_;
  bool is_new_visitor_ = false;
};

}  // namespace

bool is_form_path(const std::string& path) { return path == "/enter" || path == "/leave" || path == "/submit"; }

std::optional<std::string> Uploads::write(const Folder& folder, const SpoolEntry& entry, int64_t student, int64_t most,
                                          double since_s) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string>& receipts = receipts_[student];
  std::erase_if(receipts, [&](const std::string& each) { return !fs::exists(entry_path(folder.spool(), each)); });
  Store store(folder.database(), Access::read_only);
  store.database().script("BEGIN");  // a snapshot, so that each upload counts once, in the spool or in the database
  int64_t sent = store.arrived_since(student, since_s);
  for (const std::string& each : receipts) sent += store.knows(each) ? 0 : 1;
  if (sent >= most) return std::nullopt;
  receipts.push_back(write_entry(folder.spool(), entry));
  return receipts.back();
}

Site::Site(Folder folder, std::function<void(const std::string& line)> tell)
    : folder_(std::move(folder)), tell_(std::move(tell)) {}

Reply Site::reply(const Visit& visit) const { return Answering(folder_, visit, tell_, uploads_).reply(); }

Reply Site::refusal(int status) const {
  const std::string what = status == 413 ? "The file is larger than the limit of 1 MiB. Nothing was submitted."
                                         : "The request is not valid.";
  return {.status = status, .body = error_page({.class_name = "The class"}, status, what, "")};
}

}  // namespace convlab::classroom
