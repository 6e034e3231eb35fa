// Makes, changes, instantiates and launches graphs.

#include "convlab/simt/cuda/graphs.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "convlab/simt/cuda/graph_state.h"

namespace convlab::simt::cuda {
namespace {

using Nodes = std::vector<CUgraphNode_st*>;

cudaError_t invalid() { return runtime::set_last_error(cudaErrorInvalidValue); }

/// Answers as CUDA does: the number of nodes if `to` is null; otherwise up to *count nodes, and null for the others.
cudaError_t answer(const Nodes& nodes, cudaGraphNode_t* to, size_t* count) {
  if (count == nullptr) return invalid();
  if (to == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  std::fill_n(to, *count, nullptr);
  *count = std::min(*count, nodes.size());
  std::copy_n(nodes.begin(), *count, to);
  return cudaSuccess;
}

template <class Where>
Nodes nodes_of(const CUgraph_st& graph, const Where& where) {
  Nodes nodes;
  for (const auto& node : graph.nodes) {
    if (where(*node)) nodes.push_back(node.get());
  }
  return nodes;
}

bool depends(const CUgraphNode_st& node, const CUgraphNode_st* on) {
  return std::ranges::find(node.after, on) != node.after.end();
}

runtime::GraphStep* step_of(cudaGraphExec_t executable, cudaGraphNode_t node) {
  if (executable == nullptr) return nullptr;
  const auto found = std::ranges::find(executable->steps, node, &runtime::GraphStep::node);
  return found == executable->steps.end() ? nullptr : &*found;
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) noexcept {
  if (graph == nullptr || flags != 0) return invalid();
  *graph = std::make_unique<CUgraph_st>().release();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) noexcept {
  if (graph == nullptr) return invalid();
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) noexcept {
  if (clone == nullptr || original == nullptr) return invalid();
  std::map<const CUgraphNode_st*, CUgraphNode_st*> copies;
  *clone = std::make_unique<CUgraph_st>().release();
  for (const auto& node : original->nodes) {
    (*clone)->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
    copies[node.get()] = (*clone)->nodes.back().get();
    copies[node.get()]->graph = *clone;
  }
  for (const auto& node : (*clone)->nodes) {
    for (CUgraphNode_st*& each : node->after) each = copies.at(each);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) noexcept {
  if (graph == nullptr) return invalid();
  return answer(nodes_of(*graph, [](const CUgraphNode_st&) { return true; }), nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) noexcept {
  if (graph == nullptr) return invalid();
  return answer(nodes_of(*graph, [](const CUgraphNode_st& node) { return node.after.empty(); }), nodes, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) noexcept {
  return node == nullptr ? invalid() : answer(node->after, nodes, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) noexcept {
  if (node == nullptr) return invalid();
  return answer(nodes_of(*node->graph, [&](const CUgraphNode_st& other) { return depends(other, node); }), nodes,
                count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) noexcept {
  if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) return invalid();
  Nodes sources, targets;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode_st* each : node->after) {
      sources.push_back(each);
      targets.push_back(node.get());
    }
  }
  size_t same = *count;
  answer(sources, from, &same);
  return answer(targets, to, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) noexcept {
  if (node == nullptr || type == nullptr) return invalid();
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    if (from[i] == nullptr || to[i] == nullptr || from[i]->graph != graph || to[i]->graph != graph) return invalid();
    if (from[i] == to[i] || depends(*to[i], from[i])) return invalid();
    to[i]->after.push_back(from[i]);
  }
  return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    if (to[i] == nullptr || to[i]->graph != graph || std::erase(to[i]->after, from[i]) == 0) return invalid();
  }
  return cudaSuccess;
}

namespace {

bool is_plain(const cudaGraphEdgeData* data, size_t count) {
  return data == nullptr || std::all_of(data, data + count, [](const cudaGraphEdgeData& each) {
           return each.from_port == 0 && each.to_port == 0 && each.type == 0;
         });
}

/// Returns the data of the edges that a call has returned.
cudaError_t with_data(cudaError_t error, cudaGraphEdgeData* data, const size_t* count) {
  if (error == cudaSuccess && data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
  return error;
}

}  // namespace

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* data, size_t count) noexcept {
  if (!is_plain(data, count)) return runtime::set_last_error(cudaErrorNotSupported);
  return cudaGraphAddDependencies(graph, from, to, count);
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) noexcept {
  return cudaGraphRemoveDependencies(graph, from, to, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                         size_t* count) noexcept {
  return with_data(cudaGraphNodeGetDependencies(node, nodes, count), data, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                           size_t* count) noexcept {
  return with_data(cudaGraphNodeGetDependentNodes(node, nodes, count), data, count);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              size_t* count) noexcept {
  return with_data(cudaGraphGetEdges(graph, from, to, count), data, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) noexcept {
  if (node == nullptr) return invalid();
  CUgraph_st& graph = *node->graph;
  for (const auto& other : graph.nodes) std::erase(other->after, node);
  std::erase_if(graph.nodes, [&](const auto& each) { return each.get() == node; });
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) noexcept {
  if (executable == nullptr || graph == nullptr) return invalid();
  *executable = nullptr;
  try {
    *executable = new CUgraphExec_st{runtime::ordered_steps(*graph)};
    return cudaSuccess;
  } catch (const std::exception&) {  // it has a cycle
    return invalid();
  }
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) noexcept {
  if (executable == nullptr) return invalid();
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (executable == nullptr) return invalid();
  return runtime::submit(stream, cudaGraphNodeTypeGraph, [steps = executable->steps](cudaStream_t runs_in) {
    return runtime::run_steps(steps, runs_in);
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) noexcept {
  if (executable == nullptr || graph == nullptr || info == nullptr) return invalid();
  *info = {cudaGraphExecUpdateError, nullptr, nullptr};
  const auto changed = [&](cudaGraphExecUpdateResult result) {
    info->result = result;
    return runtime::set_last_error(cudaErrorGraphExecUpdateFailure);
  };
  try {
    std::vector<runtime::GraphStep> steps = runtime::ordered_steps(*graph);
    if (steps.size() != executable->steps.size()) return changed(cudaGraphExecUpdateErrorTopologyChanged);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].type != executable->steps[i].type) return changed(cudaGraphExecUpdateErrorNodeTypeChanged);
    }
    for (size_t i = 0; i < steps.size(); ++i) executable->steps[i].work = std::move(steps[i].work);
  } catch (const std::exception&) {  // it has a cycle
    return invalid();
  }
  info->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) noexcept {
  runtime::GraphStep* const step = step_of(executable, node);
  if (step == nullptr) return invalid();
  step->enabled = enabled != 0;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) noexcept {
  const runtime::GraphStep* const step = step_of(executable, node);
  if (step == nullptr || enabled == nullptr) return invalid();
  *enabled = step->enabled ? 1 : 0;
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
