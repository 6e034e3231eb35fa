// Tests the GPU's dense layers on the host (simt) against a reference in double: odd sizes, all layouts, and values
// outside fp16's range. Outputs and workspaces are filled with NaN first.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "convlab/base/half.h"
#include "convlab/base/rng.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/registry.h"
#include "tests/support/dense_layers.h"

namespace convlab {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  Shape input;  // n and the K dimension, perhaps as several dimensions
  int64_t columns;
  GemmOp op;
  Shape addend;  // empty: none
  ActivationKind activation = ActivationKind::none;

  int64_t rows() const { return input[0]; }
  int64_t terms() const { return element_count(input) / input[0]; }
};

std::vector<float> random(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = rng.uniform(-1, 1);
  return values;
}

/// A case with its values; runs a kernel by name.
struct Dense {
  Case shape;
  std::vector<float> a, b, c;

  explicit Dense(const Case& of) : shape(of) {
    a = random(of.rows() * of.terms(), 1);
    b = random(of.terms() * of.columns, 2);
    c = random(of.addend.empty() ? 0 : element_count(of.addend), 3);
  }

  float weight(int64_t term, int64_t column) const {
    return shape.op.transpose_b ? b[term + column * shape.terms()] : b[term * shape.columns + column];
  }

  Step step(Format format) const {
    const Shape b = shape.op.transpose_b ? Shape{shape.columns, shape.terms()} : Shape{shape.terms(), shape.columns};
    Step step = dense_step(shape.op, {{shape.rows(), shape.terms()}, b}, {shape.rows(), shape.columns}, format);
    if (!shape.addend.empty()) step.inputs.push_back({.shape = shape.addend, .constant = true});
    if (format.order != Order::nchw) step.inputs[0].written = shape.input;
    step.epilogue.activation = {shape.activation};
    return step;
  }

  /// Returns A in nchw8c float16, built from the layout's definition.
  std::vector<uint16_t> blocks() const {
    const int64_t stride = element_count(shape.input, kNchw8cF16) / shape.input[0], channels = shape.input[1];
    const int64_t pixels = shape.terms() / channels;
    std::vector<uint16_t> halves(static_cast<size_t>(shape.rows() * stride), 0);
    for (int64_t n = 0; n < shape.rows(); ++n) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        const int64_t first = channel / 8 * 8, width = channels - first <= 4 ? 4 : 8;
        for (int64_t pixel = 0; pixel < pixels; ++pixel) {
          halves[n * stride + first * pixels + pixel * width + channel - first] =
              float_to_half(a[n * shape.terms() + channel * pixels + pixel]);
        }
      }
    }
    return halves;
  }

  std::vector<float> run(std::string_view name, Format format = kNchw) const {
    const Kernel* kernel = nullptr;
    for (const Kernel& each : kernels()) {
      if (each.info.name == name && each.info.device == DeviceKind::simt) kernel = &each;
    }
    if (kernel == nullptr) throw std::runtime_error("no kernel " + std::string(name));
    const Step step = this->step(format);
    if (const Refusal refusal = kernel->refuses(step, {})) throw std::runtime_error(*refusal);
    const std::unique_ptr<Device> device = open_simt({});
    const std::unique_ptr<Stream> stream = device->make_stream();
    std::vector<Buffer> buffers;
    const auto place = [&](const void* from, size_t bytes) {
      buffers.push_back(device->allocate(bytes));
      if (from != nullptr) stream->upload(buffers.back().data(), from, bytes);
      if (from == nullptr) stream->fill(buffers.back().data(), 0xff, bytes);
      return static_cast<float*>(buffers.back().data());
    };
    const std::vector<uint16_t> halves = format.order == Order::nchw ? std::vector<uint16_t>() : blocks();
    std::vector<const void*> inputs = {
        format.order == Order::nchw ? place(a.data(), a.size() * 4) : place(halves.data(), halves.size() * 2),
        place(b.data(), b.size() * 4)};
    if (!c.empty()) inputs.push_back(place(c.data(), c.size() * 4));
    std::vector<float> result(static_cast<size_t>(element_count(step.outputs[0].shape)));
    void* const output = place(nullptr, result.size() * 4);
    const Args args{step,
                    inputs,
                    {&output, 1},
                    place(nullptr, prepared_bytes(*kernel, step, device->caps())),
                    place(nullptr, workspace_bytes(*kernel, step, device->caps()))};
    if (kernel->prepare != nullptr) kernel->prepare(args, *stream);
    kernel->launch(args, *stream);
    stream->download(result.data(), output, result.size() * 4);
    stream->synchronize();
    return result;
  }

  /// Compares with the reference; `unit`: error of a product, relative to the sum of the products' magnitudes.
  void expect_right(const std::vector<float>& result, double unit) const {
    for (int64_t row = 0; row < shape.rows(); ++row) {
      for (int64_t column = 0; column < shape.columns; ++column) {
        double sum = 0, magnitude = 0;
        for (int64_t term = 0; term < shape.terms(); ++term) {
          const double product = static_cast<double>(a[row * shape.terms() + term]) * weight(term, column);
          sum += product;
          magnitude += std::abs(product);
        }
        double want = shape.op.alpha * sum;
        if (!c.empty()) {
          const bool scalar = c.size() == 1;
          const bool one_row = shape.addend.size() == 1 || shape.addend[0] == 1;
          const bool one_column = shape.addend.back() == 1;
          const int64_t width = one_column ? 1 : shape.columns;
          want += shape.op.beta * c[scalar ? 0 : (one_row ? 0 : row * width) + (one_column ? 0 : column)];
        }
        if (shape.activation == ActivationKind::tanh) want = std::tanh(want);
        const float got = result[row * shape.columns + column];
        const std::string where = "row " + std::to_string(row) + ", column " + std::to_string(column);
        if (!std::isfinite(want)) {
          EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << where << ": " << got << ", " << want;
        } else if (std::abs(want) > std::numeric_limits<float>::max()) {
          EXPECT_FALSE(std::isfinite(got)) << where << ": " << got << ", " << want;
        } else {
          EXPECT_LE(std::abs(got - want), unit * (std::abs(shape.op.alpha) * magnitude + 1)) << where;
        }
      }
    }
  }
};

