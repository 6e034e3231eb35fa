// Formats amounts and times of predictions.

#include "convlab/predict/amount.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "convlab/predict/time_model.h"

namespace convlab {

std::string amount(double value) {
  constexpr std::string_view kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  constexpr double kThousand = 1000, kRoundsUp = 999.5;
  size_t prefix = 0;
  for (; std::abs(value) >= kRoundsUp && prefix + 1 < std::size(kPrefixes); ++prefix) value /= kThousand;
  return fmt::format("{:.3g}{}", value, kPrefixes[prefix]);
}

std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms < 1 ? 4 : ms < 10 ? 3 : ms < 100 ? 2 : 1);
}

std::string arithmetic(const Resource& resource) {
  const std::string_view unit = resource.count == 1 && resource.unit == "launches" ? "launch" : resource.unit;
  return fmt::format("{} {} / {} per s = {}", amount(resource.count), unit, amount(resource.rate),
                     milliseconds(resource.seconds()));
}

}  // namespace convlab
