// Finds the likely cause of a wrong output.

#include "convlab/verify/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/simt.h"
#include "convlab/verify/mistakes.h"

namespace convlab {
namespace {

/// The wrong elements of a whole output: how many, where, and a sample of them.
class Wrongs {
 public:
  explicit Wrongs(const WrongOutput& wrong) : shape_(wrong.step.output_shape()) {
    for (size_t dimension = 0; dimension < 4; ++dimension) {
      by_place_[dimension].assign(static_cast<size_t>(shape_[dimension]), 0);
    }
    const Expected& expected = wrong.layer.expected();
    const int64_t per_image = shape_[1] * shape_[2] * shape_[3];
    size_t index = 0;
    ComparedElement e{};
    for (e.n = 0; e.n < shape_[0]; ++e.n) {
      auto in_layer = static_cast<size_t>(wrong.at[static_cast<size_t>(e.n)] * per_image);
      for (e.k = 0; e.k < shape_[1]; ++e.k) {
        for (e.p = 0; e.p < shape_[2]; ++e.p) {
          for (e.q = 0; e.q < shape_[3]; ++e.q, ++index, ++in_layer) {
            e.expected = expected.value[in_layer];
            e.got = wrong.got[index];
            e.tolerance = wrong.model.tolerance(e.expected, expected.scale[in_layer]);
            if (!(std::abs(e.got - e.expected) <= e.tolerance)) {
              add(e, index, wrong);
            } else if (right_.size() < kMostSamples && std::abs(e.expected) > e.tolerance) {
              right_.push_back(e);
            }
          }
        }
      }
    }
  }

  int64_t count() const { return count_; }
  bool is_all() const { return count_ == element_count(shape_); }
  /// Returns whether all of them are uninitialized markers: memory that nothing wrote.
  bool uninitialized() const { return uninitialized_; }
  bool zero() const { return zero_; }
  /// Returns whether all of them are WrongOutput::before.
  bool as_before() const { return as_before_; }
  /// Returns a random sample; their n is the index in the batch.
  const std::vector<ComparedElement>& samples() const { return samples_; }
  /// Returns some that are right and not zero.
  const std::vector<ComparedElement>& right() const { return right_; }

  /// Returns the element's index in the output.
  size_t index_of(const ComparedElement& e) const {
    return static_cast<size_t>(((e.n * shape_[1] + e.k) * shape_[2] + e.p) * shape_[3] + e.q);
  }

  /// Returns what all wrong elements have in common: "rows 64 to 65"; "" unless almost all elements there are wrong.
  std::string place() const {
    constexpr std::array<std::string_view, 4> kOne{"image", "output channel", "row", "column"};
    for (size_t dimension = 0; dimension < kOne.size(); ++dimension) {
      const std::vector<int64_t>& by = by_place_[dimension];
      const auto is_wrong = [](int64_t count) { return count > 0; };
      const auto first = std::ranges::find_if(by, is_wrong) - by.begin();
      const auto last = by.rend() - std::find_if(by.rbegin(), by.rend(), is_wrong) - 1;
      const int64_t size = shape_[dimension], places = last - first + 1;
      constexpr double kAlmostAll = 0.97;  // some wrong values are within the tolerance by chance
      const int64_t there = element_count(shape_) / size * places;
      if (size == 1 || places == size || static_cast<double>(count_) < kAlmostAll * static_cast<double>(there))
        continue;
      return places == 1 ? fmt::format("{} {}", kOne[dimension], first)
                         : fmt::format("{}s {} to {}", kOne[dimension], first, last);
    }
    return "";
  }

 private:
  static constexpr size_t kMostSamples = 64;

  void add(const ComparedElement& e, size_t index, const WrongOutput& wrong) {
    const float got = wrong.got[index];
    ++by_place_[0][static_cast<size_t>(e.n)];
    ++by_place_[1][static_cast<size_t>(e.k)];
    ++by_place_[2][static_cast<size_t>(e.p)];
    ++by_place_[3][static_cast<size_t>(e.q)];
    uninitialized_ &= std::bit_cast<uint32_t>(got) == kUninitialized;
    zero_ &= got == 0;
    as_before_ &= wrong.before && std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(*wrong.before);
    // Reservoir sampling: each wrong element is kept with equal probability. A fixed step could coincide with rows or
    // tiles.
    const auto at = static_cast<size_t>(random_.integer(0, count_++));
    if (samples_.size() < kMostSamples) {
      samples_.push_back(e);
    } else if (at < kMostSamples) {
      samples_[at] = e;
    }
  }

