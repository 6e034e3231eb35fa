// cpu.unary_vectors: applies sqrt, exp, erf and the activations built from them, one SIMD vector at a time.
// Threads: a work item is kPiece elements. An element's result does not depend on its index.
// Not supported: all other functions.
// Limited by the arithmetic of exp().

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/elementwise/vector_functions.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_unary_vectors {
namespace {

constexpr int64_t kPiece = 8192;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<UnaryOp>(&step.op);
  if (op == nullptr || !has_vector_function(op->kind)) {
    return "only sqrt, exp, erf and activations made of them are supported";
  }
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<UnaryOp>(args.step.op);
  stream.threads()->parallel_for(
      element_count(args.step.outputs[0].shape), kPiece, [&](int64_t begin, int64_t end, int) {
        apply_vector_function(op.kind, op.alpha, op.beta, args.input(0) + begin, args.output() + begin, end - begin);
      });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.unary_vectors",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "sqrt, exp, erf and the activations made of them, one SIMD vector at a time"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_unary_vectors
