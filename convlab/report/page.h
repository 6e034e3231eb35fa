#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Something that the course's report had to contain.
struct Deliverable {
  std::string what;
  std::string section;  ///< where it is shown
  bool there = false;
  std::vector<std::string> commands;  ///< that make what is missing
};

/// A self-contained page in the making: sections of HTML, and the charts that its script draws.
class Page {
 public:
  using Json = nlohmann::ordered_json;

  void section(std::string_view id, std::string_view title, std::string_view html);

  /// The place of a chart `height` pixels high; `spec` is what charts.js reads. In a build without Chart.js, a sentence
  /// that says what is missing.
  std::string chart(std::string_view title, int height, const Json& spec);

  void deliverable(Deliverable deliverable) { deliverables_.push_back(std::move(deliverable)); }
  const std::vector<Deliverable>& deliverables() const { return deliverables_; }

  /// The finished document; `front` is the HTML above the first section.
  std::string html(std::string_view title, std::string_view front) const;

 private:
  std::string body_, contents_;
  std::vector<std::string> charts_;  ///< JSON
  std::vector<Deliverable> deliverables_;
};

}  // namespace convlab
