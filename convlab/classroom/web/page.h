#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace convlab::classroom {

// Pages are pure functions from what they show to HTML. Every text in them goes through escaped()
// (convlab/report/html.h).

/// Who looks at a page.
struct Viewer {
  std::string form;  ///< form_value() of visit.h
  std::string name;  ///< the student's; "": nobody who has given a token
  bool is_student() const { return !name.empty(); }
};

/// What surrounds each page.
struct Frame {
  std::string class_name;
  Viewer viewer;
};

/// How often a page that changes by itself is loaded anew.
enum class Refresh { never, soon };

/// A whole page; `body` is HTML.
std::string page(const Frame& frame, std::string_view title, std::string_view body, Refresh refresh = Refresh::never);

/// The beginning of a form that is sent to `action`, with what protects it.
std::string form_begin(const Viewer& viewer, std::string_view action, bool has_file = false);

/// Asks for a token. `complaint`: what is wrong with the one that was given; "": none was.
std::string enter_page(const Frame& frame, std::string_view complaint);

/// `what_to_do`: a sentence; it may be "".
std::string error_page(const Frame& frame, int status, std::string_view what, std::string_view what_to_do);

/// "2026-12-01 23:59 CET", in this machine's time zone, as HTML; `seconds` since 1970.
std::string time_html(double seconds);

/// All pages' stylesheet: that of `convlab report`, and what a class needs besides.
std::string style();

}  // namespace convlab::classroom
