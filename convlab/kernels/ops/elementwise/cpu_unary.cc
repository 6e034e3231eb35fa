// cpu.unary: applies unary functions, except those that cpu.unary_vectors computes.
// Threads: a work item is kPiece elements.
// Not supported: sqrt and the smooth activations (see cpu.unary_vectors).
// Limited by memory bandwidth, or by the functions of the C library.

#include <cmath>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/elementwise/vector_functions.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_unary {
namespace {

constexpr int64_t kPiece = 8192;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<UnaryOp>(&step.op);
  if (op == nullptr) return "only unary functions are supported";
  if (has_vector_function(op->kind)) return "cpu.unary_vectors computes sqrt and smooth activations";
  return std::nullopt;
}

float truth(bool value) { return value ? 1.0f : 0.0f; }

void launch(const Args& args, Stream& stream) {
  const auto compute = [&](auto function) {
    stream.threads()->parallel_for(element_count(args.step.outputs[0].shape), kPiece,
                                   [&](int64_t begin, int64_t end, int) {
                                     for (int64_t i = begin; i < end; ++i)
                                       args.output()[i] = function(args.input(0)[i]);
                                   });
  };
  const auto& op = std::get<UnaryOp>(args.step.op);
  const float alpha = op.alpha, beta = op.beta;
  switch (op.kind) {
    case UnaryKind::abs:
      return compute([](float x) { return std::fabs(x); });
    case UnaryKind::neg:
      return compute([](float x) { return -x; });
    case UnaryKind::sign:
      return compute([](float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? 0.0f : x; });
    case UnaryKind::reciprocal:
      return compute([](float x) { return 1 / x; });
    case UnaryKind::log:
      return compute([](float x) { return std::log(x); });
    case UnaryKind::floor:
      return compute([](float x) { return std::floor(x); });
    case UnaryKind::ceil:
      return compute([](float x) { return std::ceil(x); });
    case UnaryKind::round:
      return compute([](float x) { return std::nearbyint(x); });
    case UnaryKind::truncate:
      return compute([](float x) { return std::trunc(x) + 0.0f; });  // integers have no -0
    case UnaryKind::to_bool:
      return compute([](float x) { return truth(x != 0); });
    case UnaryKind::logical_not:
      return compute([](float x) { return truth(x == 0); });
    case UnaryKind::is_nan:
      return compute([](float x) { return truth(std::isnan(x)); });
    case UnaryKind::is_inf:
      return compute([=](float x) { return truth(std::isinf(x) && (x < 0 ? alpha : beta) != 0); });
    case UnaryKind::sin:
      return compute([](float x) { return std::sin(x); });
    case UnaryKind::cos:
      return compute([](float x) { return std::cos(x); });
    case UnaryKind::tan:
      return compute([](float x) { return std::tan(x); });
    case UnaryKind::asin:
      return compute([](float x) { return std::asin(x); });
    case UnaryKind::acos:
      return compute([](float x) { return std::acos(x); });
    case UnaryKind::atan:
      return compute([](float x) { return std::atan(x); });
    case UnaryKind::sinh:
      return compute([](float x) { return std::sinh(x); });
    case UnaryKind::cosh:
      return compute([](float x) { return std::cosh(x); });
    case UnaryKind::asinh:
      return compute([](float x) { return std::asinh(x); });
    case UnaryKind::acosh:
      return compute([](float x) { return std::acosh(x); });
    case UnaryKind::atanh:
      return compute([](float x) { return std::atanh(x); });
    case UnaryKind::softsign:
      return compute([](float x) { return x / (1 + std::fabs(x)); });
    case UnaryKind::hard_sigmoid:
      return compute([=](float x) {
        const float y = alpha * x + beta;
        return y < 0 ? 0.0f : y > 1 ? 1.0f : y;
      });
    case UnaryKind::hard_swish:
      return compute([](float x) {
        const float gate = x / 6 + 0.5f;
        return x * (gate < 0 ? 0.0f : gate > 1 ? 1.0f : gate);
      });
    case UnaryKind::thresholded_relu:
      return compute([=](float x) { return x > alpha ? x : 0.0f; });
    case UnaryKind::shrink:
      return compute([=](float x) { return x < -alpha ? x + beta : x > alpha ? x - beta : 0.0f; });
    default:
      break;  // refuses() excludes the remaining kinds
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.unary",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "a function of each element, from the C library"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_unary
