// Renders what all pages of a class share.

#include "convlab/classroom/web/web_page.h"

#include <fmt/format.h>

#include "convlab/classroom/class_settings.h"
#include "convlab/report/html.h"

namespace convlab::classroom {
namespace {

std::string top(const Frame& frame) {
  std::string html = fmt::format("<nav class=\"top\"><a class=\"class\" href=\"/\">{}</a>", escaped(frame.class_name));
  if (!frame.viewer.is_student()) return html + "<a href=\"/enter\">Sign in with a token</a></nav>\n";
  return html + "<a href=\"/own\">Your submissions</a>" + form_begin(frame.viewer, "/leave") +
         fmt::format("<span>{}</span> <button class=\"quiet\">Sign out</button></form></nav>\n",
                     escaped(frame.viewer.name));
}

std::string_view title_of(int status) {
  switch (status) {
    case 400:
      return "Invalid request";
    case 403:
      return "Not allowed";
    case 404:
      return "Page not found";
    case 405:
      return "Method not allowed";
    case 413:
      return "File too large";
    case 429:
      return "Too many submissions";
    default:
      return "Server error";
  }
}

}  // namespace

std::string page(const Frame& frame, std::string_view title, std::string_view body, Refresh refresh) {
  constexpr int kSoon_s = 3;
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  if (refresh == Refresh::soon) html += fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", kSoon_s);
  html += fmt::format("<title>{} – {}</title>\n", escaped(title), escaped(frame.class_name));
  html += "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n";
  return html + top(frame) + fmt::format("<main>\n<h1>{}</h1>\n{}</main>\n</body>\n</html>\n", escaped(title), body);
}

std::string form_begin(const Viewer& viewer, std::string_view action, bool has_file) {
  return fmt::format("<form method=\"post\" action=\"{}\"{}><input type=\"hidden\" name=\"form\" value=\"{}\">",
                     escaped(action), has_file ? " enctype=\"multipart/form-data\"" : "", escaped(viewer.form));
}

std::string time_html(double seconds) {
  return fmt::format("<time datetime=\"{}\">{}</time>", time_text(seconds), local_minutes_text(seconds));
}

std::string enter_page(const Frame& frame, std::string_view complaint) {
  std::string body;
  if (!complaint.empty()) body += fmt::format("<p class=\"bad\" role=\"alert\">{}</p>\n", escaped(complaint));
  body += form_begin(frame.viewer, "/enter") +
          "<p><label for=\"token\">Your token</label>\n"
          "<input id=\"token\" name=\"token\" type=\"text\" required maxlength=\"64\" autocomplete=\"off\" "
          "autocapitalize=\"none\" spellcheck=\"false\"></p>\n<p><button>Sign in</button></p></form>\n"
          "<p class=\"where\">Your teacher gives you a token, and a new one if you lose it. This browser keeps it in a "
          "cookie until you sign out.</p>\n";
  return page(frame, "Sign in", body);
}

std::string error_page(const Frame& frame, int status, std::string_view what, std::string_view what_to_do) {
  std::string body = fmt::format("<p class=\"reason\">{}</p>\n", escaped(what));
  if (!what_to_do.empty()) body += fmt::format("<p>{}</p>\n", escaped(what_to_do));
  return page(frame, title_of(status), body + fmt::format("<p class=\"missing\">Error {}</p>\n", status));
}

}  // namespace convlab::classroom
