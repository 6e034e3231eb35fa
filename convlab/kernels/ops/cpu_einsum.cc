// cpu.einsum: computes sums of products over any dimensions. Two operands without repeated indices are
// multiplied as matrices, one product for each value of the indices that both operands and the output have. Other cases
// are summed element by element, in double.
// Threads: those of gemm(), or a work item is a range of outputs.
// Supports every case of its operator.
// Limited by fused multiply-adds, by rearranging operands, or by the latency of an addition per product.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/ops/strided_copy.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/einsum.h"

namespace convlab::cpu_einsum {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<EinsumOp>(step.op)) return "only Einsum is supported";
  return std::nullopt;
}

/// Returns an operand's stride along each index, in elements; 0 if it lacks the index or is broadcast along it.
std::vector<int64_t> strides_of(const Einsum& einsum, size_t operand, const Shape& shape) {
  std::vector<int64_t> strides(einsum.sizes.size(), 0);
  const std::vector<int64_t> dense = dense_strides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) strides[einsum.inputs[operand][d]] += dense[d];
  }
  return strides;
}

std::vector<int64_t> picked(const std::vector<int64_t>& values, const std::vector<size_t>& indices) {
  std::vector<int64_t> result;
  for (size_t index : indices) result.push_back(values[index]);
  return result;
}

/// The indices of a product of two operands, by their role in a matrix product. `fits` is false if it is not a matrix
/// product.
struct AsMatrices {
  bool fits = false;
  std::vector<size_t> batch, rows, columns, depth;
  int64_t products = 1, m = 1, n = 1, k = 1;
  int64_t packed = 0, scratch = 0;

  AsMatrices(const Einsum& einsum, const std::vector<Shape>& shapes) {
    if (einsum.inputs.size() != 2) return;
    for (size_t index = 0; index < einsum.sizes.size(); ++index) {
      const int64_t size = einsum.sizes[index];
      bool in[2];
      for (size_t i = 0; i < 2; ++i) {
        const auto& own = einsum.inputs[i];
        const auto place = std::ranges::find(own, index);
        in[i] = place != own.end();
        if (std::ranges::count(own, index) > 1) return;
        if (in[i] && shapes[i][static_cast<size_t>(place - own.begin())] != size) return;
      }
      const bool out = std::ranges::find(einsum.output, index) != einsum.output.end();
      if (!out && !(in[0] && in[1])) return;
      (out ? in[0] && in[1] ? batch : in[0] ? rows : columns : depth).push_back(index);
      (out ? in[0] && in[1] ? products : in[0] ? m : n : k) *= size;
    }
    constexpr int64_t kAlignment = 16;
    packed = round_up(packed_b_count(k, n), kAlignment);
    scratch = round_up(gemm_workspace_count(m, n, k), kAlignment);
    fits = true;
  }

  int64_t a_count() const { return checked_product({products, m, k}); }
  int64_t b_count() const { return checked_product({products, k, n}); }
  int64_t y_count() const { return checked_product({products, m, n}); }
};

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const std::vector<Shape> shapes = shapes_of(step.inputs);
  const AsMatrices as(einsum_of(std::get<EinsumOp>(step.op).equation, shapes), shapes);
  if (!as.fits) return 0;
  const int64_t count = as.packed + as.scratch + as.a_count() + as.b_count() + as.y_count();
  return static_cast<size_t>(checked_mul(count, sizeof(float)));
}

void multiply_matrices(const Einsum& einsum, const AsMatrices& as, const Args& args, ThreadPool& threads) {
  float* packed = static_cast<float*>(args.workspace);
  float* scratch = packed + as.packed;
  float *a = scratch + as.scratch, *b = a + as.a_count(), *y = b + as.b_count();
  const auto joined = [](std::vector<size_t> first, const std::vector<size_t>& second,
                         const std::vector<size_t>& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  };
  const auto rearrange = [&](size_t operand, const std::vector<size_t>& order, float* to) {
    const std::vector<int64_t> strides = strides_of(einsum, operand, args.step.inputs[operand].shape);
    strided_copy(args.input(operand), to, picked(einsum.sizes, order), picked(strides, order), threads);
  };
  rearrange(0, joined(as.batch, as.rows, as.depth), a);
  rearrange(1, joined(as.batch, as.depth, as.columns), b);
  for (int64_t i = 0; i < as.products; ++i) {
    pack_b(b + i * as.k * as.n, as.k, as.n, false, 1, packed, threads);
    gemm({.m = as.m, .n = as.n, .k = as.k, .a = a + i * as.m * as.k, .b = {packed}, .c = y + i * as.m * as.n}, scratch,
         threads);
  }
  const std::vector<size_t> order = joined(as.batch, as.rows, as.columns);
  const std::vector<int64_t> dense = dense_strides(picked(einsum.sizes, order));
  std::vector<int64_t> strides(einsum.sizes.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) strides[order[i]] = dense[i];
  strided_copy(y, args.output(), args.step.outputs[0].shape, picked(strides, einsum.output), threads);
}

void sum_products(const Einsum& einsum, const Args& args, ThreadPool& threads) {
  std::vector<size_t> summed;
  for (size_t index = 0; index < einsum.sizes.size(); ++index) {
    if (std::ranges::find(einsum.output, index) == einsum.output.end()) summed.push_back(index);
  }
  const Shape terms_shape = picked(einsum.sizes, summed);
  const int64_t terms = element_count(terms_shape);
  const size_t operands = args.inputs.size();
  std::vector<std::vector<int64_t>> strides;
  for (size_t i = 0; i < operands; ++i) strides.push_back(strides_of(einsum, i, args.step.inputs[i].shape));
  const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(terms, 1));
  threads.parallel_for(element_count(args.step.outputs[0].shape), grain, [&](int64_t begin, int64_t end, int) {
    std::vector<const float*> at(operands);
    Shape index(summed.size());
    for (int64_t output = begin; output < end; ++output) {
      for (size_t i = 0; i < operands; ++i) {
        at[i] = args.input(i);
        int64_t rest = output;
        for (size_t d = einsum.output.size(); d-- > 0; rest /= args.step.outputs[0].shape[d]) {
          at[i] += rest % args.step.outputs[0].shape[d] * strides[i][einsum.output[d]];
        }
      }
      double sum = 0;
      std::ranges::fill(index, 0);
      for (int64_t term = 0; term < terms; ++term) {
        double product = 1;
        for (size_t i = 0; i < operands; ++i) product *= *at[i];
        sum += product;
        for (size_t d = summed.size(); d-- > 0;) {
          const bool carries = ++index[d] == terms_shape[d];
          const int64_t steps = carries ? 1 - terms_shape[d] : 1;
          for (size_t i = 0; i < operands; ++i) at[i] += steps * strides[i][summed[d]];
          if (!carries) break;
          index[d] = 0;
        }
      }
      args.output()[output] = static_cast<float>(sum);
    }
  });
}

void launch(const Args& args, Stream& stream) {
  const std::vector<Shape> shapes = shapes_of(args.step.inputs);
  const Einsum einsum = einsum_of(std::get<EinsumOp>(args.step.op).equation, shapes);
  const AsMatrices as(einsum, shapes);
  if (as.fits) {
    multiply_matrices(einsum, as, args, *stream.threads());
  } else {
    sum_products(einsum, args, *stream.threads());
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.einsum",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .idea = "rearranges two operands into matrices and multiplies these; other equations are summed element "
                     "by element"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_einsum
