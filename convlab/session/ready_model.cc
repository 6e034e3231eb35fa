// Runs a model on one or several devices at once, each with its own engine and share of the images.

#include "convlab/session/ready_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/engine/plan_facts.h"

namespace convlab {
namespace {

std::vector<Device*> addresses_of(std::span<const std::unique_ptr<Device>> devices) {
  std::vector<Device*> addresses;
  for (const std::unique_ptr<Device>& device : devices) addresses.push_back(device.get());
  return addresses;
}

}  // namespace

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

ReadyModel::ReadyModel(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options)
    : ReadyModel(std::move(graph), inputs, std::vector<Device*>{&device}, options) {}

ReadyModel::ReadyModel(Graph graph, InputShapes inputs, std::span<const std::unique_ptr<Device>> devices,
                       const EngineOptions& options)
    : ReadyModel(std::move(graph), inputs, addresses_of(devices), options) {}

ReadyModel::ReadyModel(Graph graph, InputShapes inputs, const std::vector<Device*>& devices,
                       const EngineOptions& options)
    : members_(shares_of(images_of(inputs), devices.size()).size()), threads_(static_cast<int>(members_.size())) {
  for (const GraphOutput& each : graph.outputs)
    output_types_.push_back(is_real(each.type) ? ElementType::f32 : each.type);
  for (size_t i = 0; i < members_.size(); ++i) members_[i].device = devices[i];
  if (members_.size() == 1) {
    members_[0].engine = std::make_unique<Engine>(std::move(graph), inputs, *devices[0], options);
    return;
  }
  graph.share_elements();
  on_each(members_.size(), [&](size_t i) {
    std::vector<Shape> share = inputs.copy();
    share[0][0] = shares(images_of(inputs))[i];
    EngineOptions own = options;
    own.must_split = true;
    if (i > 0) own.observer = nullptr;
    members_[i].engine = std::make_unique<Engine>(graph.clone(), share, *devices[i], own);
  });
}

/// Calls work(i) for i in [0, count) concurrently, each on its own thread, and waits for all.
void ReadyModel::on_each(size_t count, const std::function<void(size_t)>& work) {
  threads_.on_each_thread(static_cast<int>(count), [&](int thread) {
    const auto i = static_cast<size_t>(thread);
    try {
      work(i);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::bad_input) throw;
      throw Error(error.kind(), fmt::format("{}: {}", members_[i].device->caps().name, error.what()));
    }
  });
}

/// Calls work(i, share, inputs, outputs) for each device i that has a share.
template <class Work>
void ReadyModel::for_each_share(InputArrays inputs, int64_t n, OutputArrays outputs, Work work) {
  if (members_.size() == 1) return work(size_t{0}, Share{0, n}, inputs, outputs);
  const int64_t image_bytes = bytes_of(plan().inputs[0], plan().options.input) / plan().inputs[0][0];
  const int64_t output_count = element_count(output_shapes(n)[0]) / n;
  const std::vector<int64_t> counts = shares(n);
  on_each(counts.size(), [&](size_t i) {
    const Share share{std::accumulate(counts.begin(), counts.begin() + static_cast<ptrdiff_t>(i), int64_t{0}),
                      counts[i]};
    const void* const from = static_cast<const unsigned char*>(inputs[0]) + share.first * image_bytes;
    void* const to = static_cast<float*>(outputs[0]) + share.first * output_count;
    work(i, share, InputArrays(from), OutputArrays(to));
  });
}

void ReadyModel::run(InputArrays inputs, int64_t n, OutputArrays outputs,
                     const std::function<void(int64_t, int64_t)>& finish) {
  for_each_share(inputs, n, outputs, [&](size_t i, const Share& share, InputArrays from, OutputArrays to) {
    members_[i].engine->run(from, share.count, to);
    if (finish) finish(share.first, share.count);
  });
}

std::vector<double> ReadyModel::run_timed(InputArrays inputs, int64_t n, OutputArrays outputs) {
  for (const Member& member : members_) {
    if (same_operators(plan(), member.engine->plan())) continue;
    throw unavailable("cannot time layers on {} and {} together: their plans differ; use one of them", caps().name,
                      member.device->caps().name);
  }
  std::vector<double> slowest(plan().steps.size(), 0);
  std::vector<std::vector<double>> seconds(members_.size(), slowest);
  for_each_share(inputs, n, outputs, [&](size_t i, const Share& share, InputArrays from, OutputArrays to) {
    seconds[i] = members_[i].engine->run_timed(from, share.count, to);
  });
  for (const std::vector<double>& of_device : seconds) {
    for (size_t step = 0; step < slowest.size(); ++step) slowest[step] = std::max(slowest[step], of_device[step]);
  }
  return slowest;
}

double ReadyModel::time_on_device(InputArrays inputs, int64_t n, OutputArrays outputs) {
  std::vector<double> seconds(members_.size(), 0);
  for_each_share(inputs, n, outputs, [&](size_t i, const Share& share, InputArrays from, OutputArrays to) {
    seconds[i] = members_[i].engine->time_on_device(from, share.count, to);
  });
  return std::ranges::max(seconds);
}

std::vector<Tensor> ReadyModel::run(std::span<const Tensor> inputs) {
  std::vector<Tensor> outputs = first().run(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (output_types_[i] != ElementType::f32) outputs[i] = converted(outputs[i], output_types_[i]);
  }
  return outputs;
}

std::vector<Tensor> ReadyModel::make_outputs(int64_t n) const {
  std::vector<Tensor> outputs;
  for (const Shape& shape : output_shapes(n)) outputs.emplace_back(ElementType::f32, shape);
  return outputs;
}

Buffer ReadyModel::page_lock(const void* memory, size_t bytes) const {
  return members_.front().device->page_lock(const_cast<void*>(memory), bytes);
}

}  // namespace convlab
