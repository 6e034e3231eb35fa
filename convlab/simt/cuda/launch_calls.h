#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "convlab/simt/cuda/runtime.h"

/// Launches without <<<...>>>, and host functions in streams.
namespace convlab::simt::cuda {

using cudaHostFn_t = void (*)(void* data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);

namespace runtime {

/// Launches a kernel whose parameter types only its symbol tells, see kernel_arguments.h.
cudaError_t launch_erased(const void* kernel, const LaunchShape& shape, void** arguments, cudaStream_t stream,
                          const char* call);

template <class... P, size_t... I>
cudaError_t launch_typed(void (*kernel)(P...), const LaunchShape& shape, void** arguments, cudaStream_t stream,
                         std::index_sequence<I...>) {
  auto bound = bind_kernel(kernel, *static_cast<std::remove_cv_t<P>*>(arguments[I])...);
  return launch_call(bound, shape, stream);
}

}  // namespace runtime

/// `arguments`: pointers to the arguments, in order.
template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr, Where where = Where::current()) {
  const LaunchShape shape{.grid = grid, .block = block, .shared_bytes = shared_bytes, .where = where};
  return runtime::launch_typed(kernel, shape, arguments, stream, std::index_sequence_for<P...>());
}
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    Where where = Where::current()) {
  const LaunchShape shape{.grid = grid, .block = block, .shared_bytes = shared_bytes, .where = where};
  return runtime::launch_erased(kernel, shape, arguments, stream, "cudaLaunchKernel");
}

// ---- cudaLaunchKernelEx ----

/// Attributes of launches. Priorities, memory synchronization domains and cache windows have no effect here, nor does
/// programmatic serialization: launches run one after another. Clusters and cooperative launches are refused.
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8,
  cudaLaunchAttributeMemSyncDomainMap = 9,
  cudaLaunchAttributeMemSyncDomain = 10,
  cudaLaunchAttributePreferredClusterDimension = 11,
  cudaLaunchAttributeLaunchCompletionEvent = 12,
  cudaLaunchAttributeDeviceUpdatableKernelNode = 13,
  cudaLaunchAttributePreferredSharedMemoryCarveout = 14,
};
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy {
  cudaSyncPolicyAuto = 1,
  cudaSyncPolicySpin = 2,
  cudaSyncPolicyYield = 3,
  cudaSyncPolicyBlockingSync = 4
};
enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyDefault,
  cudaClusterSchedulingPolicySpread,
  cudaClusterSchedulingPolicyLoadBalancing
};
struct cudaLaunchClusterDimension {
  unsigned x, y, z;
};
union cudaLaunchAttributeValue {
  char pad[64];
  cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  cudaSynchronizationPolicy syncPolicy;
  cudaLaunchClusterDimension clusterDim;
  cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  int priority;
  unsigned sharedMemCarveout;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace runtime {

/// Returns an error for attributes that are not supported.
cudaError_t attribute_error(const cudaLaunchConfig_t& configuration, const Where& where);

inline LaunchShape shape_of(const cudaLaunchConfig_t& configuration, const Where& where) {
  return {.grid = configuration.gridDim,
          .block = configuration.blockDim,
          .shared_bytes = configuration.dynamicSmemBytes,
          .where = where};
}

/// Converts to a configuration, and keeps the place of the call.
struct PlacedConfiguration {
  const cudaLaunchConfig_t* configuration;
  Where where;
  PlacedConfiguration(const cudaLaunchConfig_t* c, Where w = Where::current()) : configuration(c), where(w) {}
};

}  // namespace runtime

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(runtime::PlacedConfiguration placed, void (*kernel)(P...), A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch needs one argument for each kernel parameter");
  const cudaLaunchConfig_t& configuration = *placed.configuration;
  if (const cudaError_t error = runtime::attribute_error(configuration, placed.where); error != cudaSuccess) {
    return error;
  }
  const LaunchShape shape = runtime::shape_of(configuration, placed.where);
  return runtime::launch_call(bind_kernel(kernel, static_cast<P>(std::forward<A>(arguments))...), shape,
                              configuration.stream);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* kernel, void** arguments,
                                       Where where = Where::current()) {
  const cudaError_t error = runtime::attribute_error(*configuration, where);
  if (error != cudaSuccess) return error;
  return runtime::launch_erased(kernel, runtime::shape_of(*configuration, where), arguments, configuration->stream,
                                "cudaLaunchKernelExC");
}

/// Attributes of streams have no effect.
using cudaStreamAttrID = cudaLaunchAttributeID;
using cudaStreamAttrValue = cudaLaunchAttributeValue;
inline constexpr auto cudaStreamAttributeAccessPolicyWindow = cudaLaunchAttributeAccessPolicyWindow;
inline constexpr auto cudaStreamAttributeSynchronizationPolicy = cudaLaunchAttributeSynchronizationPolicy;
inline constexpr auto cudaStreamAttributePriority = cudaLaunchAttributePriority;
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}

// ---- Host functions ----

/// Calls the function when the stream's work so far is done: as work is done at submission, immediately and in this
/// thread. The function must not use CUDA.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags);

}  // namespace convlab::simt::cuda
