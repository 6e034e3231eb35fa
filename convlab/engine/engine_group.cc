// Runs a graph on several devices at once, each with its own engine and share of the images.

#include "convlab/engine/engine_group.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/engine/plan_facts.h"

namespace convlab {

std::vector<int64_t> shares_of(int64_t images, size_t devices) {
  constexpr int64_t kWhole = 16;  // images in nchw16n lanes on CPUs and in tiles on GPUs
  const int64_t count = std::clamp<int64_t>(images, 1, static_cast<int64_t>(devices));
  const int64_t unit = images >= count * kWhole ? kWhole : 1;
  const int64_t units = images / unit;
  std::vector<int64_t> shares;
  for (int64_t i = 0; i < count; ++i) shares.push_back((units / count + (i < units % count ? 1 : 0)) * unit);
  shares.back() += images % unit;
  return shares;
}

EngineGroup::EngineGroup(Graph graph, const Shape& input, const std::vector<std::unique_ptr<Device>>& devices,
                         const EngineOptions& options)
    : members_(shares_of(input.empty() ? 1 : input[0], devices.size()).size()),
      threads_(static_cast<int>(members_.size())) {
  for (size_t i = 0; i < members_.size(); ++i) members_[i].name = devices[i]->caps().name;
  if (members_.size() > 1) graph.share_elements();
  on_each(members_.size(), [&](size_t i) {
    Device& device = *devices[i];
    if (members_.size() == 1) {
      members_[i].engine = std::make_unique<Engine>(std::move(graph), input, device, options);
      return;
    }
    Shape share = input;
    share[0] = shares(input[0])[i];
    EngineOptions own = options;
    own.must_split = true;
    if (i > 0) own.observer = nullptr;
    members_[i].engine = std::make_unique<Engine>(graph.clone(), share, device, own);
  });
}

/// Calls work(i) for i in [0, count) concurrently, each on its own thread, and waits for all.
void EngineGroup::on_each(size_t count, const std::function<void(size_t)>& work) {
  threads_.on_each_thread(static_cast<int>(count), [&](int thread) {
    const auto i = static_cast<size_t>(thread);
    try {
      work(i);
    } catch (const Error& error) {
      if (members_.size() == 1 || error.kind() == ErrorKind::bad_input) throw;
      throw Error(error.kind(), fmt::format("{}: {}", members_[i].name, error.what()));
    }
  });
}

/// Calls work(i, share, images, output) for each device i that has a share.
template <class Work>
void EngineGroup::for_each_share(const void* images, int64_t n, float* output, Work work) {
  if (members_.size() == 1) return work(size_t{0}, Share{0, n}, images, output);
  const Plan& plan = first().plan();
  const int64_t image_bytes = bytes_of(plan.inputs[0], plan.options.input) / plan.inputs[0][0];
  const int64_t output_count = element_count(first().output_shape(n)) / n;
  const std::vector<int64_t> counts = shares(n);
  on_each(counts.size(), [&](size_t i) {
    const Share share{std::accumulate(counts.begin(), counts.begin() + static_cast<ptrdiff_t>(i), int64_t{0}),
                      counts[i]};
    work(i, share, static_cast<const unsigned char*>(images) + share.first * image_bytes,
         output + share.first * output_count);
  });
}

void EngineGroup::run(const void* images, int64_t n, float* output,
                      const std::function<void(int64_t, int64_t)>& finish) {
  for_each_share(images, n, output, [&](size_t i, const Share& share, const void* from, float* to) {
    members_[i].engine->run(from, share.count, to);
    if (finish) finish(share.first, share.count);
  });
}

std::vector<double> EngineGroup::run_timed(const void* images, int64_t n, float* output) {
  for (const Member& member : members_) {
    if (same_operators(first().plan(), member.engine->plan())) continue;
    throw unavailable("cannot time layers on {} and {} together: their plans differ; use one of them",
                      members_.front().name, member.name);
  }
  std::vector<double> slowest(first().plan().steps.size(), 0);
  std::vector<std::vector<double>> seconds(members_.size(), slowest);
  for_each_share(images, n, output, [&](size_t i, const Share& share, const void* from, float* to) {
    seconds[i] = members_[i].engine->run_timed(from, share.count, to);
  });
  for (const std::vector<double>& of_device : seconds) {
    for (size_t step = 0; step < slowest.size(); ++step) slowest[step] = std::max(slowest[step], of_device[step]);
  }
  return slowest;
}

double EngineGroup::time_on_device(const void* images, int64_t n, float* output) {
  std::vector<double> seconds(members_.size(), 0);
  for_each_share(images, n, output, [&](size_t i, const Share& share, const void* from, float* to) {
    seconds[i] = members_[i].engine->time_on_device(from, share.count, to);
  });
  return std::ranges::max(seconds);
}

}  // namespace convlab
