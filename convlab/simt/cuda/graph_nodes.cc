// Adds nodes to graphs and changes their parameters.

#include "convlab/simt/cuda/graph_nodes.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/graph_state.h"
#include "convlab/simt/cuda/kernel_arguments.h"
#include "convlab/simt/cuda/launch_calls.h"
#include "convlab/simt/cuda/pitched_calls.h"
#include "convlab/simt/cuda/runtime.h"

namespace convlab::simt::cuda {
namespace {

cudaError_t invalid() { return runtime::set_last_error(cudaErrorInvalidValue); }

/// Returns the kernel of the parameters; nullptr after keeping the error.
std::shared_ptr<const runtime::StoredKernel> stored_kernel(const cudaKernelNodeParams* parameters, const char* call,
                                                           const Where& where) {
  if (parameters == nullptr || parameters->func == nullptr || parameters->extra != nullptr) {
    failed(cudaErrorInvalidValue, call, where, "the parameters have no function, or `extra` is not null");
    return nullptr;
  }
  std::string why;
  const auto erased = runtime::ErasedCall::of(parameters->func, parameters->kernelParams, why);
  if (!erased) {
    failed(cudaErrorInvalidDeviceFunction, call, where, why);
    return nullptr;
  }
  const LaunchShape shape{.grid = parameters->gridDim,
                          .block = parameters->blockDim,
                          .shared_bytes = parameters->sharedMemBytes,
                          .where = where};
  return std::make_shared<const runtime::StoredKernel>(erased->call(), shape, &runtime::launch);
}

runtime::StreamWork copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const Where& where) {
  return [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream, where); };
}

runtime::StreamWork fill_work(const cudaMemsetParams& p, const Where& where) {
  return [=](cudaStream_t) {
    return runtime::fill_elements(p.dst, p.pitch, p.value, p.elementSize, p.width, p.height, where);
  };
}

runtime::StreamWork host_work(const cudaHostNodeParams& p) {
  return [=](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p.fn, p.userData); };
}

}  // namespace

namespace runtime {

cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                           cudaGraphNodeType type, StreamWork work) noexcept {
  if (node == nullptr || graph == nullptr || (after == nullptr && count > 0)) return invalid();
  const std::vector<CUgraphNode_st*> nodes(after, after + count);
  const bool own = std::ranges::all_of(nodes, [&](auto* each) { return each != nullptr && each->graph == graph; });
  if (!own) return invalid();
  *node = add_node(*graph, type, nodes, std::move(work));
  return cudaSuccess;
}

cudaError_t set_graph_node(cudaGraphNode_t node, cudaGraphNodeType type, StreamWork work) noexcept {
  if (node == nullptr || node->type != type) return invalid();
  node->work = std::move(work);
  return cudaSuccess;
}

cudaError_t set_graph_step(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                           StreamWork work) noexcept {
  if (executable == nullptr) return invalid();
  const auto step = std::ranges::find(executable->steps, node, &GraphStep::node);
  if (step == executable->steps.end() || step->type != type) return invalid();
  step->work = std::move(work);
  return cudaSuccess;
}

}  // namespace runtime

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters, Where where) noexcept {
  auto kernel = stored_kernel(parameters, "cudaGraphAddKernelNode", where);
  if (kernel == nullptr) return cudaPeekAtLastError();
  const cudaError_t error = runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeKernel, nullptr);
  if (error == cudaSuccess) runtime::set_kernel(**node, std::move(kernel));
  return error;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) noexcept {
  if (node == nullptr || node->kernel == nullptr || parameters == nullptr) return invalid();
  const LaunchShape& shape = node->kernel->shape();
  const auto narrow = [](LaunchExtent e) {
    return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z));
  };
  *parameters = {.func = const_cast<void*>(node->kernel->function()),
                 .gridDim = narrow(shape.grid),
                 .blockDim = narrow(shape.block),
                 .sharedMemBytes = static_cast<unsigned>(shape.shared_bytes),
                 .kernelParams = node->parameters.data(),
                 .extra = nullptr};
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters,
                                         Where where) noexcept {
  if (node == nullptr || node->type != cudaGraphNodeTypeKernel) return invalid();
  auto kernel = stored_kernel(parameters, "cudaGraphKernelNodeSetParams", where);
  if (kernel == nullptr) return cudaPeekAtLastError();
  runtime::set_kernel(*node, std::move(kernel));
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters, Where where) noexcept {
  const auto kernel = stored_kernel(parameters, "cudaGraphExecKernelNodeSetParams", where);
  if (kernel == nullptr) return cudaPeekAtLastError();
  return runtime::set_graph_step(executable, node, cudaGraphNodeTypeKernel,
                                 [kernel](cudaStream_t stream) { return kernel->run(stream); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                     Where where) noexcept {
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                                 copy_work(to, from, bytes, kind, where));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind, Where where) noexcept {
  return runtime::set_graph_node(node, cudaGraphNodeTypeMemcpy, copy_work(to, from, bytes, kind, where));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind kind,
                                               Where where) noexcept {
  return runtime::set_graph_step(executable, node, cudaGraphNodeTypeMemcpy, copy_work(to, from, bytes, kind, where));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters, Where where) noexcept {
  if (parameters == nullptr) return invalid();
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeMemset, fill_work(*parameters, where));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters,
                                         Where where) noexcept {
  if (parameters == nullptr) return invalid();
  return runtime::set_graph_node(node, cudaGraphNodeTypeMemset, fill_work(*parameters, where));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters, Where where) noexcept {
  if (parameters == nullptr) return invalid();
  return runtime::set_graph_step(executable, node, cudaGraphNodeTypeMemset, fill_work(*parameters, where));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) noexcept {
  if (parameters == nullptr || parameters->fn == nullptr) return invalid();
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeHost, host_work(*parameters));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) noexcept {
  if (parameters == nullptr || parameters->fn == nullptr) return invalid();
  return runtime::set_graph_node(node, cudaGraphNodeTypeHost, host_work(*parameters));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) noexcept {
  if (parameters == nullptr || parameters->fn == nullptr) return invalid();
  return runtime::set_graph_step(executable, node, cudaGraphNodeTypeHost, host_work(*parameters));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) noexcept {
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeEmpty, nullptr);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) noexcept {
  if (child == nullptr) return invalid();
  try {
    return runtime::add_graph_node(
        node, graph, after, count, cudaGraphNodeTypeGraph,
        [steps = runtime::ordered_steps(*child)](cudaStream_t stream) { return runtime::run_steps(steps, stream); });
  } catch (const std::exception&) {  // it has a cycle
    return invalid();
  }
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        size_t count, cudaEvent_t event) noexcept {
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeEventRecord,
                                 [event](cudaStream_t stream) { return cudaEventRecord(event, stream); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) noexcept {
  return runtime::add_graph_node(node, graph, after, count, cudaGraphNodeTypeWaitEvent,
                                 [event](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); });
}

}  // namespace convlab::simt::cuda
