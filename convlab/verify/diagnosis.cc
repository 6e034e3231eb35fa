// Finds the likely cause of a wrong output.

#include "convlab/verify/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/simt.h"

namespace convlab {
namespace {

struct Element {
  int64_t n, k, p, q;
  double expected, got, tolerance;
};

/// The step's arrays, as a wrong kernel may read them.
class Arrays {
 public:
  Arrays(const ConvStep& step, const OracleLayer& layer)
      : problem(step.problem), layer_(layer), pixels_(step.input_format == kRawPixels) {}

  /// Returns 0 outside the image.
  double x(int64_t n, int64_t c, int64_t h, int64_t w) const {
    if (h < 0 || h >= problem.h || w < 0 || w >= problem.w) return 0;
    return x_at(((n * problem.c + c) * problem.h + h) * problem.w + w);
  }

  /// Returns the value at a memory index; outside the array NaN, which explains nothing.
  double x_at(int64_t index) const {
    const Tensor& x = *layer_.convolved->x;
    if (index < 0 || index >= x.count()) return NAN;
    return pixels_ ? static_cast<double>(x.values<uint8_t>()[static_cast<size_t>(index)])
                   : static_cast<double>(x.values<float>()[static_cast<size_t>(index)]);
  }

  double w(int64_t k, int64_t c, int64_t r, int64_t s) const {
    return w_at(((k * problem.channels_per_group() + c) * problem.r + r) * problem.s + s);
  }
  double w_at(int64_t index) const {
    const Tensor& w = layer_.convolved->w;
    if (index < 0 || index >= w.count()) return NAN;
    return static_cast<double>(w.values<float>()[static_cast<size_t>(index)]);
  }

  int64_t first_channel(const Element& e) const {
    return e.k / problem.maps_per_group() * problem.channels_per_group();
  }
  int64_t h(const Element& e, int64_t r) const {
    return e.p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
  }
  int64_t w_of(const Element& e, int64_t s) const {
    return e.q * problem.stride_w + s * problem.dilation_w - problem.pad_left;
  }

  double pixel(const Element& e, int64_t c, int64_t r, int64_t s) const {
    return x(e.n, first_channel(e) + c, h(e, r), w_of(e, s));
  }

  /// Returns the sum of `term` over c, r, s.
  template <class Term>
  double sum(const Term& term) const {
    double total = 0;
    for (int64_t c = 0; c < problem.channels_per_group(); ++c) {
      for (int64_t r = 0; r < problem.r; ++r) {
        for (int64_t s = 0; s < problem.s; ++s) total += term(c, r, s);
      }
    }
    return total;
  }

  /// Returns the expected value of another output; NaN if there is none.
  double output(const Element& e, int64_t p, int64_t q) const {
    if (p < 0 || p >= problem.p() || q < 0 || q >= problem.q()) return NAN;
    const int64_t index = ((e.n * problem.k + e.k) * problem.p() + p) * problem.q() + q;
    return layer_.expected().value[static_cast<size_t>(index)];
  }

  ConvProblem problem;

 private:
  const OracleLayer& layer_;
  bool pixels_;
};

/// A mistake, and the value that it produces for an element.
struct Mistake {
  std::string text;
  std::function<double(const Element&)> value;
};

class Mistakes {
 public:
  explicit Mistakes(const Arrays& arrays) : a_(arrays), problem_(arrays.problem) {
    add_sums();
    add_filters();
    add_pixels();
    add_geometry();
    add_outputs();
    add_halos();
  }

  const std::vector<Mistake>& all() const { return all_; }

 private:
  using Value = std::function<double(const Element&)>;
  void add(std::string text, Value value) { all_.push_back({std::move(text), std::move(value)}); }

  /// Adds a mistake that sums only the terms for which `counts` holds.
  template <class Counts>
  void add_part(const std::string& text, Counts counts) {
    add(text, [this, counts](const Element& e) {
      return a_.sum([&](int64_t c, int64_t r, int64_t s) {
        return counts(e, c, r, s) ? a_.pixel(e, c, r, s) * a_.w(e.k, c, r, s) : 0.0;
      });
    });
  }
  template <class Pixel>
  void add_with_pixel(const std::string& text, Pixel pixel) {
    add(text, [this, pixel](const Element& e) {
      return a_.sum([&](int64_t c, int64_t r, int64_t s) { return pixel(e, c, r, s) * a_.w(e.k, c, r, s); });
    });
  }
  template <class Weight>
  void add_with_weight(const std::string& text, Weight weight) {
    add(text, [this, weight](const Element& e) {
      return a_.sum([&](int64_t c, int64_t r, int64_t s) { return a_.pixel(e, c, r, s) * weight(e, c, r, s); });
    });
  }

