#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace convlab::classroom {

// Pages are pure functions from data to HTML. Every text in them goes through escaped() (convlab/report/html.h).

/// The person who views a page.
struct Viewer {
  std::string form;  ///< form_value() of visit.h
  std::string name;  ///< the student's name; "": not signed in
  bool is_student() const { return !name.empty(); }
};

/// Data shown on every page.
struct Frame {
  std::string class_name;
  Viewer viewer;
};

/// Whether a page reloads itself.
enum class Refresh { never, soon };

/// Returns a complete page; `body` is HTML.
std::string page(const Frame& frame, std::string_view title, std::string_view body, Refresh refresh = Refresh::never);

/// Returns the start of a form that is sent to `action`, with its CSRF token.
std::string form_begin(const Viewer& viewer, std::string_view action, bool has_file = false);

/// Returns the page that asks for a token. `complaint`: what is wrong with the token entered; "": none was entered.
std::string enter_page(const Frame& frame, std::string_view complaint);

/// `what_to_do`: a sentence, or "".
std::string error_page(const Frame& frame, int status, std::string_view what, std::string_view what_to_do);

/// Returns "2026-12-01 23:59 CET", in this machine's time zone, as HTML; `seconds` since 1970.
std::string time_html(double seconds);

/// Returns the stylesheet of all pages: that of `convlab report`, with additions.
std::string style();

}  // namespace convlab::classroom
