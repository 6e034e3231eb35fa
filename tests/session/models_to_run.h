#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/cpu.h"
#include "convlab/session/ready_model.h"
#include "tests/support/graph_builder.h"

namespace convlab {

// Devices, a network and images for the tests of ReadyModel.

using Devices = std::vector<std::unique_ptr<Device>>;

/// The host's CPU as a device with its own name. As DeviceKind::cuda it receives images in chunks, as a GPU does.
class NamedDevice final : public Device {
 public:
  explicit NamedDevice(std::string name, int64_t memory_bytes = int64_t{1} << 30, DeviceKind kind = DeviceKind::cpu)
      : host_(open_cpu({.threads = 1})) {
    caps_ = host_->caps();
    caps_.kind = kind;
    caps_.name = std::move(name);
    caps_.memory_bytes = memory_bytes;
  }
  const DeviceCaps& caps() const override { return caps_; }
  Buffer allocate(size_t bytes) override {
    ++allocations;
    return host_->allocate(bytes);
  }
  std::unique_ptr<Stream> make_stream() override { return host_->make_stream(); }

  int allocations = 0;

 private:
  std::unique_ptr<Device> host_;
  DeviceCaps caps_;
};

inline Devices hosts(size_t count) {
  Devices devices;
  for (size_t i = 0; i < count; ++i) devices.push_back(std::make_unique<NamedDevice>(fmt::format("host:{}", i)));
  return devices;
}

inline GraphBuilder network() {
  GraphBuilder builder({-1, 1, 12, 12});
  ValueId x = builder.conv(builder.input(), 4, 1, 5, true, "conv");
  x = builder.max_pool(builder.activation(x, ActivationKind::tanh, "tanh"), 2, "pool");
  x = builder.add(FlattenOp{}, {x}, "flatten");
  builder.add(GemmOp{}, {x, builder.constant({64, 10}), builder.constant({10})}, "dense");
  return builder;
}

inline Tensor images(const Shape& shape, ElementType type = ElementType::f32) {
  Rng rng(5);
  Tensor tensor(type, shape);
  if (type == ElementType::u8) {
    for (uint8_t& value : tensor.values<uint8_t>()) value = static_cast<uint8_t>(rng.integer(0, 255));
  } else {
    for (float& value : tensor.values<float>()) value = rng.uniform(-1, 1);
  }
  return tensor;
}

inline EngineOptions options_for(const Tensor& x, std::string kernel = "") {
  return {.plan = {.kernel = std::move(kernel), .input = x.type()}};
}

inline std::vector<float> run(ReadyModel& model, const Tensor& x, int64_t n) {
  std::vector<float> output(static_cast<size_t>(element_count(model.output_shapes(n)[0])), -7);
  model.run(x.raw(), n, output.data());
  return output;
}

inline std::vector<float> run_alone(const Graph& graph, Device& device, const Tensor& x, int64_t n,
                                    const EngineOptions& options) {
  Engine engine(graph.clone(), x.shape(), device, options);
  std::vector<float> output(static_cast<size_t>(element_count(engine.output_shape(n))), -7);
  engine.run(x.raw(), n, output.data());
  return output;
}

/// Counts observed steps.
class StepCounter final : public StageObserver {
 public:
  void begin(const Part& part) override { steps += part.stage == Stage::step; }
  void end() override {}
  int64_t steps = 0;
};

}  // namespace convlab
