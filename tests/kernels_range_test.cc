// Values beyond the range of fp16 in kernels that split their operands into halves: each output is as right as its own
// terms allow, whatever else the image holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/device.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/oracle.h"

namespace convlab {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

struct RangeCase {
  const char* name;
  float pixels, filters;        // what uniform numbers in (-1, 1) are multiplied by
  float odd_pixel, odd_filter;  // one of them, as it stands; 0: none
};

void PrintTo(const RangeCase& range, std::ostream* stream) { *stream << range.name; }

class SplitRange : public testing::TestWithParam<std::tuple<RangeCase, const char*>> {};

constexpr RangeCase kCases[] = {
    {"usual", 1, 1, 0, 0},
    {"raw_pixels", 255, 0.1f, 0, 0},
    {"just_in_range", 1, 1, 65000, 0},
    {"large_pixel", 1, 1, 1e6f, 0},
    {"largest_pixel", 1, 0.1f, 3e38f, 0},
    {"infinite_pixel", 1, 1, kInfinity, 0},
    {"nan_pixel", 1, 1, kNan, 0},
    {"infinite_filter", 1, 1, 0, -kInfinity},
    {"nan_filter", 1, 1, 0, kNan},
    {"large_filter", 1, 1, 0, 1e6f},
    {"small_pixels", 1e-5f, 1, 0, 0},
    {"tiny_pixels", 1e-20f, 1, 0, 0},
    {"tiny_filters", 1, 1e-20f, 0, 0},
    {"no_pixels", 0, 1, 0, 0},
    {"no_filters", 1, 0, 0, 0},
};

TEST_P(SplitRange, IsAsRightAsItsTerms) {
  const auto& [range, text] = GetParam();
  const ConvKernel* kernel = find_conv_kernel("cuda.tensor_core_3xfp16", DeviceKind::simt);
  if (kernel == nullptr) GTEST_SKIP() << "a build without simt";
  const std::unique_ptr<Device> device = open_device("simt", {});
  const std::unique_ptr<Stream> stream = device->make_stream();
  const ConvStep step{parse_problem(text)};
  ASSERT_FALSE(kernel->refuses(step, device->caps()));

  Rng rng(5);
  Tensor x(ElementType::f32, step.problem.input_shape()), w(ElementType::f32, step.problem.filter_shape());
  for (float& value : x.values<float>()) value = range.pixels * rng.uniform(-1, 1);
  for (float& value : w.values<float>()) value = range.filters * rng.uniform(-1, 1);
  if (range.odd_pixel != 0) x.values<float>()[step.problem.input_count() / 2] = range.odd_pixel;
  if (range.odd_filter != 0) w.values<float>()[step.problem.filter_count() / 2] = range.odd_filter;
  ThreadPool threads(1);
  const Expected expected = convolve(step, x, w, threads);

  const Buffer device_x = device->allocate(x.bytes()), device_w = device->allocate(w.bytes());
  const Buffer device_y = device->allocate(expected.value.size() * sizeof(float));
  stream->upload(device_x.data(), x.raw(), x.bytes());
  stream->upload(device_w.data(), w.raw(), w.bytes());
  kernel->launch({.step = step,
                  .x = device_x.data(),
                  .w = static_cast<const float*>(device_w.data()),
                  .y = static_cast<float*>(device_y.data())},
                 *stream);
  std::vector<float> got(expected.value.size());
  stream->download(got.data(), device_y.data(), device_y.bytes());
  stream->synchronize();

  // What the class promises; or, where a sum of fp32 that goes channel by channel may be off by more, that.
  const double tolerance =
      std::max(1e-6, static_cast<double>(step.problem.c + step.problem.r * step.problem.s) * 0x1p-24);
  for (size_t i = 0; i < got.size(); ++i) {
    const auto want = static_cast<float>(expected.value[i]);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else if (std::isinf(want)) {
      ASSERT_EQ(got[i], want) << i;
    } else {
      ASSERT_LE(std::abs(got[i] - expected.value[i]), tolerance * expected.scale[i] + 1e-44) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Simt, SplitRange,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values("n3_c5h12w13_k9r3s3_p1", "n2_c1h17w20_k5r5s5_p2", "n2_c300h4w4_k20r3s3")),
    [](const auto& info) { return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace convlab
