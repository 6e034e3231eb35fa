// Tests that timing also checks results: fake kernels pass verification and then skip work.

#include "convlab/measure/bench.h"
#include "convlab/measure/conv_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "convlab/base/limits.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/contention.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/measure.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

const Kernel& right() { return require_conv_kernel("cpu.direct", DeviceKind::cpu); }

void launch_right(const ConvArgs& args, Stream& stream) { call(right().launch, args, stream); }

void (*launch_now)(const ConvArgs&, Stream&);

void launch_fake(const ConvArgs& args, Stream& stream) { launch_now(args, stream); }

/// Returns a kernel that calls `launch` until the next call of fake().
Kernel fake(void (*launch)(const ConvArgs&, Stream&)) {
  launch_now = launch;
  Kernel kernel = right();
  kernel.info.name = "test.fake";
  kernel.launch = of_conv<launch_fake>;
  return kernel;
}

size_t output_bytes(const ConvArgs& args) {
  return static_cast<size_t>(args.step.problem.output_count()) * sizeof(float);
}

constexpr Effort kEffort{.spread = 1e-9, .seconds = 20, .least = 40, .most = 40};
constexpr Effort kShort{.spread = 1e-9, .seconds = 20, .least = 5, .most = 5};
constexpr Ceilings kAnything{.fp32_flops = 1e18, .memory_bytes = 1e18, .cache_bytes = 1e18, .cache_size = 1};

/// The arrays of a problem on the CPU.
struct Bench {
  std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  Oracle oracle{1};
  ConvStep step;
  ConvArrays arrays;

  explicit Bench(const ConvStep& timed) : step(timed), arrays(*device, step, timed_layer(step, oracle)) {}
};

const ConvStep kStep{parse_problem("n70_c3h12w12_k4r3s3")};  // more images than distinct ones

void expect_caught(
    const Kernel& kernel, const char* reason, void (*before_each)() = [] {}) {
  for (const Checked checked : {Checked::ends, Checked::all}) {
    Bench bench(kStep);
    before_each();
    EXPECT_THAT(
        error_message(ErrorKind::wrong_result, [&] { measure(kernel, bench.arrays, kAnything, kEffort, checked); }),
        testing::AllOf(HasSubstr("test.fake"), HasSubstr(reason)));
    before_each();
    EXPECT_THAT(error_message(ErrorKind::wrong_result,
                              [&] {
                                KernelBench first(kernel, bench.arrays, checked), second(right(), bench.arrays);
                                compare_kernels(kEffort, first, second);
                              }),
                HasSubstr("test.fake"));
  }
}

TEST(Bench, RightKernelsPass) {
  for (const Checked checked : {Checked::ends, Checked::all}) {
    Bench bench(kStep);
    const Record record = measure(right(), bench.arrays, kAnything, kShort, checked);
    EXPECT_EQ(record.hot_ms.samples.size(), 5U);
    EXPECT_EQ(record.cold_ms.samples.size(), 5U);
  }
}

TEST(Bench, AKernelThatDoesNothingAfterSixtyLaunchesIsCaught) {
  static int launches = 0;
  expect_caught(fake([](const ConvArgs& args, Stream& stream) {
                  if (++launches <= 60) launch_right(args, stream);
                }),
                "never written", [] { launches = 0; });
}

TEST(Bench, AKernelThatKeepsItsAnswerByAddressIsCaught) {
  static std::map<const void*, std::vector<char>> answers;
  expect_caught(fake([](const ConvArgs& args, Stream& stream) {
                  std::vector<char>& answer = answers[args.x];
                  if (answer.empty()) {
                    launch_right(args, stream);
                    answer.resize(output_bytes(args));
                    std::memcpy(answer.data(), args.y, answer.size());
                  }
                  std::memcpy(args.y, answer.data(), answer.size());
                }),
                "wrong", [] { answers.clear(); });
}

TEST(Bench, AKernelThatGivesItsFirstAnswerForeverIsCaught) {
  static std::vector<char> answer;
  expect_caught(fake([](const ConvArgs& args, Stream& stream) {
                  if (answer.empty()) {
                    launch_right(args, stream);
                    answer.resize(output_bytes(args));
                    std::memcpy(answer.data(), args.y, answer.size());
                  }
                  std::memcpy(args.y, answer.data(), answer.size());
                }),
                "wrong", [] { answer.clear(); });
}

