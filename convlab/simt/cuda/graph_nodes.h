#pragma once

#include <cstddef>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/graphs.h"
#include "convlab/simt/cuda/memcpy_kind.h"
#include "convlab/simt/cuda/stream_capture.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

/// Nodes of CUDA graphs that a program adds explicitly. Each has the parameters of a call, which it copies.
namespace convlab::simt::cuda {

using cudaHostFn_t = void (*)(void* data);

/// A kernel through a void*: its parameters must be pointers or numbers, see kernel_arguments.h.
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;  ///< must be null
};
/// elementSize: 1, 2 or 4 bytes. width: in elements.
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};

namespace runtime {

/// Adds a node after those of the array.
cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                           cudaGraphNodeType type, StreamWork work) noexcept;
/// Replaces what a node of this type does: in the graph, or in an executable copy.
cudaError_t set_graph_node(cudaGraphNode_t node, cudaGraphNodeType type, StreamWork work) noexcept;
cudaError_t set_graph_step(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                           StreamWork work) noexcept;

}  // namespace runtime

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters, Where where = Where::current()) noexcept;
/// kernelParams then points into the node.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) noexcept;
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters,
                                         Where where = Where::current()) noexcept;
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters,
                                             Where where = Where::current()) noexcept;

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                     Where where = Where::current()) noexcept;
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind, Where where = Where::current()) noexcept;
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind kind,
                                               Where where = Where::current()) noexcept;

/// `Parms` is cudaMemcpy3DParms.
template <class Parms>
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const Parms* copy, Where where = Where::current()) {
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                                 [copy = *copy, where](cudaStream_t) { return cudaMemcpy3D(&copy, where); });
}
template <class Parms>
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, const Parms* copy,
                                             Where where = Where::current()) {
  return runtime::set_graph_step(executable, node, cudaGraphNodeTypeMemcpy,
                                 [copy = *copy, where](cudaStream_t) { return cudaMemcpy3D(&copy, where); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters, Where where = Where::current()) noexcept;
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters,
                                         Where where = Where::current()) noexcept;
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters,
                                             Where where = Where::current()) noexcept;

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) noexcept;
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) noexcept;
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) noexcept;

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) noexcept;
/// The node has a copy of the other graph.
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) noexcept;
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        size_t count, cudaEvent_t event) noexcept;
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) noexcept;

}  // namespace convlab::simt::cuda
