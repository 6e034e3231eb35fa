// Assembles the report's page.

#include "convlab/report/page.h"

#include <fmt/format.h>

#include <map>

#include "convlab/base/json.h"
#include "convlab/report/embedded.h"
#include "convlab/report/html.h"

namespace convlab {
namespace {

/// Returns JSON that is safe in a script element: nothing in it ends the element or begins a comment.
std::string script_safe(const std::string& json) {
  std::string safe;
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

/// Replaces every {{name}} in the text by its value, in one pass, since values may have braces themselves.
std::string filled(std::string_view text, const std::map<std::string_view, std::string_view>& values) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find("{{", at);
    const size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    result += text.substr(at, begin == std::string_view::npos ? begin : begin - at);
    if (end == std::string_view::npos) break;
    result += values.at(text.substr(begin + 2, end - begin - 2));
    at = end + 2;
  }
  return result;
}

}  // namespace

void Page::section(std::string_view id, std::string_view title, std::string_view html) {
  contents_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, escaped(title));
  body_ += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, escaped(title), html);
}

std::string Page::chart(std::string_view title, int height, const Json& spec) {
  if (embedded_file("chart.min.js").empty()) {
    return fmt::format(
        "<p class=\"missing\">Chart “{}” is missing: this convlab was built without Chart.js. Install Debian's "
        "<code>libjs-chart.js</code>, build again, and make the report again.</p>\n",
        escaped(title));
  }
  const size_t number = charts_.size();
  charts_.push_back(script_safe(json_text(spec, -1)));
  return fmt::format(
      "<figure class=\"chart\"><figcaption>{0}</figcaption>"
      "<div style=\"height:{1}px\"><canvas data-chart=\"{2}\" role=\"img\" aria-label=\"{0}\"></canvas></div>"
      "</figure>\n",
      escaped(title), height, number);
}

std::string Page::html(std::string_view title, std::string_view front) const {
  const std::string data = fmt::format("[{}]", fmt::join(charts_, ",")), safe_title = escaped(title);
  return filled(embedded_file("page.html"), {{"title", safe_title},
                                             {"style", embedded_file("style.css")},
                                             {"contents", contents_},
                                             {"front", front},
                                             {"body", body_},
                                             {"data", data},
                                             {"library", embedded_file("chart.min.js")},
                                             {"script", embedded_file("charts.js")}});
}

}  // namespace convlab
