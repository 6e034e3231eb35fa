// Convolution kernels for `verify --device simt`: each computes the right result, but all except one also have a fault.

#include <string_view>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

// Without simt's checks, the faults would end the program, hang it, or go unnoticed.
namespace convlab {
namespace {

enum class Wrong {
  nothing,
  throws_in_launch,
  throws,
  divides_by_zero,
  loops_for_ever,
  waits_for_a_block,
  reads_before_x,
  reads_past_w,
  writes_past_y,
  writes_x,
  forgets_atomic,
};

constexpr int kThreads = 32;

template <Wrong kWrong>
__global__ void convolve_planted(const float* x, const float* w, float* y, ConvShape shape, int outputs) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= outputs) return;
  const int q = i % shape.q, p = i / shape.q % shape.p, k = i / (shape.q * shape.p) % shape.k;
  const int n = i / (shape.q * shape.p * shape.k);
  float sum = 0;
  for (int c = 0; c < shape.c; ++c) {
    for (int r = 0; r < shape.r; ++r) {
      for (int s = 0; s < shape.s; ++s) {
        sum += x[((n * shape.c + c) * shape.h + p + r) * shape.w + q + s] *
               w[((k * shape.c + c) * shape.r + r) * shape.s + s];
      }
    }
  }
  y[i] = sum;
  if (i != kThreads) return;  // the first thread of the second block
  const int filters = shape.k * shape.c * shape.r * shape.s;
  if (kWrong == Wrong::throws) throw "a text";
  if (kWrong == Wrong::divides_by_zero) y[i] = static_cast<float>(shape.k / (static_cast<int>(threadIdx.x) * 3));
  if (kWrong == Wrong::loops_for_ever) {
    for (volatile int once = 1; once != 0;) {
    }
  }
  if (kWrong == Wrong::waits_for_a_block) {
    while (static_cast<volatile float*>(y)[outputs - 1] != 1e9f) {
    }
  }
  if (kWrong == Wrong::reads_before_x && x[-4000] == 1.0f) y[i] = 0;
  if (kWrong == Wrong::reads_past_w && w[filters] == 1.0f) y[i] = 0;
  if (kWrong == Wrong::writes_past_y) y[outputs + 2] = __int_as_float(0x4b4b4b4b);  // the value that is already there
  if (kWrong == Wrong::writes_x) const_cast<float*>(x)[3] = x[3] + 0.0f;
  if (kWrong == Wrong::forgets_atomic) y[0] = y[0] + 0.0f;
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  if (problem.padded() || problem.groups > 1 || !problem.unit_stride() || !problem.unit_dilation()) {
    return "takes plain problems";
  }
  return refuse_unless_rung(step);
}

template <Wrong kWrong>
void launch_planted(const ConvArgs& args, Stream& stream) {
  if (kWrong == Wrong::throws_in_launch) throw 42;
  const auto outputs = static_cast<int>(args.step.problem.output_count());
  launch(convolve_planted<kWrong>, {.grid = ceil_div(outputs, kThreads), .block = kThreads}, stream.native(),
         static_cast<const float*>(args.x), args.w, args.y, kernel_shape(args.step.problem), outputs);
}

template <Wrong kWrong>
Kernel planted(std::string_view name) {
  return {
      .info = {.name = name, .device = kCompiledFor, .math = Math::fp32, .idea = "one fault, to be found"},
      .refuses = of_conv<refuses>,
      .launch = of_conv<launch_planted<kWrong>>,
  };
}

const RegisterKernel kernels[] = {
    RegisterKernel(planted<Wrong::nothing>("test.simt_right")),
    RegisterKernel(planted<Wrong::throws_in_launch>("test.simt_throws_in_launch")),
    RegisterKernel(planted<Wrong::throws>("test.simt_throws")),
    RegisterKernel(planted<Wrong::divides_by_zero>("test.simt_divides_by_zero")),
    RegisterKernel(planted<Wrong::loops_for_ever>("test.simt_loops_for_ever")),
    RegisterKernel(planted<Wrong::waits_for_a_block>("test.simt_waits_for_a_block")),
    RegisterKernel(planted<Wrong::reads_before_x>("test.simt_reads_before_x")),
    RegisterKernel(planted<Wrong::reads_past_w>("test.simt_reads_past_w")),
    RegisterKernel(planted<Wrong::writes_past_y>("test.simt_writes_past_y")),
    RegisterKernel(planted<Wrong::writes_x>("test.simt_writes_x")),
    RegisterKernel(planted<Wrong::forgets_atomic>("test.simt_forgets_atomic")),
};

}  // namespace
}  // namespace convlab