constexpr double kHalves = 0x1p-9, kSplit = 0x1p-21, kFloats = 0x1p-19;  // kFloats: for fp32 sums of 400 products

class CudaDense : public testing::Test {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << "this build has no --device simt";
  }
};

std::vector<Case> odd_cases() {
  return {
      {.input = {1, 1}, .columns = 1},
      {.input = {1, 37}, .columns = 3, .op = {.transpose_b = true}, .addend = {3}},
      {.input = {5, 65}, .columns = 17, .op = {.alpha = 0.5f, .beta = -2}, .addend = {5, 17}},
      {.input = {67, 12, 3, 3},
       .columns = 9,
       .op = {.transpose_b = true},
       .addend = {9},
       .activation = ActivationKind::tanh},
      {.input = {3, 7, 5, 2}, .columns = 161, .op = {.transpose_b = true}, .addend = {1, 161}},
      {.input = {2, 21, 7, 5}, .columns = 10, .addend = {2, 1}},
      {.input = {300, 13}, .columns = 11, .op = {.transpose_b = true}, .addend = {1}},
  };
}

TEST_F(CudaDense, HalvesAreRightForOddSizes) {
  for (const Case& each : odd_cases()) {
    const Dense dense(each);
    SCOPED_TRACE(to_text(each.input));
    dense.expect_right(dense.run("cuda.dense_fp16", kNchw8cF16), kHalves);
  }
}

TEST_F(CudaDense, SplitHalvesAreRightForOddSizes) {
  for (const Case& each : odd_cases()) {
    const Dense dense(each);
    SCOPED_TRACE(to_text(each.input));
    dense.expect_right(dense.run("cuda.dense_3xfp16"), kSplit);
  }
}

TEST_F(CudaDense, FewColumnsAreRightForOddSizes) {
  for (const Case& each : odd_cases()) {
    if (each.columns > 16) continue;
    const Dense dense(each);
    SCOPED_TRACE(to_text(each.input));
    dense.expect_right(dense.run("cuda.dense_narrow"), kFloats);
  }
}

TEST_F(CudaDense, ManyColumnsAreRightForFewRowsAndMany) {
  for (const int64_t rows : {1, 2, 3, 4, 9}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(rows);
      const Dense dense({.input = {rows, rows == 1 ? 2056 : 136},
                         .columns = 515,
                         .op = {.transpose_b = transposed},
                         .addend = transposed ? Shape{515} : Shape{},
                         .activation = transposed ? ActivationKind::tanh : ActivationKind::none});
      dense.expect_right(dense.run("cuda.nhwc_igemm_dense"), kHalves);
      if (rows <= 4) dense.expect_right(dense.run("cuda.nhwc_dense"), kHalves);
    }
  }
  EXPECT_THROW(Dense({.input = {5, 8}, .columns = 512}).run("cuda.nhwc_dense"), std::runtime_error);
  EXPECT_THROW(Dense({.input = {1, 12}, .columns = 512}).run("cuda.nhwc_dense"), std::runtime_error);
}

