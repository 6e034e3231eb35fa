#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Something that the course's report must contain.
struct Deliverable {
  std::string what;
  std::string section;  ///< where it is shown
  bool there = false;
  std::vector<std::string> commands;  ///< that make what is missing
};

/// A self-contained page under construction: sections of HTML, and charts that its script draws.
class Page {
 public:
  using Json = nlohmann::ordered_json;

  void section(std::string_view id, std::string_view title, std::string_view html);

  /// Adds a chart `height` pixels high and returns its HTML element; `spec` is the input of charts.js. In a build
  /// without Chart.js, returns a sentence that says so.
  std::string chart(std::string_view title, int height, const Json& spec);

  void deliverable(Deliverable deliverable) { deliverables_.push_back(std::move(deliverable)); }
  const std::vector<Deliverable>& deliverables() const { return deliverables_; }

  /// Returns the finished document; `front` is the HTML above the first section.
  std::string html(std::string_view title, std::string_view front) const;

 private:
  std::string body_, contents_;
  std::vector<std::string> charts_;  ///< JSON
  std::vector<Deliverable> deliverables_;
};

}  // namespace convlab
