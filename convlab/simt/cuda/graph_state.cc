// Keeps the nodes of graphs, orders them and runs them.

#include "convlab/simt/cuda/graph_state.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>

#include "convlab/base/error.h"

namespace convlab::simt::cuda::runtime {
namespace {

constexpr std::align_val_t kAlignment{256};  // enough for every parameter

}  // namespace

StoredKernel::StoredKernel(const KernelCall& call, const LaunchShape& shape, LaunchFunction launch)
    : call_(call),
      shape_(shape),
      launch_(launch),
      places_(call.places.begin(), call.places.end()),
      arguments_(new (kAlignment) std::byte[call.argument_bytes],
                 [](std::byte* memory) { ::operator delete[](memory, kAlignment); }) {
  std::memcpy(arguments_.get(), call.arguments, call.argument_bytes);
  call_.arguments = arguments_.get();
  call_.places = places_;
}

void* StoredKernel::argument(size_t index) const { return arguments_.get() + places_[index].offset; }

cudaError_t StoredKernel::run(cudaStream_t stream) const { return launch_(call_, shape_, stream); }

std::vector<GraphStep> ordered_steps(const CUgraph_st& graph) {
  std::vector<GraphStep> steps;
  std::unordered_map<const CUgraphNode_st*, bool> done;
  while (steps.size() < graph.nodes.size()) {
    const size_t before = steps.size();
    for (const auto& node : graph.nodes) {
      if (done[node.get()]) continue;
      if (!std::ranges::all_of(node->after, [&](const CUgraphNode_st* each) { return done[each]; })) continue;
      done[node.get()] = true;
      steps.push_back({node.get(), node->type, node->work});
    }
    if (steps.size() == before) throw bad_input("the graph has a cycle");
  }
  return steps;
}

cudaError_t run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream) {
  for (const GraphStep& step : steps) {
    if (!step.enabled || !step.work) continue;
    on_stream(stream);
    if (const cudaError_t error = step.work(stream); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, const std::vector<CUgraphNode_st*>& after,
                         StreamWork work) {
  graph.nodes.push_back(std::make_unique<CUgraphNode_st>());
  CUgraphNode_st& node = *graph.nodes.back();
  node.type = type;
  node.graph = &graph;
  node.after = after;
  node.work = std::move(work);
  return &node;
}

void set_kernel(CUgraphNode_st& node, std::shared_ptr<const StoredKernel> kernel) {
  node.parameters.clear();
  for (size_t i = 0; i < kernel->argument_count(); ++i) node.parameters.push_back(kernel->argument(i));
  node.work = [kernel](cudaStream_t stream) { return kernel->run(stream); };
  node.kernel = std::move(kernel);
}

}  // namespace convlab::simt::cuda::runtime