TEST(Bench, AKernelThatComputesWhereItWasLaunchedFirstIsCaught) {
  static const void* x = nullptr;
  expect_caught(fake([](const ConvArgs& args, Stream& stream) {
                  if (x == nullptr) x = args.x;
                  ConvArgs stale = args;
                  stale.x = x;
                  launch_right(stale, stream);
                }),
                "wrong", [] { x = nullptr; });
}

TEST(Bench, AKernelThatLeavesOutTheLastImageIsCaught) {
  // It computes one or two images completely, so a verification with two images passes.
  expect_caught(fake([](const ConvArgs& args, Stream& stream) {
                  ConvStep step = args.step;
                  if (step.problem.n > 2) --step.problem.n;
                  launch_right({.step = step,
                                .x = args.x,
                                .w = args.w,
                                .y = args.y,
                                .prepared = args.prepared,
                                .workspace = args.workspace},
                               stream);
                }),
                "first: image 69, output channel 0, row 0, column 0");
}

TEST(Bench, AWrongLaunchBetweenTheEndsShowsWhereAllAreChecked) {
  static int launches = 0;
  const Kernel kernel = fake([](const ConvArgs& args, Stream& stream) {
    if (++launches != 21) launch_right(args, stream);
  });
  Bench bench(kStep);
  measure(kernel, bench.arrays, kAnything, kEffort, Checked::ends);
  launches = 0;
  EXPECT_THAT(
      error_message(ErrorKind::wrong_result, [&] { measure(kernel, bench.arrays, kAnything, kEffort, Checked::all); }),
      HasSubstr("never written"));
}

TEST(Bench, FewImagesAreOthersEachTime) {
  const ConvStep one{parse_problem("n1_c3h12w12_k4r3s3")};
  Bench bench(one);
  KernelBench kernel(right(), bench.arrays);
  std::map<const void*, std::vector<float>> seen;  // by address
  std::vector<float> before;
  for (int i = 0; i < 100; ++i) {
    bench.arrays.renew();
    const auto* x = static_cast<const float*>(bench.arrays.arguments().inputs[0]);
    const std::vector<float> images(x, x + one.problem.input_count());
    EXPECT_NE(images, before);
    EXPECT_NE(images, seen[x]) << "at this address";
    before = seen[x] = images;
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST(Bench, KernelsAreTimedInTheLayoutThatTheyKnow) {
  const Kernel& kernel = require_conv_kernel("cpu.nchw16n_direct", DeviceKind::cpu);
  ConvStep step{parse_problem("n70_c3h12w12_k4r3s3")};
  step.input_format = step.output_format = kNchw16n;
  Bench bench(step);
  const Record record = measure(kernel, bench.arrays, kAnything, kShort, Checked::all);
  EXPECT_EQ(record.layout, "nchw16n");
}

/// Keeps every CPU busy with four threads each.
class Busy {
 public:
  Busy() {
    for (int i = 0; i < 4 * usable_threads(); ++i) {
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

TEST(Contention, IsSeen) {
  const Contention contention;
  const Busy busy;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::optional<double> waited = contention.waited_share();
  if (!waited) GTEST_SKIP() << "this system keeps no books of waiting threads";
  EXPECT_GT(*waited, kBusy);
  EXPECT_LT(*waited, 1);
}

TEST(Contention, LeavesAVerdictUndecided) {
  if (const Contention contention; Busy(), !contention.waited_share()) {
    GTEST_SKIP() << "this system keeps no books of waiting threads";
  }
  Bench bench(kStep);
  const Kernel& slow = require_conv_kernel("cpu.reference", DeviceKind::cpu);
  KernelBench first(slow, bench.arrays), second(right(), bench.arrays);
  const Busy busy;
  const Comparison comparison =
      compare_kernels({.spread = 0.01, .seconds = 0.1, .least = 2, .most = 100}, first, second);
  EXPECT_EQ(comparison.decision, Decision::undecided);
  EXPECT_THAT(comparison.doubt, HasSubstr("busy"));
}

TEST(Libraries, TakeNoMoreThreadsThanThereAre) {
  const auto threads = [] {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const auto device = open_device("cpu", {.threads = 4 * usable_threads()});
  const Kernel* library = find_kernel("onednn", DeviceKind::cpu);
  if (library == nullptr) GTEST_SKIP() << "this build has no oneDNN";
  Oracle oracle(1);
  ConvArrays arrays(*device, kStep, timed_layer(kStep, oracle));
  const auto before = threads();
  KernelBench bench(*library, arrays);
  bench.run(Caches::hot, true);
  EXPECT_LE(threads() - before, usable_threads() - 1);
}

}  // namespace
}  // namespace convlab
