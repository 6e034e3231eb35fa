// Output sizes of pooling, and the texts of activations, pools and epilogues.

#include "convlab/conv/epilogue.h"

#include <fmt/core.h>

namespace convlab {
namespace {

int64_t pooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad_before,
                    int64_t pad_after, bool ceil_mode) {
  const int64_t span = size + pad_before + pad_after - (kernel - 1) * dilation - 1;
  if (span < 0) return 0;
  int64_t count = span / stride + 1;
  if (ceil_mode && span % stride != 0 && count * stride < size + pad_before) ++count;
  return count;
}

}  // namespace

int64_t Pool::output_h(int64_t h) const {
  return pooled_size(h, kernel_h, stride_h, dilation_h, pad_top, pad_bottom, ceil_mode);
}

int64_t Pool::output_w(int64_t w) const {
  return pooled_size(w, kernel_w, stride_w, dilation_w, pad_left, pad_right, ceil_mode);
}

std::string to_text(const Activation& activation) {
  switch (activation.kind) {
    case ActivationKind::none:
      return "";
    case ActivationKind::relu:
      return "relu";
    case ActivationKind::leaky_relu:
      return fmt::format("leaky_relu({})", activation.alpha);
    case ActivationKind::clip:
      return fmt::format("clip({},{})", activation.alpha, activation.beta);
    case ActivationKind::sigmoid:
      return "sigmoid";
    case ActivationKind::tanh:
      return "tanh";
    case ActivationKind::swish:
      return "swish";
    case ActivationKind::hard_swish:
      return "hard_swish";
  }
  return "?";
}

std::string to_text(const Pool& pool) {
  return fmt::format("{}{}x{}/{}", pool.kind == PoolKind::max ? "max" : "average", pool.kernel_h, pool.kernel_w,
                     pool.stride_h == pool.stride_w ? fmt::format("{}", pool.stride_h)
                                                    : fmt::format("{}x{}", pool.stride_h, pool.stride_w));
}

std::string to_text(const Epilogue& epilogue) {
  std::string text;
  const auto append = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "+") + part;
  };
  if (epilogue.bias) append("bias");
  if (epilogue.pool) append(to_text(*epilogue.pool));
  append(to_text(epilogue.activation));
  return text;
}

}  // namespace convlab
