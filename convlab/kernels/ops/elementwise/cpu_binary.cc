// cpu.binary: applies a function to two arrays element by element, broadcast as in NumPy.
// Threads: a work item is a range of output rows; see cpu_broadcast.h.
// Supports every case of its operator. Add and Mul have kernels of their own.
// Limited by memory bandwidth, except powers, remainders and divisions.

#include <cmath>

#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_binary {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<BinaryOp>(step.op)) return "only binary functions are supported";
  return std::nullopt;
}

float truth(bool value) { return value ? 1.0f : 0.0f; }

/// Returns the remainder with the divisor's sign, as in Python.
float modulo(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

void launch(const Args& args, Stream& stream) {
  const auto compute = [&](auto function) { elementwise(args, *stream.threads(), function); };
  switch (std::get<BinaryOp>(args.step.op).kind) {
    case BinaryKind::subtract:
      return compute([](float a, float b) { return a - b; });
    case BinaryKind::divide:
      return compute([](float a, float b) { return a / b; });
    case BinaryKind::minimum:
      return compute([](float a, float b) { return a < b || a != a ? a : b; });
    case BinaryKind::maximum:
      return compute([](float a, float b) { return a > b || a != a ? a : b; });
    case BinaryKind::power:
      if (element_count(args.step.inputs[1].shape) == 1 && args.input(1)[0] == 2) {
        return compute([](float a, float) { return a * a; });
      }
      return compute([](float a, float b) { return std::pow(a, b); });
    case BinaryKind::modulo:
      return compute(modulo);
    case BinaryKind::fmod:
      return compute([](float a, float b) { return std::fmod(a, b); });
    case BinaryKind::equal:
      return compute([](float a, float b) { return truth(a == b); });
    case BinaryKind::greater:
      return compute([](float a, float b) { return truth(a > b); });
    case BinaryKind::greater_equal:
      return compute([](float a, float b) { return truth(a >= b); });
    case BinaryKind::less:
      return compute([](float a, float b) { return truth(a < b); });
    case BinaryKind::less_equal:
      return compute([](float a, float b) { return truth(a <= b); });
    case BinaryKind::logical_and:
      return compute([](float a, float b) { return truth(a != 0 && b != 0); });
    case BinaryKind::logical_or:
      return compute([](float a, float b) { return truth(a != 0 || b != 0); });
    case BinaryKind::logical_xor:
      return compute([](float a, float b) { return truth((a != 0) != (b != 0)); });
    case BinaryKind::prelu:
      // Selects the factor, not the product, so that compilers vectorize it.
      return compute([](float x, float slope) { return x * (x < 0 ? slope : 1.0f); });
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.binary",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "a function of two arrays, broadcast as in NumPy, row by row"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_binary
