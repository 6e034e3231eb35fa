// Captures streams into graphs.

#include "convlab/simt/cuda/stream_capture.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "convlab/simt/cuda/graph_state.h"
#include "convlab/simt/cuda/stream_table.h"

namespace convlab::simt::cuda {
namespace {

using Nodes = std::vector<CUgraphNode_st*>;

/// One capture, from cudaStreamBeginCapture() to cudaStreamEndCapture().
struct Capture {
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  cudaStream_t origin = nullptr;
  unsigned long long id = 0;
  bool blocking = false;  ///< the origin waits for the default stream
  bool invalid = false;
};

/// A stream or an event of a capture, with the nodes that its next node depends on.
struct Captured {
  std::shared_ptr<Capture> capture;
  Nodes last;
};

struct State {
  std::mutex mutex;
  std::map<cudaStream_t, Captured> streams;
  std::map<cudaEvent_t, Captured> events;
  unsigned long long captures = 0;
  std::atomic<int> active = 0;
};
State& state() {
  static State& one = *new State;  // never destroyed: static objects may still use streams at exit
  return one;
}

void merge(Nodes& into, const Nodes& more) {
  for (CUgraphNode_st* each : more) {
    if (std::ranges::find(into, each) == into.end()) into.push_back(each);
  }
}

/// Adds a node to the stream's graph; the mutex is held. Returns nullptr if the capture is invalid.
CUgraphNode_st* add(cudaStream_t stream, cudaGraphNodeType type, runtime::StreamWork work) {
  Captured& captured = state().streams.at(stream);
  if (captured.capture->invalid) return nullptr;
  CUgraphNode_st* const node = runtime::add_node(*captured.capture->graph, type, captured.last, std::move(work));
  captured.last = {node};
  return node;
}

/// Returns whether all nodes happen before the last ones of the origin.
bool is_joined(const CUgraph_st& graph, const Nodes& last) {
  return std::ranges::all_of(graph.nodes, [&](const auto& node) {
    const bool has_follower = std::ranges::any_of(graph.nodes, [&](const auto& other) {
      return std::ranges::find(other->after, node.get()) != other->after.end();
    });
    return has_follower || std::ranges::find(last, node.get()) != last.end();
  });
}

void forget(const std::shared_ptr<Capture>& capture) {
  std::erase_if(state().streams, [&](const auto& each) { return each.second.capture == capture; });
  std::erase_if(state().events, [&](const auto& each) { return each.second.capture == capture; });
  --state().active;
}

}  // namespace

namespace runtime {

cudaError_t submit(cudaStream_t stream, cudaGraphNodeType type, StreamWork work) {
  if (is_capturing(stream)) {
    std::lock_guard lock(state().mutex);
    if (add(stream, type, std::move(work)) != nullptr) return cudaSuccess;
    return set_last_error(cudaErrorStreamCaptureInvalidated);
  }
  if (const cudaError_t error = implicit_use_error(stream); error != cudaSuccess) return set_last_error(error);
  on_stream(stream);
  return work(stream);
}

bool is_capturing(cudaStream_t stream) noexcept {
  if (state().active == 0) return false;
  std::lock_guard lock(state().mutex);
  return state().streams.contains(stream);
}

bool is_captured(cudaEvent_t event) noexcept {
  if (state().active == 0) return false;
  std::lock_guard lock(state().mutex);
  return state().events.contains(event);
}

cudaError_t capture_kernel(cudaStream_t stream, const KernelCall& call, const LaunchShape& shape,
                           LaunchFunction launch) {
  auto kernel = std::make_shared<const StoredKernel>(call, shape, launch);
  std::lock_guard lock(state().mutex);
  CUgraphNode_st* const node =
      add(stream, cudaGraphNodeTypeKernel, [kernel](cudaStream_t runs_in) { return kernel->run(runs_in); });
  if (node == nullptr) return set_last_error(cudaErrorStreamCaptureInvalidated);
  set_kernel(*node, std::move(kernel));
  return cudaSuccess;
}

bool capture_record(cudaEvent_t event, cudaStream_t stream) noexcept {
  if (state().active == 0) return false;
  std::lock_guard lock(state().mutex);
  const auto at = state().streams.find(stream);
  if (at == state().streams.end()) {
    state().events.erase(event);
    return false;
  }
  state().events[event] = at->second;
  return true;
}

cudaError_t capture_wait(cudaStream_t stream, cudaEvent_t event) noexcept {
  std::lock_guard lock(state().mutex);
  const Captured& from = state().events.at(event);
  const auto [at, is_new] = state().streams.try_emplace(stream, from);
  if (is_new) return cudaSuccess;
  if (at->second.capture != from.capture) {
    at->second.capture->invalid = from.capture->invalid = true;
    return set_last_error(cudaErrorStreamCaptureMerge);
  }
  merge(at->second.last, from.last);
  return cudaSuccess;
}

cudaError_t invalidate_capture(cudaStream_t stream) noexcept {
  std::lock_guard lock(state().mutex);
  if (const auto at = state().streams.find(stream); at != state().streams.end()) at->second.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t implicit_use_error(cudaStream_t stream) noexcept {
  if (state().active == 0 || reinterpret_cast<uintptr_t>(stream) > 1) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  std::lock_guard lock(state().mutex);
  for (auto& [captured, each] : state().streams) {
    if (!each.capture->blocking) continue;
    each.capture->invalid = true;
    error = cudaErrorStreamCaptureImplicit;
  }
  return error;
}

cudaError_t synchronize_error() noexcept {
  if (state().active == 0) return cudaSuccess;
  std::lock_guard lock(state().mutex);
  for (auto& [captured, each] : state().streams) each.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

}  // namespace runtime

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) noexcept {
  if (reinterpret_cast<uintptr_t>(stream) <= 1) return runtime::set_last_error(cudaErrorStreamCaptureUnsupported);
  if (runtime::is_capturing(stream)) return runtime::set_last_error(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->blocking = runtime::is_blocking(stream);
  std::lock_guard lock(state().mutex);
  capture->id = ++state().captures;
  state().streams[stream] = {std::move(capture), {}};
  ++state().active;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) noexcept {
  if (graph == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  *graph = nullptr;
  std::lock_guard lock(state().mutex);
  const auto at = state().streams.find(stream);
  if (at == state().streams.end()) return runtime::set_last_error(cudaErrorIllegalState);
  const std::shared_ptr<Capture> capture = at->second.capture;
  if (capture->origin != stream) {
    capture->invalid = true;
    return runtime::set_last_error(cudaErrorStreamCaptureUnmatched);
  }
  const bool joined = is_joined(*capture->graph, at->second.last);
  forget(capture);
  if (capture->invalid) return runtime::set_last_error(cudaErrorStreamCaptureInvalidated);
  if (!joined) return runtime::set_last_error(cudaErrorStreamCaptureUnjoined);
  *graph = capture->graph.release();
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) noexcept {
  return cudaStreamGetCaptureInfo(stream, status, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) noexcept {
  if (status == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  std::lock_guard lock(state().mutex);
  const auto at = state().streams.find(stream);
  *status = cudaStreamCaptureStatusNone;
  if (at == state().streams.end()) return cudaSuccess;
  *status = at->second.capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  if (id != nullptr) *id = at->second.capture->id;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) noexcept {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  if (mode == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  *mode = std::exchange(current, *mode);
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
