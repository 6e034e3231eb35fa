// Tests cpu.nchw16n_dense_strassen: its error bound, and images and weights that must not be coupled.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/kernels/select.h"
#include "convlab/tensor/format.h"
#include "tests/support/dense_layers.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

class DenseStrassen : public testing::TestWithParam<int64_t> {
 protected:
  ForcedTarget forced_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Cpu, DenseStrassen, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

/// A layer with its row-major images and its weights, [output][K index].
struct Layer {
  Layer(int64_t images, int64_t outputs, int64_t terms)
      : n(images),
        m(outputs),
        k(terms),
        x(random_values(images * terms, 1)),
        w(random_values(outputs * terms, 2)),
        bias(random_values(outputs, 3)) {}

  Step step() const { return dense_step(GemmOp{.transpose_b = true}, {{n, k}, {m, k}, {m}}, {n, m}, kNchw16n); }

  float* image(int64_t i) { return x.data() + i * k; }
  float* row(int64_t j) { return w.data() + j * k; }

  /// Returns the output, row-major.
  std::vector<float> run(std::string_view kernel, int threads = 2) const {
    const Tensor lanes = pack(Tensor::of<float>({n, k}, x), kNchw16n);
    const auto pixels = lanes.values<float>();
    return run_dense(kernel_named(kernel), step(), {{pixels.begin(), pixels.end()}, w, bias}, threads);
  }

  std::vector<float> output() const { return run("cpu.nchw16n_dense_strassen"); }
  std::vector<float> direct() const { return run("cpu.nchw16n_dense"); }

  int64_t n, m, k;
  std::vector<float> x, w, bias;
};

float largest(const float* values, int64_t count) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
  return most;
}

struct Errors {
  double largest_of_bound = 0;  ///< the largest error, as a fraction of the bound
  double mean_square = 0;       ///< root mean square error
};