  void add_sums() {
    const int64_t channels = problem_.channels_per_group(), rows = problem_.r, columns = problem_.s;
    if (channels > 1) {
      add_part("only channel 0 is summed: the loop over channels is missing",
               [](const Element&, int64_t c, int64_t, int64_t) { return c == 0; });
      add_part("only the last channel is summed: the sum is reset or overwritten for each channel",
               [=](const Element&, int64_t c, int64_t, int64_t) { return c == channels - 1; });
      add_part("the last channel is left out: the loop over channels ends one early",
               [=](const Element&, int64_t c, int64_t, int64_t) { return c != channels - 1; });
      add_part("channel 0 is left out: the loop over channels starts one late",
               [](const Element&, int64_t c, int64_t, int64_t) { return c != 0; });
    }
    if (rows > 1) {
      add_part("the filter's last row is left out: the loop over its rows ends one early",
               [=](const Element&, int64_t, int64_t r, int64_t) { return r != rows - 1; });
      add_part("the filter's first row is left out: the loop over its rows starts one late",
               [](const Element&, int64_t, int64_t r, int64_t) { return r != 0; });
      add_part("only the filter's last row is summed: the sum is reset for each row",
               [=](const Element&, int64_t, int64_t r, int64_t) { return r == rows - 1; });
      add_part("only the filter's first row is summed: the loop over its rows is missing",
               [](const Element&, int64_t, int64_t r, int64_t) { return r == 0; });
    }
    if (columns > 1) {
      add_part("the filter's last column is left out: the loop over its columns ends one early",
               [=](const Element&, int64_t, int64_t, int64_t s) { return s != columns - 1; });
      add_part("the filter's first column is left out: the loop over its columns starts one late",
               [](const Element&, int64_t, int64_t, int64_t s) { return s != 0; });
      add_part("only the filter's last column is summed: the sum is reset for each column",
               [=](const Element&, int64_t, int64_t, int64_t s) { return s == columns - 1; });
      add_part("only the filter's first column is summed: the loop over its columns is missing",
               [](const Element&, int64_t, int64_t, int64_t s) { return s == 0; });
    }
  }

  void add_filters() {
    const int64_t channels = problem_.channels_per_group(), rows = problem_.r, columns = problem_.s;
    if (problem_.k > 1) {
      add_with_weight("every output channel uses filter 0: the output channel is missing from the filter's index",
                      [this](const Element&, int64_t c, int64_t r, int64_t s) { return a_.w(0, c, r, s); });
    }
    if (channels > 1) {
      add_with_weight("every channel uses channel 0 of the filter: the channel is missing from the filter's index",
                      [this](const Element& e, int64_t, int64_t r, int64_t s) { return a_.w(e.k, 0, r, s); });
      add_with_weight("the output channel and the channel are swapped in the filter's index",
                      [this, rows, columns](const Element& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at(((c * problem_.k + e.k) * rows + r) * columns + s);
                      });
      add_with_weight("the stride between filters is one channel: the number of channels is missing from its index",
                      [this, rows, columns](const Element& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at(((e.k + c) * rows + r) * columns + s);
                      });
    }
    add_with_weight("the filter is rotated by 180 degrees: the convolution of networks does not flip it",
                    [this, rows, columns](const Element& e, int64_t c, int64_t r, int64_t s) {
                      return a_.w(e.k, c, rows - 1 - r, columns - 1 - s);
                    });
    if (rows > 1 && columns > 1) {
      add_with_weight("r is used instead of s in the filter's index",
                      [this](const Element& e, int64_t c, int64_t r, int64_t) { return a_.w(e.k, c, r, r); });
      add_with_weight("s is used instead of r in the filter's index",
                      [this](const Element& e, int64_t c, int64_t, int64_t s) { return a_.w(e.k, c, s, s); });
    }
    if (rows == columns) {
      add_with_weight("the filter's rows and columns are swapped",
                      [this](const Element& e, int64_t c, int64_t r, int64_t s) { return a_.w(e.k, c, s, r); });
    } else {
      add_with_weight("the filter's row stride is its height, not its width",
                      [this, channels, rows, columns](const Element& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at((e.k * channels + c) * rows * columns + r * rows + s);
                      });
      add_with_weight("the filter's channel stride is width times width, not height times width",
                      [this, channels, columns](const Element& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at(((e.k * channels + c) * columns + r) * columns + s);
                      });
    }
  }

