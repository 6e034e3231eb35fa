// Counts what a kernel does on simt.

#include "convlab/profile/count_kernel.h"

#include <utility>

#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/select.h"
#include "convlab/kernels/step_text.h"
#include "convlab/verify/fills.h"
#include "convlab/verify/ops/op_fills.h"
#include "convlab/verify/ops/verify_op.h"

namespace convlab {
namespace {

/// Allocates a named array of the kernel.
Buffer array(Device& device, size_t bytes, std::string_view name, bool writable) {
  Buffer buffer = device.allocate(bytes);
  if (bytes > 0) narrow_simt_memory(buffer.data(), bytes, name, writable);
  return buffer;
}

std::vector<Tensor> inputs_of(const Step& step) {
  if (!is_conv(step)) return packed_inputs(step, fill_inputs(step, Fill::reals, 0));
  const ConvStep conv = conv_step(step);
  std::vector<Tensor> inputs;
  inputs.push_back(fill_images(conv, Fill::reals, {}));
  inputs.push_back(fill_filters(conv, Fill::reals, {}, 0));
  if (conv.epilogue.bias) inputs.push_back(fill_bias(conv, Fill::reals, {}, 0));
  if (conv.adds) inputs.push_back(fill_added(conv, Fill::reals, {}, 0));
  return packed_inputs(step, std::move(inputs));
}

std::string name_of_input(const Step& step, size_t input) {
  if (input == 0 && (is_conv(step) || step.inputs.size() == 1)) return "x";
  if (!is_conv(step)) return fmt::format("input {}", input);
  if (input == 1) return "w";
  return input == 2 && step.epilogue.bias ? "bias" : "added";
}

}  // namespace

std::vector<KernelCounts> count_kernel(const Kernel& kernel, const Step& step, Device& simt) {
  const DeviceCaps& caps = simt.caps();
  if (const Refusal refusal = refusal_of(kernel, step, caps)) {
    throw bad_input("{}: {}: {}", kernel.info.name, problem_text(step), *refusal);
  }
  const std::unique_ptr<Stream> stream = simt.make_stream();
  const std::vector<Tensor> tensors = inputs_of(step);
  std::vector<Buffer> buffers;
  std::vector<const void*> inputs;
  for (const Tensor& tensor : tensors) {
    buffers.push_back(array(simt, tensor.bytes(), name_of_input(step, inputs.size()), false));
    stream->upload(buffers.back().data(), tensor.raw(), tensor.bytes());
    inputs.push_back(buffers.back().data());
  }
  const Operand& output = step.outputs[0];
  const Buffer y = array(simt, static_cast<size_t>(byte_count(output.shape, output.format)), "y", true);
  const Buffer prepared = array(simt, prepared_bytes(kernel, step, caps), "prepared", true);
  const Buffer workspace = array(simt, workspace_bytes(kernel, step, caps), "workspace", true);
  void* const outputs[] = {y.data()};
  const Args args{
      .step = step, .inputs = inputs, .outputs = outputs, .prepared = prepared.data(), .workspace = workspace.data()};
  if (kernel.prepare != nullptr) kernel.prepare(args, *stream);
  start_simt_counting();
  try {
    kernel.launch(args, *stream);
  } catch (...) {
    stop_simt_counting();
    throw;
  }
  return stop_simt_counting();
}

std::map<std::string, int64_t> array_bytes(const Kernel& kernel, const Step& step, const DeviceCaps& caps) {
  std::map<std::string, int64_t> bytes;
  const auto add = [&](const std::string& name, int64_t count) {
    if (count > 0) bytes[name] = count;
  };
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Operand& input = step.inputs[i];
    add(name_of_input(step, i), byte_count(input.shape, input.format));
  }
  add("y", byte_count(step.outputs[0].shape, step.outputs[0].format));
  add("prepared", static_cast<int64_t>(prepared_bytes(kernel, step, caps)));
  add("workspace", static_cast<int64_t>(workspace_bytes(kernel, step, caps)));
  return bytes;
}

}  // namespace convlab
