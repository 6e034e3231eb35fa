#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "convlab/simt/cuda/graph_types.h"
#include "convlab/simt/kernel_call.h"

/// What the handles of graphs point to.
namespace convlab::simt::cuda {
namespace runtime {

/// A kernel with a copy of its arguments, and the shape of its launch.
class StoredKernel {
 public:
  StoredKernel(const KernelCall& call, const LaunchShape& shape, LaunchFunction launch);
  StoredKernel(const StoredKernel&) = delete;
  StoredKernel& operator=(const StoredKernel&) = delete;

  const void* function() const { return call_.function; }
  const LaunchShape& shape() const { return shape_; }
  size_t argument_count() const { return places_.size(); }
  void* argument(size_t index) const;
  cudaError_t run(cudaStream_t stream) const;

 private:
  KernelCall call_;
  LaunchShape shape_;
  LaunchFunction launch_;
  std::vector<ArgumentPlace> places_;
  std::shared_ptr<std::byte[]> arguments_;
};

/// One node of an executable graph. `node` only identifies it: the graph may be gone.
struct GraphStep {
  const CUgraphNode_st* node = nullptr;
  cudaGraphNodeType type{};
  StreamWork work;
  bool enabled = true;
};

/// Returns the graph's nodes, each after those that it depends on. Throws Error(bad_input) if there is a cycle.
std::vector<GraphStep> ordered_steps(const CUgraph_st& graph);

cudaError_t run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream);

/// Adds a node. `after` must be nodes of the graph.
CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, const std::vector<CUgraphNode_st*>& after,
                         StreamWork work);

/// Makes it a node that launches the kernel.
void set_kernel(CUgraphNode_st& node, std::shared_ptr<const StoredKernel> kernel);

}  // namespace runtime

struct CUgraphNode_st {
  cudaGraphNodeType type{};
  CUgraph_st* graph = nullptr;
  std::vector<CUgraphNode_st*> after;
  runtime::StreamWork work;
  std::shared_ptr<const runtime::StoredKernel> kernel;  ///< of a kernel node
  std::vector<void*> parameters;                        ///< pointers to its arguments
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  ///< in the order of their creation
};

struct CUgraphExec_st {
  std::vector<runtime::GraphStep> steps;
};

}  // namespace convlab::simt::cuda