  void add_pixels() {
    if (problem_.n > 1) {
      add_with_pixel("every image reads image 0: the image is missing from x's index",
                     [this](const Element& e, int64_t c, int64_t r, int64_t s) {
                       return a_.x(0, a_.first_channel(e) + c, a_.h(e, r), a_.w_of(e, s));
                     });
    }
    if (problem_.c > 1) {
      add_with_pixel(
          "every channel reads channel 0: the channel is missing from x's index",
          [this](const Element& e, int64_t, int64_t r, int64_t s) { return a_.x(e.n, 0, a_.h(e, r), a_.w_of(e, s)); });
      add_with_pixel(
          "the stride between images is one channel: the number of channels is missing from x's index",
          [this](const Element& e, int64_t c, int64_t r, int64_t s) {
            return a_.x_at(((e.n + a_.first_channel(e) + c) * problem_.h + a_.h(e, r)) * problem_.w + a_.w_of(e, s));
          });
    }
    add_with_pixel("x's rows and columns are swapped", [this](const Element& e, int64_t c, int64_t r, int64_t s) {
      return a_.x(e.n, a_.first_channel(e) + c, a_.w_of(e, s), a_.h(e, r));
    });
    add_with_pixel("r and s are swapped in x's index", [this](const Element& e, int64_t c, int64_t r, int64_t s) {
      return a_.x(e.n, a_.first_channel(e) + c, a_.h(e, s), a_.w_of(e, r));
    });
    if (problem_.h != problem_.w) {
      add_with_pixel(
          "x's row stride is its height, not its width", [this](const Element& e, int64_t c, int64_t r, int64_t s) {
            return a_.x_at(((e.n * problem_.c + a_.first_channel(e) + c) * problem_.h + a_.h(e, r)) * problem_.h +
                           a_.w_of(e, s));
          });
    }
    add_with_pixel("x's row stride is the output's width, not the input's", [this](const Element& e, int64_t c,
                                                                                   int64_t r, int64_t s) {
      return a_.x_at(((e.n * problem_.c + a_.first_channel(e) + c) * problem_.h + a_.h(e, r)) * problem_.q() +
                     a_.w_of(e, s));
    });
    add_with_pixel("the filter's row is not added to x's row",
                   [this](const Element& e, int64_t c, int64_t, int64_t s) { return a_.pixel(e, c, 0, s); });
    add_with_pixel("the filter's column is not added to x's column",
                   [this](const Element& e, int64_t c, int64_t r, int64_t) { return a_.pixel(e, c, r, 0); });
  }

  /// Adds a mistake that computes another step.
  void add_other(const std::string& text, const std::function<void(ConvProblem&)>& change) {
    Arrays other = a_;
    change(other.problem);
    if (other.problem == problem_) return;
    add(text, [other](const Element& e) {
      return other.sum(
          [&](int64_t c, int64_t r, int64_t s) { return other.pixel(e, c, r, s) * other.w(e.k, c, r, s); });
    });
  }
  void add_geometry() {
    add_other("the stride is ignored", [](ConvProblem& problem) { problem.stride_h = problem.stride_w = 1; });
    add_other("rows use the stride of columns", [](ConvProblem& problem) { problem.stride_h = problem.stride_w; });
    add_other("the padding is ignored", [](ConvProblem& problem) { problem.pad_top = problem.pad_left = 0; });
    add_other("the dilation is ignored", [](ConvProblem& problem) { problem.dilation_h = problem.dilation_w = 1; });
    if (problem_.groups > 1) {
      add_with_pixel("every group reads the channels of group 0",
                     [this](const Element& e, int64_t c, int64_t r, int64_t s) {
                       return a_.x(e.n, c, a_.h(e, r), a_.w_of(e, s));
                     });
    }
  }

