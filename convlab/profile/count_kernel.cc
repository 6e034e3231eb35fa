// Counts what a kernel does on simt.

#include "convlab/profile/count_kernel.h"

#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/verify/fills.h"

namespace convlab {
namespace {

/// Allocates a named array of the kernel.
Buffer array(Device& device, size_t bytes, std::string_view name, bool writable) {
  Buffer buffer = device.allocate(bytes);
  if (bytes > 0) narrow_simt_memory(buffer.data(), bytes, name, writable);
  return buffer;
}

Buffer filled(Device& device, Stream& stream, const Tensor& tensor, std::string_view name) {
  Buffer buffer = array(device, tensor.bytes(), name, false);
  stream.upload(buffer.data(), tensor.raw(), buffer.bytes());
  return buffer;
}

}  // namespace

std::vector<KernelCounts> count_kernel(const Kernel& kernel, const ConvStep& step, Device& simt) {
  const DeviceCaps& caps = simt.caps();
  if (const Refusal refusal = kernel.refuses(step, caps)) {
    throw bad_input("{}: {}: {}", kernel.info.name, to_text(step.problem), *refusal);
  }
  const std::unique_ptr<Stream> stream = simt.make_stream();
  const Buffer x = filled(simt, *stream, fill_images(step, Fill::reals, {}), "x");
  const Buffer w = filled(simt, *stream, fill_filters(step, Fill::reals, {}, 0), "w");
  Buffer bias;
  if (step.epilogue.bias) bias = filled(simt, *stream, fill_bias(step, Fill::reals, {}, 0), "bias");
  const Buffer y = array(simt, static_cast<size_t>(element_count(step.output_shape())) * sizeof(float), "y", true);
  const Buffer prepared = array(simt, prepared_bytes(kernel, step, caps), "prepared", true);
  const Buffer workspace = array(simt, workspace_bytes(kernel, step, caps), "workspace", true);
  const ConvArgs args{.step = step,
                      .x = x.data(),
                      .w = static_cast<const float*>(w.data()),
                      .bias = static_cast<const float*>(bias.data()),
                      .y = static_cast<float*>(y.data()),
                      .prepared = prepared.data(),
                      .workspace = workspace.data()};
  call(kernel.prepare, args, *stream);
  start_simt_counting();
  try {
    call(kernel.launch, args, *stream);
  } catch (...) {
    stop_simt_counting();
    throw;
  }
  return stop_simt_counting();
}

}  // namespace convlab
