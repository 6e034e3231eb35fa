#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "convlab/base/rng.h"
#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "tests/support/graph_builder.h"

namespace convlab {

/// Returns random images: values of [-1, 1), or pixels.
inline Tensor images(const Shape& shape, ElementType type = ElementType::f32, uint64_t seed = 5) {
  Rng rng(seed);
  Tensor tensor(type, shape);
  if (type == ElementType::u8) {
    for (uint8_t& value : tensor.values<uint8_t>()) value = static_cast<uint8_t>(rng.integer(0, 255));
  } else {
    for (float& value : tensor.values<float>()) value = rng.uniform(-1, 1);
  }
  return tensor;
}

/// Runs the graph once on the CPU.
inline Tensor run(const Graph& graph, const Tensor& x, EngineOptions options, int threads = 2) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  options.plan.input = x.type();
  return Engine(copy_of(graph), x.shape(), *device, options).run(x);
}

/// Whether shapes and bits are equal.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Expects ||got - expected|| <= limit * ||expected||; fails on NaN.
inline void expect_close(const Tensor& got, const Tensor& expected, double limit) {
  ASSERT_EQ(got.shape(), expected.shape());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < static_cast<size_t>(got.count()); ++i) {
    const double a = got.values<float>()[i], b = expected.values<float>()[i];
    difference += (a - b) * (a - b);
    norm += b * b;
  }
  EXPECT_TRUE(std::sqrt(difference) <= limit * std::sqrt(norm)) << std::sqrt(difference) << " of " << std::sqrt(norm);
}

/// Two convolutions with tanh and a pool, and two dense layers.
inline GraphBuilder course_network() {
  GraphBuilder builder({-1, 1, 20, 20});
  ValueId x = builder.conv(builder.input(), 4, 1, 5, true, "conv1");
  x = builder.activation(x, ActivationKind::tanh, "tanh1");
  x = builder.max_pool(x, 2, "pool1");
  x = builder.conv(x, 6, 4, 5, false, "conv2");
  x = builder.add(FlattenOp{}, {x}, "flatten");
  x = builder.add(GemmOp{}, {x, builder.constant({96, 16}), builder.constant({16})}, "fc1");
  x = builder.activation(x, ActivationKind::tanh, "tanh2");
  x = builder.add(GemmOp{}, {x, builder.constant({16, 10}), builder.constant({10})}, "fc2");
  return builder;
}

}  // namespace convlab