  void add_outputs() {
    if (problem_.p() == problem_.q()) {
      add("rows and columns are swapped in y", [this](const Element& e) { return a_.output(e, e.q, e.p); });
    }
    constexpr std::array<std::string_view, 3> kRows{"a row above", "", "a row below"},
        kColumns{"a column to the left", "", "a column to the right"};
    for (const int64_t down : {-1, 0, 1}) {
      for (const int64_t right : {-1, 0, 1}) {
        if (down == 0 && right == 0) continue;
        const std::string_view row = kRows[static_cast<size_t>(down + 1)],
                               column = kColumns[static_cast<size_t>(right + 1)];
        add(fmt::format("each value belongs to the output {}{}{}", row, row.empty() || column.empty() ? "" : " and ",
                        column),
            [=, this](const Element& e) { return a_.output(e, e.p + down, e.q + right); });
      }
    }
    add("everything is added twice", [](const Element& e) { return 2 * e.expected; });
    add("the sign is wrong", [](const Element& e) { return -e.expected; });
    add("a ReLU sets negative values to 0", [](const Element& e) { return std::max(e.expected, 0.0); });
    add("the result is truncated to an integer", [](const Element& e) { return std::trunc(e.expected); });
  }

  void add_halos() {
    if (!problem_.unit_stride() || !problem_.unit_dilation()) return;
    for (const int64_t tile : {4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64}) {
      const auto inside = [tile](int64_t output, int64_t filter) { return output % tile + filter < tile; };
      add_part(fmt::format("pixels outside of the {0} x {0} tile count as 0: the halo is not loaded", tile),
               [=](const Element& e, int64_t, int64_t r, int64_t s) { return inside(e.p, r) && inside(e.q, s); });
      add_part(fmt::format("pixels below the tile of {} rows count as 0: the lower halo is not loaded", tile),
               [=](const Element& e, int64_t, int64_t r, int64_t) { return inside(e.p, r); });
      add_part(fmt::format("pixels right of the tile of {} columns count as 0: the right halo is not loaded", tile),
               [=](const Element& e, int64_t, int64_t, int64_t s) { return inside(e.q, s); });
    }
  }

  const Arrays& a_;
  const ConvProblem& problem_;
  std::vector<Mistake> all_;
};

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
    Element e{};
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
  const std::vector<Element>& samples() const { return samples_; }
  /// Returns some that are right and not zero.
  const std::vector<Element>& right() const { return right_; }

  /// Returns the element's index in the output.
  size_t index_of(const Element& e) const {
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

  void add(const Element& e, size_t index, const WrongOutput& wrong) {
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
  std::vector<Element> samples_, right_;
  int64_t count_ = 0;
  Rng random_{1};
  bool uninitialized_ = true, zero_ = true, as_before_ = true;
};

/// Returns the mistake that produces every sampled wrong value; "" if there is none.
std::string mistake_in(const WrongOutput& wrong, const Wrongs& wrongs) {
  if (!wrong.step.epilogue.empty()) return "";
  const auto in_layer = [&](std::vector<Element> samples) {
    for (Element& e : samples) e.n = wrong.at[static_cast<size_t>(e.n)];
    return samples;
  };
  const std::vector<Element> samples = in_layer(wrongs.samples()), right = in_layer(wrongs.right());
  const Arrays arrays(wrong.step, wrong.layer);
  const Mistakes mistakes(arrays);
  for (const Mistake& mistake : mistakes.all()) {
    const auto explains = [&](const Element& e) {
      return std::abs(mistake.value(e) - e.got) <= 4 * e.tolerance + 1e-30;
    };
    const auto is_number = [&](const Element& e) { return std::abs(mistake.value(e)) > e.tolerance; };
    if (!std::ranges::all_of(samples, explains)) continue;
    // Zeros have many causes: a mistake explains them only if it also produces the right elements.
    const bool is_distinguished =
        std::ranges::any_of(samples, is_number) || (!right.empty() && std::ranges::all_of(right, explains));
    if (is_distinguished) return mistake.text;
  }
  return "";
}

/// Returns whether none of the wrong elements was written by a thread, as far as simt knows. Device-to-device copies
/// and library products have no thread either, but rarely leave the same value everywhere.
bool has_no_writer(const WrongOutput& wrong, const Wrongs& wrongs) {
  if (!wrongs.zero() && !wrongs.uninitialized() && !wrongs.as_before()) return false;
  return std::ranges::all_of(wrongs.samples(), [&](const Element& e) {
    const std::optional<Label> writer = simt_writer(&wrong.got[wrongs.index_of(e)]);
    return writer && writer->text == kNoWriter;
  });
}

/// Returns which copy from the device to the host's array is missing; "" if none is, as far as we know.
std::string missing_copy(const WrongOutput& wrong, const Wrongs& wrongs, const std::string& place) {
  const auto came = [&](const Element& e) { return came_from_simt(&wrong.got[wrongs.index_of(e)]); };
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
  for (const Element& e : wrongs.samples()) {
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
