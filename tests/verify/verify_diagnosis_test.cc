// Tests the diagnosis of wrong outputs: each typical mistake is simulated here with its own loops.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "convlab/verify/diagnosis.h"

namespace convlab {
namespace {

using testing::HasSubstr;

/// A layer's arrays, and the index of one output.
struct Arrays {
  const ConvProblem& problem;
  const float *x, *w;
  int64_t n, k, p, q;  ///< the output to compute

  float pixel(int64_t c, int64_t h, int64_t v) const {
    return x[((n * problem.c + c) * problem.h + h) * problem.w + v];
  }
  float weight(int64_t c, int64_t r, int64_t s) const {
    return w[((k * problem.c + c) * problem.r + r) * problem.s + s];
  }
  /// Returns the sum of `term(c, r, s)` over the K dimension.
  template <class Term>
  float sum(Term term) const {
    double total = 0;
    for (int64_t c = 0; c < problem.c; ++c) {
      for (int64_t r = 0; r < problem.r; ++r) {
        for (int64_t s = 0; s < problem.s; ++s) total += term(c, r, s);
      }
    }
    return static_cast<float>(total);
  }
  float right() const {
    return sum([&](int64_t c, int64_t r, int64_t s) { return pixel(c, p + r, q + s) * weight(c, r, s); });
  }
};

struct Mistake {
  std::string name, problem;
  std::function<float(Arrays)> value;
  std::string cause;
};

constexpr const char* kSquare = "n3_c3h9w9_k4r3s3";
constexpr const char* kUneven = "n3_c3h9w11_k4r3s2";
const float kUnwritten = std::bit_cast<float>(kUninitialized);

const std::vector<Mistake> kMistakes{
    {"OneChannel", kUneven,
     [](Arrays a) {
       float sum = 0;
       for (int64_t r = 0; r < a.problem.r; ++r) {
         for (int64_t s = 0; s < a.problem.s; ++s) sum += a.pixel(0, a.p + r, a.q + s) * a.weight(0, r, s);
       }
       return sum;
     },
     "only channel 0 is summed"},
    {"SumBeginsAnew", kUneven,
     [](Arrays a) {
       float sum = 0;
       for (int64_t c = 0; c < a.problem.c; ++c) {
         sum = 0;
         for (int64_t r = 0; r < a.problem.r; ++r) {
           for (int64_t s = 0; s < a.problem.s; ++s) sum += a.pixel(c, a.p + r, a.q + s) * a.weight(c, r, s);
         }
       }
       return sum;
     },
     "only the last channel is summed"},
    {"ChannelMissesInX", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) { return a.pixel(0, a.p + r, a.q + s) * a.weight(c, r, s); });
     },
     "the channel is missing from x's index"},
    {"ChannelMissesInW", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) { return a.pixel(c, a.p + r, a.q + s) * a.weight(0, r, s); });
     },
     "the channel is missing from the filter's index"},
    {"ImageMissesInX", kUneven,
     [](Arrays a) {
       a.n = 0;
       return a.right();
     },
     "the image is missing from x's index"},
    {"MapMissesInW", kUneven,
     [](Arrays a) {
       a.k = 0;
       return a.right();
     },
     "the output channel is missing from the filter's index"},
    {"StrideOfImages", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return a.x[((a.n + c) * a.problem.h + a.p + r) * a.problem.w + a.q + s] * a.weight(c, r, s);
       });
     },
     "the number of channels is missing from x's index"},
    {"StrideOfMaps", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return a.pixel(c, a.p + r, a.q + s) * a.w[((a.k + c) * a.problem.r + r) * a.problem.s + s];
       });
     },
     "the number of channels is missing from its index"},
    {"MapsAndChannelsSwapped", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return a.pixel(c, a.p + r, a.q + s) * a.w[((c * a.problem.k + a.k) * a.problem.r + r) * a.problem.s + s];
       });
     },
     "the output channel and the channel are swapped in the filter's index"},
    {"FilterTurned", kSquare,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return a.pixel(c, a.p + r, a.q + s) * a.weight(c, a.problem.r - 1 - r, a.problem.s - 1 - s);
       });
     },
     "rotated by 180 degrees"},
    {"FilterTransposed", kSquare,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) { return a.pixel(c, a.p + r, a.q + s) * a.weight(c, s, r); });
     },
     "the filter's rows and columns are swapped"},
    {"OutputTransposed", kSquare,
     [](Arrays a) {
       std::swap(a.p, a.q);
       return a.right();
     },
     "rows and columns are swapped in y"},
    {"HeightForWidth", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return a.x[((a.n * a.problem.c + c) * a.problem.h + a.p + r) * a.problem.h + a.q + s] * a.weight(c, r, s);
       });
     },
     "x's row stride is its height, not its width"},
    {"LastRowLeftOut", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return r + 1 < a.problem.r ? a.pixel(c, a.p + r, a.q + s) * a.weight(c, r, s) : 0;
       });
     },
     "the loop over its rows ends one early"},
    {"LastColumnLeftOut", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return s + 1 < a.problem.s ? a.pixel(c, a.p + r, a.q + s) * a.weight(c, r, s) : 0;
       });
     },
     "the loop over its columns ends one early"},
    {"RowNotAdded", kUneven,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) { return a.pixel(c, a.p, a.q + s) * a.weight(c, r, s); });
     },
     "the filter's row is not added"},
    {"NoHalo", kSquare,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         const bool staged = a.p % 4 + r < 4 && a.q % 4 + s < 4;
         return staged ? a.pixel(c, a.p + r, a.q + s) * a.weight(c, r, s) : 0;
       });
     },
     "the 4 x 4 tile count as 0: the halo is not loaded"},
    {"NoLowerHalo", kSquare,
     [](Arrays a) {
       return a.sum([&](int64_t c, int64_t r, int64_t s) {
         return a.p % 4 + r < 4 ? a.pixel(c, a.p + r, a.q + s) * a.weight(c, r, s) : 0;
       });
     },
     "the lower halo is not loaded"},
    {"OneRowBelow", kSquare,
     [](Arrays a) {
       if (a.p + 1 == a.problem.p()) return a.right();
       ++a.p;
       return a.right();
     },
     "belongs to the output a row below (rows 0 to 5 only)"},
    {"Twice", kUneven, [](Arrays a) { return 2 * a.right(); }, "everything is added twice"},
    {"Activated", kUneven, [](Arrays a) { return std::fmax(a.right(), 0.0f); }, "a ReLU sets negative values to 0"},
    {"ResultIsAnInteger", kUneven, [](Arrays a) { return std::trunc(a.right()); },
     "the result is truncated to an integer"},
    {"LastRowUnwrittenWhereOneIsRight", kUneven,
     [](Arrays a) { return a.p < 6 || (a.n == 0 && a.k == 0 && a.q == 0) ? a.right() : 0; }, "nothing writes row 6"},
    {"LastColumnsUnwritten", kUneven, [](Arrays a) { return a.q < 8 ? a.right() : kUnwritten; },
     "nothing writes columns 8 to 9"},
    {"LastRowUnwritten", kUneven, [](Arrays a) { return a.p < 6 ? a.right() : kUnwritten; }, "nothing writes row 6"},
    {"LastImageUnwritten", kUneven, [](Arrays a) { return a.n < 2 ? a.right() : 0; }, "nothing writes image 2"},
    // Other mistakes also turn small sums into zeros.
    {"ZerosWhereSumsAreSmall", "n3_c1h9w9_k4r1s1", [](Arrays) { return 0.0f; },
     "nothing writes the elements, or all terms"},
    {"ZerosHereAndThere", kUneven, [](Arrays a) { return std::abs(a.right()) < 0.5f ? 0 : a.right(); },
     "nothing writes the elements, or all terms"},
    {"LastMapOtherwise", kUneven,
     [](Arrays a) { return a.k < 3 ? a.right() : a.right() + 1 + static_cast<float>(a.q); },
     "only the outputs of output channel 3 are wrong"},
};