/// Returns the errors of all outputs, except those of the images `left_out`, against the bound at the top of the
/// kernel's file. The kernel couples images 32 i + l and 32 i + 16 + l, and outputs j and j + m / 2.
Errors errors_of(Layer& layer, const std::vector<float>& y, const std::vector<int64_t>& left_out = {}) {
  const int64_t n = layer.n, m = layer.m, k = layer.k;
  std::vector<float> of_images, of_rows;
  for (int64_t i = 0; i < n; ++i) of_images.push_back(largest(layer.image(i), k));
  for (int64_t j = 0; j < m; ++j) of_rows.push_back(largest(layer.row(j), k));
  Errors errors;
  for (int64_t i = 0; i < n; ++i) {
    if (std::find(left_out.begin(), left_out.end(), i) != left_out.end()) continue;
    for (int64_t j = 0; j < m; ++j) {
      double sum = layer.bias[j];
      for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(layer.image(i)[l]) * layer.row(j)[l];
      const int64_t partner = i ^ 16;
      const double x = std::max(of_images[i], partner < n ? of_images[partner] : 0);
      const double w = std::max(of_rows[j], of_rows[(j + m / 2) % m]);
      const double bound = 9 * (136 + k / 256.0) * k * w * x * 0x1p-24 + std::fabs(sum) * 0x1p-24;
      const double error = y[i * m + j] - sum;
      EXPECT_TRUE(std::fabs(error) <= bound) << "image " << i << ", output " << j << ": " << y[i * m + j];
      errors.largest_of_bound = std::max(errors.largest_of_bound, std::fabs(error) / bound);
      errors.mean_square += error * error / static_cast<double>(n * m);
    }
  }
  errors.mean_square = std::sqrt(errors.mean_square);
  return errors;
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST_P(DenseStrassen, IsRightWithinItsBound) {
  for (const auto& [n, m, k] : {std::array<int64_t, 3>{1, 2, 256},
                                {16, 10, 512},
                                {17, 8, 257},
                                {40, 34, 511},
                                {96, 26, 700},
                                {130, 6, 1023},
                                {209, 98, 896}}) {
    Layer layer(n, m, k);
    const Errors errors = errors_of(layer, layer.output()), direct = errors_of(layer, layer.direct());
    EXPECT_LE(errors.mean_square, 4 * direct.mean_square) << n << " " << m << " " << k;
  }
}

TEST_P(DenseStrassen, SameBitsWhateverTheThreadsAndTheOrder) {
  const Layer layer(500, 42, 600);
  const std::vector<float> one = layer.run("cpu.nchw16n_dense_strassen", 1);
  for (const int threads : {2, 3, 16}) EXPECT_EQ(layer.run("cpu.nchw16n_dense_strassen", threads), one) << threads;
  Step step = layer.step();
  step.outputs[0].format = kNchw16n;
  const Tensor lanes = pack(Tensor::of<float>({layer.n, layer.k}, layer.x), kNchw16n);
  const auto pixels = lanes.values<float>();
  const std::vector<std::vector<float>> values{{pixels.begin(), pixels.end()}, layer.w, layer.bias};
  EXPECT_EQ(unpack(run_dense(kernel_named("cpu.nchw16n_dense_strassen"), step, values, 2).data(), step.outputs[0].shape,
                   kNchw16n),
            one);
}

TEST_P(DenseStrassen, TakesAllThatADenseLayerHas) {
  constexpr int64_t kImages = 70, kOutputs = 20, kTerms = 520;
  const Tensor lanes = pack(Tensor::of<float>({kImages, kTerms}, random_values(kImages * kTerms, 1)), kNchw16n);
  const auto pixels = lanes.values<float>();
  for (const Shape& addend : {Shape{kOutputs}, Shape{1}, Shape{}}) {
    Step step = dense_step(GemmOp{.alpha = 0.05f}, {{kImages, kTerms}, {kTerms, kOutputs}, addend}, {kImages, kOutputs},
                           kNchw16n);
    step.epilogue.activation = {ActivationKind::tanh};
    const std::vector<std::vector<float>> values{
        {pixels.begin(), pixels.end()}, random_values(kTerms * kOutputs, 2), random_values(element_count(addend), 3)};
    const std::vector<float> y = run_dense(kernel_named("cpu.nchw16n_dense_strassen"), step, values, 2);
    const std::vector<float> direct = run_dense(kernel_named("cpu.nchw16n_dense"), step, values, 2);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_TRUE(std::fabs(y[i] - direct[i]) <= 3e-6) << i;
  }
}

/// If images must not be coupled, the couple's blocks have the bits of the direct computation, and all others do not
/// change.
TEST_P(DenseStrassen, UnequalImagesAreComputedDirectly) {
  constexpr int64_t kChanged = 40;  // coupled with 56: blocks 2 and 3
  const Layer layer(200, 12, 530);
  const std::vector<float> usual = layer.output();
  for (const float factor : {1e6f, 1e-6f, 8.2f, 1e30f, NAN, INFINITY}) {
    for (const bool one_pixel : {false, true}) {
      Layer changed = layer;
      if (one_pixel && factor < 1) continue;
      for (int64_t l = 0; l < layer.k; ++l) {
        if (!one_pixel || l == 529) changed.image(kChanged)[l] *= factor;
      }
      const std::vector<float> y = changed.output(), direct = changed.direct();
      // The K remainder is not coupled, so its magnitude does not matter; and it is in no other image's sum.
      const bool coupled = one_pixel;
      for (int64_t i = 0; i < layer.n * layer.m; ++i) {
        const int64_t image = i / layer.m;
        if (image == kChanged && one_pixel && !std::isfinite(factor)) {
          ASSERT_FALSE(std::isfinite(y[i])) << factor;
        } else if (image == kChanged && one_pixel) {
          continue;
        } else if (image / 32 == kChanged / 32 && !coupled) {
          ASSERT_TRUE(same(y[i], direct[i])) << factor << " " << image;
        } else {
          ASSERT_EQ(y[i], usual[i]) << factor << " " << image;
        }
      }
    }
  }
}

TEST_P(DenseStrassen, OnePixelIsEnoughToTellImagesApart) {
  constexpr int64_t kChanged = 20;  // coupled with 4
  const Layer layer(64, 12, 512);
  for (const int64_t term : {0, 130, 255, 256, 400, 511}) {
    for (const float value : {1e6f, NAN, INFINITY}) {
      Layer changed = layer;
      changed.image(kChanged)[term] = value;
      const std::vector<float> y = changed.output(), direct = changed.direct();
      for (int64_t i = 0; i < 32 * layer.m; ++i) {
        ASSERT_TRUE(same(y[i], direct[i])) << term << " " << value;
      }
    }
  }
}

TEST_P(DenseStrassen, ImagesOfZerosGiveTheBiasBesideAnyOther) {
  const Layer usual(96, 12, 512);
  for (const int64_t zero : {3, 25, 70}) {
    Layer layer = usual;
    std::fill_n(layer.image(zero), layer.k, -0.0f);
    const std::vector<float> y = layer.output();
    for (int64_t j = 0; j < layer.m; ++j) ASSERT_EQ(y[zero * layer.m + j], layer.bias[j]);
    errors_of(layer, y);
    EXPECT_NE(y, layer.direct()) << "it need not be direct";
  }
}

TEST_P(DenseStrassen, WeightsThatMustNotBeCoupledAreMultipliedDirectly) {
  const Layer layer(64, 12, 520);
  for (const float factor : {1e6f, 1e-6f, 0.0f, NAN, INFINITY}) {
    Layer changed = layer;
    for (int64_t l = 0; l < layer.k; ++l) changed.row(8)[l] *= factor;
    const std::vector<float> y = changed.output(), direct = changed.direct();
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_TRUE(same(y[i], direct[i])) << factor << " " << i;
    }
  }
}

TEST(DenseStrassenPlan, IsTakenWhereItPays) {
  const auto chosen = [](int64_t n, int64_t m, int64_t k, Format format = kNchw16n) {
    const Step step = dense_step(GemmOp{}, {{n, k}, {k, m}, {m}}, {n, m}, format);
    return choose_kernel(step, {.kind = DeviceKind::cpu}).info.name;
  };
  EXPECT_EQ(chosen(1000, 500, 7200), "cpu.nchw16n_dense_strassen");
  EXPECT_EQ(chosen(500, 160, 20184), "cpu.nchw16n_dense_strassen");
  EXPECT_EQ(chosen(1000, 10, 500), "cpu.nchw16n_dense") << "few outputs";
  EXPECT_EQ(chosen(1000, 500, 300), "cpu.nchw16n_dense") << "few terms";
  EXPECT_EQ(chosen(200, 500, 7200), "cpu.nchw16n_dense") << "few images";
  EXPECT_EQ(chosen(1000, 501, 7200), "cpu.nchw16n_dense") << "an odd number of outputs";
  EXPECT_EQ(chosen(1000, 500, 7200, kNchw), "cpu.dense");
}

}  // namespace
}  // namespace convlab
