// Evaluates operators on constants.

#include "convlab/rewrite/evaluate.h"

#include <algorithm>
#include <memory>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/overloaded.h"
#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/model/einsum.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Scratch memory that any kernel may use, whatever the model's size.
constexpr size_t kAlwaysScratchBytes = size_t{1} << 28;

void convolve(const ConvOp& op, const std::vector<const Tensor*>& inputs, Tensor& output, Stream& stream) {
  ConvStep step{.problem = conv_problem(op, inputs[0]->shape(), inputs[1]->shape())};
  step.epilogue.bias = inputs.size() > 2;
  call(require_conv_kernel("cpu.reference", DeviceKind::cpu).launch,
       {.step = step,
        .x = inputs[0]->raw(),
        .w = inputs[1]->values<float>().data(),
        .bias = step.epilogue.bias ? inputs[2]->values<float>().data() : nullptr,
        .y = output.values<float>().data()},
       stream);
}

void compute(const Step& step, const std::vector<const Tensor*>& inputs, Tensor& output, Device& device, Stream& stream,
             int64_t bytes_left) {
  const Kernel& kernel = choose_kernel(step, device.caps());
  const size_t scratch = workspace_bytes(kernel, step, device.caps());
  if (scratch > static_cast<size_t>(bytes_left) + kAlwaysScratchBytes) {
    throw bad_input("constant folding needs {} bytes of scratch memory; the limit for a model of this size is {}",
                    scratch, bytes_left);
  }
  std::vector<const void*> addresses;
  for (const Tensor* input : inputs) addresses.push_back(input->values<float>().data());
  void* const result = output.values<float>().data();
  const Buffer prepared = device.allocate(prepared_bytes(kernel, step, device.caps()));
  const Buffer workspace = device.allocate(scratch);
  const Args args{.step = step,
                  .inputs = addresses,
                  .outputs = {&result, 1},
                  .prepared = prepared.data(),
                  .workspace = workspace.data()};
  if (kernel.prepare != nullptr) kernel.prepare(args, stream);
  kernel.launch(args, stream);
}

int64_t window_of(const Pool& pool, const Shape& x) {
  return checked_mul(std::min(pool.kernel_h, x[2]), std::min(pool.kernel_w, x[3]));
}

int64_t summed_sizes(const Einsum& einsum) {
  int64_t terms = 1;
  for (size_t index = 0; index < einsum.sizes.size(); ++index) {
    const bool stays = std::ranges::find(einsum.output, index) != einsum.output.end();
    if (!stays) terms = checked_mul(terms, einsum.sizes[index]);
  }
  return terms;
}

/// Returns the length of the reduction for one element of the output, or about as much work.
int64_t reduction_length(const Op& op, const std::vector<Shape>& inputs, const Shape& output) {
  const Shape& x = inputs[0];
  // For operators that read all of their input for a smaller output.
  const int64_t read = ceil_div(element_count(x), element_count(output));
  const auto terms = Overloaded{
      [&](const ConvOp&) { return element_count(inputs[1]) / inputs[1][0]; },
      [&](const ConvIntegerOp&) { return element_count(inputs[1]) / inputs[1][0]; },
      [&](const QLinearConvOp&) { return element_count(inputs[3]) / inputs[3][0]; },
      [&](const ConvTransposeOp&) { return element_count(inputs[1]) / inputs[1][1]; },
      [&](const GemmOp& gemm) { return x[gemm.transpose_a ? 0 : 1]; },
      [&](const MatMulOp&) { return x.back(); },
      [&](const MatMulIntegerOp&) { return x.back(); },
      [&](const QLinearMatMulOp&) { return x.back(); },
      [&](const EinsumOp& einsum) { return summed_sizes(einsum_of(einsum.equation, inputs)); },
      [&](const PoolOp& pool) { return window_of(pool.pool, x); },
      [&](const LpPoolOp& pool) { return window_of(pool.pool, x); },
      [&](const MaxPoolIndicesOp& pool) { return window_of(pool.pool, x); },
      [&](const LrnOp& lrn) { return std::min(lrn.size, x[1]); },
      [&](const ResizeOp&) { return checked_mul(4 * std::ssize(x) + 1, read); },
      [&](const GridSampleOp&) { return int64_t{16}; },
      [&](const auto&) { return read; },
  };
  return std::max<int64_t>(std::visit(terms, op), 1);
}

}  // namespace

bool only_reshapes(const Op& op) {
  return std::holds_alternative<FlattenOp>(op) || std::holds_alternative<ReshapeOp>(op) ||
         std::holds_alternative<SqueezeOp>(op) || std::holds_alternative<UnsqueezeOp>(op);
}

Tensor evaluate(const Op& op, const std::vector<const Tensor*>& inputs, EvaluationLimits& left) {
  std::vector<Shape> shapes;
  for (const Tensor* input : inputs) shapes.push_back(input->shape());
  const Shape shape = output_shape(op, shapes);
  const int64_t bytes = checked_mul(element_count(shape), static_cast<int64_t>(sizeof(float)));
  const int64_t work = checked_mul(element_count(shape), reduction_length(op, shapes, shape));
  if (bytes > left.bytes || work > left.multiply_adds) {
    throw bad_input(
        "constant folding to shape {} needs {} bytes and {} multiply-adds; a model of this size has {} bytes and {} "
        "multiply-adds left",
        to_text(shape), bytes, work, left.bytes, left.multiply_adds);
  }
  left.bytes -= bytes;
  left.multiply_adds -= work;
  if (only_reshapes(op)) return inputs[0]->clone().reshaped(shape);
  Tensor output(ElementType::f32, shape);
  const std::unique_ptr<Device> device = open_cpu({.threads = 1});
  const std::unique_ptr<Stream> stream = device->make_stream();
  if (const auto* conv = std::get_if<ConvOp>(&op)) {
    convolve(*conv, inputs, output, *stream);
    return output;
  }
  Step step{.op = op, .outputs = {{.shape = shape}}};
  for (const Shape& each : shapes) step.inputs.push_back({.shape = each, .constant = true});
  if (auto* pool = std::get_if<PoolOp>(&step.op)) *pool = {.pool = resolved_pool(*pool, shapes[0])};
  compute(step, inputs, output, *device, *stream, left.bytes);
  return output;
}

}  // namespace convlab
