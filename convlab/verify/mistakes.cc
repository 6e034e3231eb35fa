// Knows common mistakes in convolutions, and the values that they produce: a missing index or loop, a halo that is not
// loaded, an unguarded tail, swapped rows and columns.

#include "convlab/verify/mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace convlab {
namespace {

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

  int64_t first_channel(const ComparedElement& e) const {
    return e.k / problem.maps_per_group() * problem.channels_per_group();
  }
  int64_t h(const ComparedElement& e, int64_t r) const {
    return e.p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
  }
  int64_t w_of(const ComparedElement& e, int64_t s) const {
    return e.q * problem.stride_w + s * problem.dilation_w - problem.pad_left;
  }

  double pixel(const ComparedElement& e, int64_t c, int64_t r, int64_t s) const {
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
  double output(const ComparedElement& e, int64_t p, int64_t q) const {
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
  std::function<double(const ComparedElement&)> value;
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
  using Value = std::function<double(const ComparedElement&)>;
  void add(std::string text, Value value) { all_.push_back({std::move(text), std::move(value)}); }

  /// Adds a mistake that sums only the terms for which `counts` holds.
  template <class Counts>
  void add_part(const std::string& text, Counts counts) {
    add(text, [this, counts](const ComparedElement& e) {
      return a_.sum([&](int64_t c, int64_t r, int64_t s) {
        return counts(e, c, r, s) ? a_.pixel(e, c, r, s) * a_.w(e.k, c, r, s) : 0.0;
      });
    });
  }
  template <class Pixel>
  void add_with_pixel(const std::string& text, Pixel pixel) {
    add(text, [this, pixel](const ComparedElement& e) {
      return a_.sum([&](int64_t c, int64_t r, int64_t s) { return pixel(e, c, r, s) * a_.w(e.k, c, r, s); });
    });
  }
  template <class Weight>
  void add_with_weight(const std::string& text, Weight weight) {
    add(text, [this, weight](const ComparedElement& e) {
      return a_.sum([&](int64_t c, int64_t r, int64_t s) { return a_.pixel(e, c, r, s) * weight(e, c, r, s); });
    });
  }

  void add_sums() {
    const int64_t channels = problem_.channels_per_group(), rows = problem_.r, columns = problem_.s;
    if (channels > 1) {
      add_part("only channel 0 is summed: the loop over channels is missing",
               [](const ComparedElement&, int64_t c, int64_t, int64_t) { return c == 0; });
      add_part("only the last channel is summed: the sum is reset or overwritten for each channel",
               [=](const ComparedElement&, int64_t c, int64_t, int64_t) { return c == channels - 1; });
      add_part("the last channel is left out: the loop over channels ends one early",
               [=](const ComparedElement&, int64_t c, int64_t, int64_t) { return c != channels - 1; });
      add_part("channel 0 is left out: the loop over channels starts one late",
               [](const ComparedElement&, int64_t c, int64_t, int64_t) { return c != 0; });
    }
    if (rows > 1) {
      add_part("the filter's last row is left out: the loop over its rows ends one early",
               [=](const ComparedElement&, int64_t, int64_t r, int64_t) { return r != rows - 1; });
      add_part("the filter's first row is left out: the loop over its rows starts one late",
               [](const ComparedElement&, int64_t, int64_t r, int64_t) { return r != 0; });
      add_part("only the filter's last row is summed: the sum is reset for each row",
               [=](const ComparedElement&, int64_t, int64_t r, int64_t) { return r == rows - 1; });
      add_part("only the filter's first row is summed: the loop over its rows is missing",
               [](const ComparedElement&, int64_t, int64_t r, int64_t) { return r == 0; });
    }
    if (columns > 1) {
      add_part("the filter's last column is left out: the loop over its columns ends one early",
               [=](const ComparedElement&, int64_t, int64_t, int64_t s) { return s != columns - 1; });
      add_part("the filter's first column is left out: the loop over its columns starts one late",
               [](const ComparedElement&, int64_t, int64_t, int64_t s) { return s != 0; });
      add_part("only the filter's last column is summed: the sum is reset for each column",
               [=](const ComparedElement&, int64_t, int64_t, int64_t s) { return s == columns - 1; });
      add_part("only the filter's first column is summed: the loop over its columns is missing",
               [](const ComparedElement&, int64_t, int64_t, int64_t s) { return s == 0; });
    }
  }

  void add_filters() {
    const int64_t channels = problem_.channels_per_group(), rows = problem_.r, columns = problem_.s;
    if (problem_.k > 1) {
      add_with_weight("every output channel uses filter 0: the output channel is missing from the filter's index",
                      [this](const ComparedElement&, int64_t c, int64_t r, int64_t s) { return a_.w(0, c, r, s); });
    }
    if (channels > 1) {
      add_with_weight("every channel uses channel 0 of the filter: the channel is missing from the filter's index",
                      [this](const ComparedElement& e, int64_t, int64_t r, int64_t s) { return a_.w(e.k, 0, r, s); });
      add_with_weight("the output channel and the channel are swapped in the filter's index",
                      [this, rows, columns](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at(((c * problem_.k + e.k) * rows + r) * columns + s);
                      });
      add_with_weight("the stride between filters is one channel: the number of channels is missing from its index",
                      [this, rows, columns](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at(((e.k + c) * rows + r) * columns + s);
                      });
    }
    add_with_weight("the filter is rotated by 180 degrees: the convolution of networks does not flip it",
                    [this, rows, columns](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                      return a_.w(e.k, c, rows - 1 - r, columns - 1 - s);
                    });
    if (rows > 1 && columns > 1) {
      add_with_weight("r is used instead of s in the filter's index",
                      [this](const ComparedElement& e, int64_t c, int64_t r, int64_t) { return a_.w(e.k, c, r, r); });
      add_with_weight("s is used instead of r in the filter's index",
                      [this](const ComparedElement& e, int64_t c, int64_t, int64_t s) { return a_.w(e.k, c, s, s); });
    }
    if (rows == columns) {
      add_with_weight("the filter's rows and columns are swapped",
                      [this](const ComparedElement& e, int64_t c, int64_t r, int64_t s) { return a_.w(e.k, c, s, r); });
    } else {
      add_with_weight("the filter's row stride is its height, not its width",
                      [this, channels, rows, columns](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at((e.k * channels + c) * rows * columns + r * rows + s);
                      });
      add_with_weight("the filter's channel stride is width times width, not height times width",
                      [this, channels, columns](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                        return a_.w_at(((e.k * channels + c) * columns + r) * columns + s);
                      });
    }
  }

  void add_pixels() {
    if (problem_.n > 1) {
      add_with_pixel("every image reads image 0: the image is missing from x's index",
                     [this](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                       return a_.x(0, a_.first_channel(e) + c, a_.h(e, r), a_.w_of(e, s));
                     });
    }
    if (problem_.c > 1) {
      add_with_pixel("every channel reads channel 0: the channel is missing from x's index",
                     [this](const ComparedElement& e, int64_t, int64_t r, int64_t s) {
                       return a_.x(e.n, 0, a_.h(e, r), a_.w_of(e, s));
                     });
      add_with_pixel(
          "the stride between images is one channel: the number of channels is missing from x's index",
          [this](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
            return a_.x_at(((e.n + a_.first_channel(e) + c) * problem_.h + a_.h(e, r)) * problem_.w + a_.w_of(e, s));
          });
    }
    add_with_pixel("x's rows and columns are swapped",
                   [this](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                     return a_.x(e.n, a_.first_channel(e) + c, a_.w_of(e, s), a_.h(e, r));
                   });
    add_with_pixel("r and s are swapped in x's index",
                   [this](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                     return a_.x(e.n, a_.first_channel(e) + c, a_.h(e, s), a_.w_of(e, r));
                   });
    if (problem_.h != problem_.w) {
      add_with_pixel("x's row stride is its height, not its width", [this](const ComparedElement& e, int64_t c,
                                                                           int64_t r, int64_t s) {
        return a_.x_at(((e.n * problem_.c + a_.first_channel(e) + c) * problem_.h + a_.h(e, r)) * problem_.h +
                       a_.w_of(e, s));
      });
    }
    add_with_pixel("x's row stride is the output's width, not the input's", [this](const ComparedElement& e, int64_t c,
                                                                                   int64_t r, int64_t s) {
      return a_.x_at(((e.n * problem_.c + a_.first_channel(e) + c) * problem_.h + a_.h(e, r)) * problem_.q() +
                     a_.w_of(e, s));
    });
    add_with_pixel("the filter's row is not added to x's row",
                   [this](const ComparedElement& e, int64_t c, int64_t, int64_t s) { return a_.pixel(e, c, 0, s); });
    add_with_pixel("the filter's column is not added to x's column",
                   [this](const ComparedElement& e, int64_t c, int64_t r, int64_t) { return a_.pixel(e, c, r, 0); });
  }

  /// Adds a mistake that computes another step.
  void add_other(const std::string& text, const std::function<void(ConvProblem&)>& change) {
    Arrays other = a_;
    change(other.problem);
    if (other.problem == problem_) return;
    add(text, [other](const ComparedElement& e) {
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
                     [this](const ComparedElement& e, int64_t c, int64_t r, int64_t s) {
                       return a_.x(e.n, c, a_.h(e, r), a_.w_of(e, s));
                     });
    }
  }

  void add_outputs() {
    if (problem_.p() == problem_.q()) {
      add("rows and columns are swapped in y", [this](const ComparedElement& e) { return a_.output(e, e.q, e.p); });
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
            [=, this](const ComparedElement& e) { return a_.output(e, e.p + down, e.q + right); });
      }
    }
    add("everything is added twice", [](const ComparedElement& e) { return 2 * e.expected; });
    add("the sign is wrong", [](const ComparedElement& e) { return -e.expected; });
    add("a ReLU sets negative values to 0", [](const ComparedElement& e) { return std::max(e.expected, 0.0); });
    add("the result is truncated to an integer", [](const ComparedElement& e) { return std::trunc(e.expected); });
  }

