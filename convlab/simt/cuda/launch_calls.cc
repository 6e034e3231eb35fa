// Launches kernels through pointers, and calls host functions in streams.

#include "convlab/simt/cuda/launch_calls.h"

#include <optional>
#include <string>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/kernel_arguments.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {

namespace runtime {

cudaError_t launch_erased(const void* kernel, const LaunchShape& shape, void** arguments, cudaStream_t stream,
                          const char* call) {
  std::string why;
  if (kernel == nullptr) return failed(cudaErrorInvalidDeviceFunction, call, shape.where, "the kernel is null");
  const std::optional<ErasedCall> erased = ErasedCall::of(kernel, arguments, why);
  if (!erased) return failed(cudaErrorInvalidDeviceFunction, call, shape.where, why);
  return launch(erased->call(), shape, stream);
}

cudaError_t attribute_error(const cudaLaunchConfig_t& configuration, const Where& where) {
  for (unsigned i = 0; i < configuration.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = configuration.attrs[i];
    const cudaLaunchClusterDimension& cluster = attribute.val.clusterDim;
    const bool has_cluster =
        attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z != 1;
    const bool cooperates = attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
    if (!has_cluster && !cooperates) continue;
    return failed(
        cudaErrorNotSupported, "cudaLaunchKernelEx", where,
        has_cluster ? "simt has no thread block clusters" : "for a cooperative launch use cudaLaunchCooperativeKernel");
  }
  return cudaSuccess;
}

}  // namespace runtime

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (function == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  return runtime::submit(stream, cudaGraphNodeTypeHost, [=](cudaStream_t runs_in) {
    simt::internal::wait_for_stream(runs_in);
    function(data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags) {
  if (function == nullptr || flags != 0) return runtime::set_last_error(cudaErrorInvalidValue);
  if (runtime::is_capturing(stream)) return runtime::set_last_error(runtime::invalidate_capture(stream));
  simt::internal::wait_for_stream(stream);
  function(stream, runtime::device_error(), data);
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
