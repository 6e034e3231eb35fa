// Tests values beyond fp16's range in kernels that split their operands into fp16 parts: each output must be as
// accurate as its own products allow, whatever else the image contains.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/rng.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/oracle.h"

namespace convlab {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

struct RangeCase {
  const char* name;
  float pixels, filters;        // factors of uniform random numbers in (-1, 1)
  float odd_pixel, odd_filter;  // one pixel, one weight, unscaled; 0: none
};

void PrintTo(const RangeCase& range, std::ostream* stream) { *stream << range.name; }

/// A kernel, its device, a problem that it supports, and the error that its class allows relative to the magnitude of
/// an output's products.
struct Split {
  const char *kernel, *device, *problem;
  double tolerance = 1e-6;
};

void PrintTo(const Split& split, std::ostream* stream) { *stream << split.kernel << " on " << split.problem; }

class SplitRange : public testing::TestWithParam<std::tuple<RangeCase, Split>> {};

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
    {"wide_range", 1, 1, 1e30f, 0},
    {"small_pixels", 1e-5f, 1, 0, 0},
    {"tiny_pixels", 1e-20f, 1, 0, 0},
    {"subnormal_pixels", 1e-40f, 1, 0, 0},
    {"tiny_filters", 1, 1e-20f, 0, 0},
    {"no_pixels", 0, 1, 0, 0},
    {"no_filters", 1, 0, 0, 0},
};

TEST_P(SplitRange, IsAsRightAsItsTerms) {
  const auto& [range, split] = GetParam();
  std::unique_ptr<Device> device;
  try {
    device = open_device(split.device, {});
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Kernel* kernel = find_kernel(split.kernel, device->caps().kind);
  if (kernel == nullptr) GTEST_SKIP() << "a build without " << split.kernel;
  const std::unique_ptr<Stream> stream = device->make_stream();
  const ConvStep step{parse_problem(split.problem)};
  if (device->caps().kind == DeviceKind::cuda) {
    if (const Refusal refusal = kernel->refuses(step, device->caps())) GTEST_SKIP() << *refusal;
  }
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
  const Buffer prepared = device->allocate(prepared_bytes(*kernel, step, device->caps()));
  const Buffer workspace = device->allocate(workspace_bytes(*kernel, step, device->caps()));
  const ConvArgs args{.step = step,
                      .x = device_x.data(),
                      .w = static_cast<const float*>(device_w.data()),
                      .y = static_cast<float*>(device_y.data()),
                      .prepared = prepared.data(),
                      .workspace = workspace.data()};
  call(kernel->prepare, args, *stream);
  call(kernel->launch, args, *stream);
  std::vector<float> got(expected.value.size());
  stream->download(got.data(), device_y.data(), device_y.bytes());
  stream->synchronize();

  // The tolerance of the class or, if larger, the error of an fp32 sum channel by channel.
  const double tolerance =
      std::max(split.tolerance, static_cast<double>(step.problem.c + step.problem.r * step.problem.s) * 0x1p-24);
  const double subnormal = static_cast<double>(step.problem.terms() + 1) * 0x1p-149;  // each product, and the sum
  for (size_t i = 0; i < got.size(); ++i) {
    const auto want = static_cast<float>(expected.value[i]);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else if (std::isinf(want)) {
      ASSERT_EQ(got[i], want) << i;
    } else {
      ASSERT_LE(std::abs(got[i] - expected.value[i]), tolerance * expected.scale[i] + subnormal) << i;
    }
  }
}

std::string name_of(const testing::TestParamInfo<SplitRange::ParamType>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param).problem;
}

INSTANTIATE_TEST_SUITE_P(
    Simt, SplitRange,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(Split{"cuda.tensor_core_3xfp16", "simt", "n3_c5h12w13_k9r3s3_p1"},
                                     Split{"cuda.tensor_core_3xfp16", "simt", "n2_c1h17w20_k5r5s5_p2"},
                                     Split{"cuda.tensor_core_3xfp16", "simt", "n2_c300h4w4_k20r3s3"},
                                     Split{"cuda.nhwc_igemm_3xfp16", "simt", "n70_c3h3w3_k9r3s3"},
                                     Split{"cuda.nhwc_igemm_3xfp16", "simt", "n2_c300h2w2_k20r2s2"})),
    name_of);

constexpr double kRounded = 0x1p-10 + 0x1p-20;  // operands rounded to fp16

INSTANTIATE_TEST_SUITE_P(
    FirstLayerSplit, SplitRange,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(Split{"cuda.first_layer_3xfp16", "simt", "n2_c1h17w20_k5r5s5_p2"},
                                     Split{"cuda.first_layer_3xfp16", "simt", "n3_c1h24w24_k9r7s7"})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    FirstLayerRounded, SplitRange,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(Split{"cuda.first_layer_1xfp16", "simt", "n2_c1h17w20_k5r5s5_p2", kRounded},
                                     Split{"cuda.first_layer_1xfp16", "simt", "n3_c1h24w24_k9r7s7", kRounded})),
    name_of);

// Images side by side, an odd one left over, and rows split into tiles.
INSTANTIATE_TEST_SUITE_P(
    Hopper, SplitRange,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(Split{"cuda.nchw_hopper_3xfp16", "cuda", "n5_c12h33w33_k24r5s5"},
                                     Split{"cuda.nchw_hopper_3xfp16", "cuda", "n2_c12h33w33_k24r7s7"},
                                     Split{"cuda.nchw_hopper_3xfp16", "cuda", "n3_c5h12w13_k9r3s3_p1"},
                                     Split{"cuda.nchw_hopper_3xfp16", "cuda", "n2_c8h9w150_k30r4s5_p2"})),
    name_of);

}  // namespace
}  // namespace convlab
