#include "convlab/rewrite/evaluate.h"

#include <algorithm>
#include <memory>

#include "convlab/base/checked.h"
#include "convlab/device/cpu.h"
#include "convlab/kernels/op.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

void convolve(const ConvOp& op, const std::vector<const Tensor*>& inputs, Tensor& output, Stream& stream) {
  ConvStep step{.problem = conv_problem(op, inputs[0]->shape(), inputs[1]->shape())};
  step.epilogue.bias = inputs.size() > 2;
  require_conv_kernel("cpu.reference", DeviceKind::cpu)
      .launch({.step = step,
               .x = inputs[0]->raw(),
               .w = inputs[1]->values<float>().data(),
               .bias = step.epilogue.bias ? inputs[2]->values<float>().data() : nullptr,
               .y = output.values<float>().data()},
              stream);
}

void compute(const OpStep& step, const std::vector<const Tensor*>& inputs, Tensor& output, Device& device,
             Stream& stream) {
  const OpKernel& kernel = choose_op_kernel(step, DeviceKind::cpu);
  std::vector<const float*> addresses;
  for (const Tensor* input : inputs) addresses.push_back(input->values<float>().data());
  const Buffer prepared = device.allocate(kernel.prepared_bytes ? kernel.prepared_bytes(step) : 0);
  const Buffer workspace = device.allocate(kernel.workspace_bytes ? kernel.workspace_bytes(step) : 0);
  const OpArgs args{.step = step,
                    .inputs = addresses,
                    .output = output.values<float>().data(),
                    .prepared = prepared.data(),
                    .workspace = workspace.data()};
  if (kernel.prepare != nullptr) kernel.prepare(args, stream);
  kernel.launch(args, stream);
}

/// Terms of the sum that an element of the output is.
int64_t terms_of(const Op& op, const std::vector<Shape>& inputs) {
  const Shape& x = inputs[0];
  if (std::holds_alternative<ConvOp>(op)) return element_count(inputs[1]) / inputs[1][0];
  if (const auto* gemm = std::get_if<GemmOp>(&op)) return x[gemm->transpose_a ? 0 : 1];
  if (std::holds_alternative<MatMulOp>(op)) return x.back();
  if (std::holds_alternative<GlobalAveragePoolOp>(op)) return x[2] * x[3];
  const auto* pool = std::get_if<PoolOp>(&op);
  return pool == nullptr ? 1 : checked_mul(std::min(pool->pool.kernel_h, x[2]), std::min(pool->pool.kernel_w, x[3]));
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
  const int64_t work = checked_mul(element_count(shape), terms_of(op, shapes));
  if (bytes > left.bytes || work > left.multiply_adds) {
    throw bad_input(
        "its constant result of shape {} takes {} bytes and {} multiply-adds; for a model of this size, operators of "
        "constants may take {} and {} more",
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
  OpStep step{.op = op, .inputs = shapes, .output = shape, .constant = std::vector<bool>(inputs.size(), true)};
  if (auto* pool = std::get_if<PoolOp>(&step.op)) *pool = {.pool = resolved_pool(*pool, shapes[0])};
  compute(step, inputs, output, *device, *stream);
  return output;
}

}  // namespace convlab
