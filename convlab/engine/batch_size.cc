// Chooses how many images an engine computes together.

#include "convlab/engine/batch_size.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/plan/kept_formats.h"
#include "convlab/plan/planner.h"

namespace convlab {
namespace {

/// The arena of a batch on a CPU: large enough that weights read once serve many images, small compared with any
/// machine's memory. CPU time of fa19 on two threads by batch size: 128 images 100 %, 256 90 %, 512 85 %, 1000 84 %;
/// fa18's falls by 5 %.
constexpr int64_t kHostArenaBytes = int64_t{128} << 20;
constexpr int64_t kMostHostImages = 1024;

/// Images that fill vector registers in nchw16n.
constexpr int64_t kBatchStep = kImageLanes;

/// Bytes that a CPU's last-level cache surely keeps between steps. MobileNet v2, 16 images, two threads that share
/// 32 MiB: 37 ms in one batch, 29 ms in batches of two.
constexpr int64_t kCachedArenaBytes = int64_t{16} << 20;

Plan plan_of(const Graph& graph, Shape input, int64_t images, const DeviceCaps& caps, const PlanOptions& options) {
  input[0] = images;
  return make_plan(graph, input, caps, options);
}

bool writes_nhwc(const PlanStep& step) { return step.is_conv() && step.what.outputs[0].format.order == Order::nhwc; }

/// Returns the bytes of the weights as kernels read them. CPU plans in nhwc read bf16 weights, and plans on uint8
/// values read 8-bit weights, although the graph has float32.
int64_t weight_bytes(const Graph& graph, const Plan& plan) {
  int64_t elements = 0;
  for (const auto& [value, tensor] : graph.constants) elements += tensor.count();
  const bool bf16 = std::ranges::any_of(plan.steps, writes_nhwc);
  return elements * (has_bytes(graph) ? 1 : bf16 ? 2 : 4);
}

/// Returns the bytes that a plan's steps write, times two, because each output is read once.
int64_t written_and_read(const Plan& plan) {
  int64_t bytes = 0;
  for (const PlanStep& step : plan.steps) {
    bytes += byte_count(step.what.outputs[0].shape, step.what.outputs[0].format);
  }
  return 2 * bytes;
}

/// Returns the batch size, at most that of the plan `most`, with the least memory traffic per image: small batches keep
/// arrays in the cache, large ones read the weights for many images at a time.
int64_t least_traffic_batch(const Graph& graph, const Plan& most, const DeviceCaps& caps, const PlanOptions& options) {
  const int64_t weights = weight_bytes(graph, most);
  const auto traffic = [weights](const Plan& plan, int64_t images) {
    const int64_t moved = plan.arena_bytes <= kCachedArenaBytes ? 0 : written_and_read(plan);
    return static_cast<double>(weights + moved) / static_cast<double>(images);
  };
  const Shape& input = most.inputs[0];
  int64_t best = input[0];
  double least = traffic(most, best);
  for (int64_t images = best / 2; images > 0; images /= 2) {
    const double bytes = traffic(plan_of(graph, input, images, caps, options), images);
    if (bytes >= least) continue;
    best = images;
    least = bytes;
  }
  return best;
}

}  // namespace

int64_t run_bytes(const Plan& plan) {
  int64_t bytes = plan.arena_bytes;
  for (const Shape& input : plan.inputs) {
    bytes = checked_add(bytes, byte_count(input, {Order::nchw, plan.options.input}));
  }
  for (const Shape& output : plan.outputs) bytes = checked_add(bytes, byte_count(output, kNchw));
  return bytes;
}

int64_t choose_batch(const Graph& graph, const Shape& input, const DeviceCaps& caps, const PlanOptions& options) {
  const bool host = caps.runs_on_host();
  const int64_t limit = host ? kHostArenaBytes : caps.memory_bytes / 2;
  const auto fits = [&](const Plan& plan) { return (host ? plan.arena_bytes : run_bytes(plan)) <= limit; };
  const int64_t images = input[0];
  int64_t batch = host ? std::min(images, kMostHostImages) : images;
  if (batch == 1) return batch;
  Plan plan = plan_of(graph, input, batch, caps, options);
  while (batch > 1 && !fits(plan)) {
    batch = ceil_div(batch, 2);
    if (batch > kBatchStep) batch = round_up(batch, kBatchStep);
    plan = plan_of(graph, input, batch, caps, options);
  }
  // Steps of these plans are limited by memory bandwidth, so it pays to keep their arrays in the cache.
  if (host && (plan.channel_lanes || has_bytes(graph))) return least_traffic_batch(graph, plan, caps, options);
  // The same number of batches, but of equal size, so that the last one is not small.
  const int64_t even = ceil_div(images, ceil_div(images, batch));
  return std::min(batch, round_up(even, kBatchStep));
}

}  // namespace convlab