/// Returns the diagnosis of an output whose elements are `value`.
std::string cause_of(const std::string& problem_text, const std::function<float(Arrays)>& value) {
  const ConvStep step{.problem = parse_problem(problem_text)};
  const ConvProblem& problem = step.problem;
  Oracle oracle(1);
  const auto layer = oracle.layer(step, Fill::reals, {}, 0);
  // A kernel with a wrong index may read past the ends, so both arrays continue with zeros.
  std::vector<float> x(layer->convolved->x->values<float>().begin(), layer->convolved->x->values<float>().end());
  std::vector<float> w(layer->convolved->w.values<float>().begin(), layer->convolved->w.values<float>().end());
  x.resize(2 * x.size());
  w.resize(2 * w.size());
  std::vector<float> got;
  for (int64_t n = 0; n < problem.n; ++n) {
    for (int64_t k = 0; k < problem.k; ++k) {
      for (int64_t p = 0; p < problem.p(); ++p) {
        for (int64_t q = 0; q < problem.q(); ++q) got.push_back(value({problem, x.data(), w.data(), n, k, p, q}));
      }
    }
  }
  std::vector<int64_t> at(static_cast<size_t>(problem.n));
  std::iota(at.begin(), at.end(), 0);
  return likely_cause({step, *layer, at, got, rounding_model(step, {.name = "", .math = Math::fp32})}).text;
}

class Diagnosis : public testing::TestWithParam<Mistake> {};

TEST_P(Diagnosis, NamesTheMistake) {
  EXPECT_THAT(cause_of(GetParam().problem, GetParam().value), HasSubstr(GetParam().cause));
}

INSTANTIATE_TEST_SUITE_P(OfConvolutions, Diagnosis, testing::ValuesIn(kMistakes),
                         [](const auto& tested) { return tested.param.name; });

TEST(Diagnosis, OfARightOutputIsNone) {
  EXPECT_EQ(cause_of(kUneven, [](Arrays a) { return a.right(); }), "");
}

TEST(Diagnosis, OfNoiseIsNone) {
  EXPECT_EQ(
      cause_of(kUneven, [](Arrays a) { return a.right() + std::sin(static_cast<float>(a.q * 7 + a.p * 3 + a.k)); }),
      "");
}

}  // namespace
}  // namespace convlab
