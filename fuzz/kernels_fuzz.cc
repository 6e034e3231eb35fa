// Fuzzes the CPU's convolution kernels: the input selects a kernel, a small problem, an epilogue, an image type and
// layouts. Every step that the kernel supports is checked element by element against the oracle by convlab/verify, with
// its own input data.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/verify.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_choices.h"

namespace convlab {
namespace {

/// Returns the CPU kernels that can run here, sorted by name, so that an input means the same in every build.
std::vector<const Kernel*> kernels_here() {
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device != DeviceKind::cpu || (kernel.absent != nullptr && kernel.absent())) continue;
    kernels.push_back(&kernel);
  }
  std::ranges::sort(kernels, {}, [](const Kernel* kernel) { return kernel->info.name; });
  return kernels;
}

/// Returns a problem with sizes around those of tiles, vectors and lanes, but at most some thousands of outputs.
ConvProblem problem_from(Choices& choices) {
  ConvProblem problem;
  problem.groups = choices.number(0, 7) == 0 ? choices.number(2, 3) : 1;
  problem.n = choices.flag() ? choices.number(1, 4) : choices.number(11, 34);
  problem.c = problem.groups * choices.number(1, choices.flag() ? 4 : 35);
  problem.k = problem.groups * choices.number(1, choices.flag() ? 9 : 35);
  problem.r = choices.number(1, 5);
  problem.s = choices.number(1, 5);
  problem.h = choices.number(1, 14);
  problem.w = choices.number(1, choices.flag() ? 14 : 37);
  if (choices.flag()) {
    problem.pad_top = choices.number(0, 3);
    problem.pad_left = choices.number(0, 3);
    problem.pad_bottom = choices.number(0, 3);
    problem.pad_right = choices.number(0, 3);
  }
  if (choices.flag()) {
    problem.stride_h = choices.number(1, 4);
    problem.stride_w = choices.number(1, 4);
  }
  if (choices.number(0, 3) == 0) {
    problem.dilation_h = choices.number(1, 3);
    problem.dilation_w = choices.number(1, 3);
  }
  validate(problem);
  constexpr double kMostFlops = 1e7;  // sanitizers slow some kernels down a thousandfold
  if (problem.flops() > kMostFlops) throw bad_input("this would take a minute");
  return problem;
}

std::optional<Pool> pool_from(Choices& choices, const ConvProblem& problem) {
  const int64_t kind = choices.number(0, 3);
  if (kind == 0) return std::nullopt;
  Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  if (kind > 1) {
    pool = {.kind = choices.flag() ? PoolKind::max : PoolKind::average,
            .kernel_h = choices.number(1, 4),
            .kernel_w = choices.number(1, 4),
            .stride_h = choices.number(1, 3),
            .stride_w = choices.number(1, 3),
            .pad_top = choices.number(0, 1),
            .pad_left = choices.number(0, 1),
            .pad_bottom = choices.number(0, 1),
            .pad_right = choices.number(0, 1),
            .ceil_mode = choices.flag(),
            .count_include_pad = choices.flag()};
    if (choices.number(0, 3) == 0) pool.dilation_h = pool.dilation_w = 2;
  }
  return resolved_pool({pool}, {problem.n, problem.k, problem.p(), problem.q()});
}

ConvStep step_from(Choices& choices, const Kernel& kernel) {
  ConvStep step{problem_from(choices)};
  step.epilogue.bias = choices.flag();
  step.epilogue.pool = pool_from(choices, step.problem);
  step.epilogue.activation = choices.one_of<Activation>({{},
                                                         {ActivationKind::relu},
                                                         {ActivationKind::leaky_relu, 0.1f},
                                                         {ActivationKind::leaky_relu, -0.5f},
                                                         {ActivationKind::clip, -0.5f, 0.75f},
                                                         {ActivationKind::clip, 0.75f, -0.5f},
                                                         {ActivationKind::sigmoid},
                                                         {ActivationKind::tanh}});
  if (choices.flag()) step.input_format = kRawPixels;
  if (choices.flag()) step.output_format = kernel.format;
  if (step.input_format != kRawPixels && choices.flag()) step.input_format = kernel.format;
  return step;
}

}  // namespace
}  // namespace convlab

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  static const std::vector<const Kernel*> kernels = kernels_here();
  static const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  static Oracle oracle(1, /*kept_bytes=*/0);
  Choices choices({data, size});
  const Kernel& kernel = *choices.one_of(kernels);
  refuse_or_take([&] {
    const ConvStep step = step_from(choices, kernel);
    const CaseResult result = verify_kernel(kernel, step, *device, oracle);
    if (result.outcome != Outcome::failed) return;
    std::fprintf(stderr, "%.*s, %s: %s\n", static_cast<int>(kernel.info.name.size()), kernel.info.name.data(),
                 describe(step).c_str(), result.reason.c_str());
    std::abort();
  });
  return 0;
}