TEST_F(CudaDense, SmallIntegersAreExact) {
  Dense dense({.input = {9, 5, 3, 7}, .columns = 12, .op = {.transpose_b = true}});
  for (float& value : dense.a) value = std::round(value * 7);
  for (float& value : dense.b) value = std::round(value * 7);
  dense.expect_right(dense.run("cuda.dense_fp16", kNchw8cF16), 0);
  dense.expect_right(dense.run("cuda.dense_3xfp16"), 0);
  dense.expect_right(dense.run("cuda.dense_narrow"), 0);
}

TEST_F(CudaDense, ANanStaysInItsRow) {
  Dense dense({.input = {20, 11, 2, 2}, .columns = 13, .op = {.transpose_b = true}});
  dense.a[7 * 44 + 43] = kNan;
  dense.a[9 * 44] = kInfinity;
  dense.expect_right(dense.run("cuda.dense_fp16", kNchw8cF16), kHalves);
  dense.expect_right(dense.run("cuda.dense_3xfp16"), kSplit);
  dense.expect_right(dense.run("cuda.dense_narrow"), kFloats);
}

TEST_F(CudaDense, SplitHalvesAreRightWhateverTheRange) {
  Dense dense({.input = {12, 70}, .columns = 9, .op = {.transpose_b = true}});
  const auto row = [&](int64_t at, float factor) {
    for (int64_t i = 0; i < 70; ++i) dense.a[at * 70 + i] *= factor;
  };
  row(0, 1e30f);
  row(1, 1e-20f);
  row(2, 1e-39f);
  row(3, 1e38f);
  dense.a[4 * 70 + 3] = 1e30f;  // next to numbers around 1
  dense.b[2 * 70 + 3] = 0;      // and where its weight is 0
  dense.a[5 * 70 + 69] = 1e-30f;
  row(6, 0);
  for (int64_t i = 0; i < 70; ++i) dense.b[4 * 70 + i] *= 1e-38f;
  for (int64_t i = 0; i < 70; ++i) dense.b[5 * 70 + i] *= 1e25f;
  dense.b[6 * 70 + 8] = kInfinity;
  dense.b[7 * 70 + 8] = kNan;
  dense.expect_right(dense.run("cuda.dense_3xfp16"), kSplit);
}

TEST_F(CudaDense, WeightsOfAnySizeAreScaledIntoHalves) {
  Dense dense({.input = {4, 30}, .columns = 6, .op = {.transpose_b = true}});
  for (int64_t i = 0; i < 30; ++i) dense.b[30 + i] *= 1e-9f;
  for (int64_t i = 0; i < 30; ++i) dense.b[60 + i] *= 1e9f;
  const std::vector<float> result = dense.run("cuda.dense_fp16", kNchw8cF16);
  for (int64_t column = 1; column < 3; ++column) {
    for (int64_t row = 0; row < 4; ++row) {
      double sum = 0, magnitude = 0;
      for (int64_t term = 0; term < 30; ++term) {
        const double product = static_cast<double>(dense.a[row * 30 + term]) * dense.weight(term, column);
        sum += product;
        magnitude += std::abs(product);
      }
      EXPECT_LE(std::abs(result[row * 6 + column] - sum), kHalves * magnitude);
    }
  }
}

TEST_F(CudaDense, WhatIsNotComputedIsRefused) {
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.device != DeviceKind::simt || !kernel.info.name.starts_with("cuda.dense_")) continue;
    SCOPED_TRACE(kernel.info.name);
    const bool wide = kernel.info.name == "cuda.nhwc_dense";
    const Dense dense({.input = {4, wide ? 32 : 30}, .columns = wide ? 512 : 6});
    const Format format = kernel.format;
    EXPECT_FALSE(kernel.refuses(dense.step(format), {}));
    Step transposed = dense.step(format);
    transposed.inputs[0].shape = {30, 4};
    std::get<GemmOp>(transposed.op).transpose_a = true;
    EXPECT_TRUE(kernel.refuses(transposed, {}));
    Step other = dense.step(format);
    other.op = MatMulOp{};
    EXPECT_TRUE(kernel.refuses(other, {}));
    if (kernel.prepare == nullptr) continue;
    Step variable = dense.step(format);
    variable.inputs[1].constant = false;
    EXPECT_TRUE(kernel.refuses(variable, {}));
  }
}

}  // namespace
}  // namespace convlab
