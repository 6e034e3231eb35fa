#pragma once

#include <functional>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/stream_handles.h"
#include "convlab/simt/kernel_call.h"

/// Handles and constants of CUDA graphs, which streams need, too.
namespace convlab::simt::cuda {

struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
using cudaGraph_t = CUgraph_st*;
using cudaGraphNode_t = CUgraphNode_st*;
using cudaGraphExec_t = CUgraphExec_st*;

enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel = 0,
  cudaGraphNodeTypeMemcpy = 1,
  cudaGraphNodeTypeMemset = 2,
  cudaGraphNodeTypeHost = 3,
  cudaGraphNodeTypeGraph = 4,
  cudaGraphNodeTypeEmpty = 5,
  cudaGraphNodeTypeWaitEvent = 6,
  cudaGraphNodeTypeEventRecord = 7,
  cudaGraphNodeTypeExtSemaphoreSignal = 8,
  cudaGraphNodeTypeExtSemaphoreWait = 9,
  cudaGraphNodeTypeMemAlloc = 10,
  cudaGraphNodeTypeMemFree = 11,
  cudaGraphNodeTypeConditional = 13,
};

enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};

namespace runtime {

/// What a stream or a node of a graph does. It gets the stream that it runs in; its errors are kept.
using StreamWork = std::function<cudaError_t(cudaStream_t)>;

/// Launches a kernel in a stream: runtime::launch().
using LaunchFunction = cudaError_t (*)(const KernelCall& call, const LaunchShape& shape, cudaStream_t stream);

}  // namespace runtime
}  // namespace convlab::simt::cuda