  Shape shape_;
  std::array<std::vector<int64_t>, 4> by_place_;  ///< wrong elements per image, output channel, row and column
  std::vector<ComparedElement> samples_, right_;
  int64_t count_ = 0;
  Rng random_{1};
  bool uninitialized_ = true, zero_ = true, as_before_ = true;
};

/// Returns the mistake that produces every sampled wrong value; "" if there is none.
std::string mistake_in(const WrongOutput& wrong, const Wrongs& wrongs) {
  if (!wrong.step.epilogue.empty()) return "";
  const auto in_layer = [&](std::vector<ComparedElement> samples) {
    for (ComparedElement& e : samples) e.n = wrong.at[static_cast<size_t>(e.n)];
    return samples;
  };
  return mistake_of(wrong.step, wrong.layer, in_layer(wrongs.samples()), in_layer(wrongs.right()));
}

/// Returns whether none of the wrong elements was written by a thread, as far as simt knows. Device-to-device copies
/// and library products have no thread either, but rarely leave the same value everywhere.
bool has_no_writer(const WrongOutput& wrong, const Wrongs& wrongs) {
  if (!wrongs.zero() && !wrongs.uninitialized() && !wrongs.as_before()) return false;
  return std::ranges::all_of(wrongs.samples(), [&](const ComparedElement& e) {
    const std::optional<Label> writer = simt_writer(&wrong.got[wrongs.index_of(e)]);
    return writer && writer->text == kNoWriter;
  });
}

/// Returns which copy from the device to the host's array is missing; "" if none is, as far as we know.
std::string missing_copy(const WrongOutput& wrong, const Wrongs& wrongs, const std::string& place) {
  const auto came = [&](const ComparedElement& e) { return came_from_simt(&wrong.got[wrongs.index_of(e)]); };
  if (!wrongs.as_before() || std::ranges::any_of(wrongs.samples(), came)) return "";
  if (wrong.device == DeviceKind::cpu) return "the output array is unchanged: does the function store its results?";
  if (wrongs.right().empty()) return "the host output is unchanged: is the cudaMemcpy from the device missing?";
  if (!std::ranges::any_of(wrongs.right(), came)) return "";
  return fmt::format("the host output is unchanged in {}: does the cudaMemcpy from the device copy too few bytes?",
                     place.empty() ? "parts" : place);
}

/// Returns where uninitialized outputs come from, judging by the sample.
Origin origin_of(const WrongOutput& wrong, const Wrongs& wrongs) {
  int64_t written = 0, unwritten = 0, unknown = 0;
  for (const ComparedElement& e : wrongs.samples()) {
    const float& got = wrong.got[wrongs.index_of(e)];
    if (std::bit_cast<uint32_t>(got) != kUninitialized) continue;
    const std::optional<Label> writer = simt_writer(&got);
    ++(!writer ? unknown : writer->text == kNoWriter ? unwritten : written);
  }
  if (unknown > 0 || (written > 0) == (unwritten > 0)) return Origin::unknown;
  return written > 0 ? Origin::written : Origin::unwritten;
}

Cause cause_of(const WrongOutput& wrong, const Wrongs& wrongs, Origin origin) {
  using enum Cause::Kind;
  const std::string place = wrongs.place();
  const std::string what = !place.empty() ? place : wrongs.count() == 1 ? "the element" : "the elements";
  if (std::string copy = missing_copy(wrong, wrongs, place); !copy.empty()) return {not_copied, std::move(copy)};
  if (has_no_writer(wrong, wrongs)) return {unwritten, fmt::format("no thread writes {}", what)};
  if (wrongs.uninitialized() && origin == Origin::written) {
    return {uninitialized, fmt::format("threads write NaN to {}; on simt, uninitialized memory is NaN", what)};
  }
  if (wrongs.uninitialized()) {
    return {uninitialized, fmt::format("nothing writes {}, or only values computed from uninitialized memory", what)};
  }
  const bool is_written = simt_writer(&wrong.got[wrongs.index_of(wrongs.samples().front())]).has_value();
  const std::string nothing =
      is_written ? "all terms are 0" : fmt::format("nothing writes {}, or all terms are 0", what);
  if (wrongs.zero() && !place.empty()) return {likely, nothing};
  const std::string mistake = mistake_in(wrong, wrongs);
  if (!mistake.empty()) return {likely, place.empty() ? mistake : fmt::format("{} ({} only)", mistake, place)};
  if (wrongs.zero()) return {likely, nothing};
  if (place.empty()) return {};
  return {likely, fmt::format("only the outputs of {} are wrong: check the code that computes them", place)};
}

}  // namespace

Cause likely_cause(const WrongOutput& wrong) {
  const Wrongs wrongs(wrong);
  if (wrongs.count() == 0) return {};
  const Origin origin = origin_of(wrong, wrongs);
  Cause cause = cause_of(wrong, wrongs, origin);
  cause.origin = cause.kind == Cause::Kind::unwritten ? Origin::unwritten : origin;
  cause.everywhere = wrongs.right().empty();
  return cause;
}

Finding misplaced_nan(const Verdict& verdict) {
  return {.kind = std::string(kWrongOutput),
          .text = headline(verdict),
          .notes = {"first: " + describe(verdict.first)},
          .help =
              "NaN must reach exactly the outputs that sum it; possibly a value is multiplied by 0 instead of being "
              "skipped"};
}

}  // namespace convlab