  void add_halos() {
    if (!problem_.unit_stride() || !problem_.unit_dilation()) return;
    for (const int64_t tile : {4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64}) {
      const auto inside = [tile](int64_t output, int64_t filter) { return output % tile + filter < tile; };
      add_part(
          fmt::format("pixels outside of the {0} x {0} tile count as 0: the halo is not loaded", tile),
          [=](const ComparedElement& e, int64_t, int64_t r, int64_t s) { return inside(e.p, r) && inside(e.q, s); });
      add_part(fmt::format("pixels below the tile of {} rows count as 0: the lower halo is not loaded", tile),
               [=](const ComparedElement& e, int64_t, int64_t r, int64_t) { return inside(e.p, r); });
      add_part(fmt::format("pixels right of the tile of {} columns count as 0: the right halo is not loaded", tile),
               [=](const ComparedElement& e, int64_t, int64_t, int64_t s) { return inside(e.q, s); });
    }
  }

  const Arrays& a_;
  const ConvProblem& problem_;
  std::vector<Mistake> all_;
};

}  // namespace

std::string mistake_of(const ConvStep& step, const OracleLayer& layer, std::span<const ComparedElement> wrong,
                       std::span<const ComparedElement> right) {
  const Arrays arrays(step, layer);
  const Mistakes mistakes(arrays);
  for (const Mistake& mistake : mistakes.all()) {
    const auto explains = [&](const ComparedElement& e) {
      return std::abs(mistake.value(e) - e.got) <= 4 * e.tolerance + 1e-30;
    };
    const auto is_number = [&](const ComparedElement& e) { return std::abs(mistake.value(e)) > e.tolerance; };
    if (!std::ranges::all_of(wrong, explains)) continue;
    // Zeros have many causes: a mistake explains them only if it also produces the right elements.
    const bool is_distinguished =
        std::ranges::any_of(wrong, is_number) || (!right.empty() && std::ranges::all_of(right, explains));
    if (is_distinguished) return mistake.text;
  }
  return "";
}

}  // namespace convlab
