// Tests the arrays on which kernels of operators other than convolutions are timed.

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/select.h"
#include "convlab/kernels/step_text.h"
#include "convlab/kernels/step_work.h"
#include "convlab/measure/measure.h"
#include "convlab/measure/op_arrays.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

constexpr Effort kShort{.spread = 1e-9, .seconds = 20, .least = 5, .most = 5};
constexpr Ceilings kAnything{.fp32_flops = 1e18, .memory_bytes = 1e18, .cache_bytes = 1e18, .cache_size = 1};

struct Bench {
  explicit Bench(const char* problem) : step(parse_step(problem)), arrays(*device, step) {}

  const Kernel& right() const { return choose_kernel(step, device->caps()); }

  std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  Step step;
  OpArrays arrays;
};

TEST(OpBench, RightKernelsPass) {
  for (const char* problem : {"matmul_m8n16k32", "layernorm_r8c96", "softmax_r8c96", "maxpool_c8h9w9_r3s3_st2",
                              "gather_9x7_5", "qlinearmatmul_m5n7k6"}) {
    SCOPED_TRACE(problem);
    Bench bench(problem);
    const Record record = measure(bench.right(), bench.arrays, kAnything, kShort);
    EXPECT_EQ(record.problem, to_text(bench.step));
    EXPECT_EQ(record.hot_ms.samples.size(), 5U);
    EXPECT_GT(record.gbps, 0);
    EXPECT_EQ(record.gflops > 0, operations(bench.step) > 0);
  }
}

TEST(OpBench, InputsDifferFromThoseOfTheLaunchBeforeAndOfTheAddress) {
  Bench bench("matmul_m2n3k4");
  std::map<const void*, std::vector<float>> seen;  // by address
  std::vector<float> before;
  const void* const weights = bench.arrays.arguments().inputs[1];
  for (int i = 0; i < 30; ++i) {
    bench.arrays.renew();
    const auto* x = bench.arrays.arguments().input();
    const std::vector<float> values(x, x + 8);
    EXPECT_NE(values, before);
    EXPECT_NE(values, seen[x]) << "at this address";
    before = seen[x] = values;
    EXPECT_EQ(bench.arrays.arguments().inputs[1], weights) << "a constant stays";
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST(OpBench, AKernelThatDoesNothingLaterIsCaught) {
  static const Kernel* right;
  static int launches;
  for (const char* problem : {"softmax_r8c96", "matmul_m8n16k32"}) {
    Bench bench(problem);
    right = &bench.right();
    launches = 0;
    Kernel kernel = *right;
    kernel.launch = [](const Args& args, Stream& stream) {
      if (++launches <= 3) right->launch(args, stream);
    };
    EXPECT_THAT(error_message(ErrorKind::wrong_result, [&] { measure(kernel, bench.arrays, kAnything, kShort); }),
                HasSubstr("y[0][0] was never written"));
  }
}

TEST(StepWork, CountsOperationsAndBytes) {
  EXPECT_EQ(operations(parse_step("matmul_m5n7k6")), 2.0 * 5 * 7 * 6);
  EXPECT_EQ(operations(parse_step("matmul_b3m5n7k6")), 2.0 * 3 * 5 * 7 * 6);
  EXPECT_EQ(operations(parse_step("gemm_m5n7k6_ta_bias")), 2.0 * 5 * 7 * 6);
  EXPECT_EQ(operations(parse_step("conv_c3h8w8_k4r3s3")), 2.0 * 3 * 9 * 4 * 36);
  EXPECT_EQ(operations(parse_step("qlinearmatmul_m5n7k6")), 2.0 * 5 * 7 * 6);
  EXPECT_EQ(flops(parse_step("qlinearmatmul_m5n7k6")), 0);
  EXPECT_EQ(operations(parse_step("softmax_r4c9")), 0);
  EXPECT_EQ(compulsory_bytes(parse_step("softmax_r4c9")), 2 * 4 * 36);
  EXPECT_EQ(compulsory_bytes(parse_step("add_2x3x4_4")), 4 * (24 + 4 + 24));
  // Weights are bytes; the factor and the bias of each output channel are not.
  const Step bytes = in_formats(parse_step("byteconv_c8h3w3_k16r1s1"), kNhwc4U8, kNhwc4U8);
  EXPECT_EQ(compulsory_bytes(bytes), 8 * 9 + 8 * 16 + 2 * 4 * 16 + 16 * 9);
}

}  // namespace
}  // namespace convlab
