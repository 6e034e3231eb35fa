// Multiplies matrices for cuBLAS.

#include "convlab/simt/cuda/cublas_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <type_traits>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/cuda/cublas_call.h"
#include "convlab/simt/cuda/cublas_triangles.h"
#include "convlab/simt/cuda/dense_products.h"
#include "convlab/simt/product.h"

namespace convlab::simt::cuda::runtime {
namespace {

/// Returns why the product is invalid; "" if it is valid.
std::string why_invalid(const BlasProduct& p) {
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0) {
    return fmt::format("sizes must be at least 0; got m = {}, n = {}, k = {}, batch count {}", p.m, p.n, p.k, p.count);
  }
  const auto too_small = [](const char* matrix, int leading, int rows) -> std::string {
    if (leading >= std::max(1, rows)) return "";
    return fmt::format("columns of {} have {} elements, but its leading dimension is {}", matrix, rows, leading);
  };
  std::string why = too_small("A", p.a.leading, p.op_a == CUBLAS_OP_N ? p.m : p.k);
  if (why.empty()) why = too_small("B", p.b.leading, p.op_b == CUBLAS_OP_N ? p.k : p.n);
  if (why.empty()) why = too_small("C", p.c.leading, p.m);
  if (why.empty() && p.count > 1 && p.c.pointers == nullptr && p.c.stride == 0) {
    why = fmt::format("{} results overlap because the stride of C is 0", p.count);
  }
  return why;
}

/// The same product for a Recorder, which has real products of fp32 and fp16 with factors on the host.
cublasStatus_t record(const BlasCall& call, const BlasProduct& p) {
  const auto is_known = [](const BlasOperand& each) {
    return each.pointers == nullptr && (each.type == CUDA_R_32F || each.type == CUDA_R_16F);
  };
  const bool is_single = p.factor_type == CUDA_R_32F || p.factor_type == CUDA_R_16F;
  if (!is_known(p.a) || !is_known(p.b) || !is_known(p.c) || !is_single ||
      call.handle->pointers != CUBLAS_POINTER_MODE_HOST) {
    recorder()->refuse(fmt::format("a call of {} that is not a product of fp32 or fp16", call.name));
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.count == 0) return CUBLAS_STATUS_SUCCESS;
  const auto matrix = [](const BlasOperand& each, cublasOperation_t op) {
    return ProductMatrix{each.data, each.leading, each.stride, op != CUBLAS_OP_N, each.type == CUDA_R_16F};
  };
  const auto value = [&](const void* at) { return static_cast<float>(element<double>(at, p.factor_type, 0)); };
  try {
    on_stream(call.handle->stream);
    simt::multiply({p.m, p.n, p.k, p.count, value(p.alpha), value(p.beta), matrix(p.a, p.op_a), matrix(p.b, p.op_b),
                    matrix(p.c, CUBLAS_OP_N)});
    return CUBLAS_STATUS_SUCCESS;
  } catch (const std::exception& error) {
    return refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, error.what());
  }
}

/// Returns the start of an operand's matrix in each product.
std::vector<const void*> starts(const LibraryCall& call, const BlasOperand& operand, int count, const char* name) {
  if (operand.pointers != nullptr) return load_pointers(call, operand.pointers, count, name);
  const int64_t bytes = operand.stride * static_cast<int64_t>(bytes_of(operand.type));
  std::vector<const void*> all;
  for (int i = 0; i < count; ++i) all.push_back(static_cast<const char*>(operand.data) + i * bytes);
  return all;
}

/// alpha * sum + beta * old, in fp32 for factors of fp32 and fp16.
template <class Number>
Number combined(bool single, Number alpha, Number sum, Number beta, Number old) {
  if constexpr (std::is_same_v<Number, double>) {
    if (single) {
      float result = static_cast<float>(alpha) * static_cast<float>(sum);
      if (beta != 0) result += static_cast<float>(beta) * static_cast<float>(old);
      return result;
    }
  }
  return beta == Number(0) ? alpha * sum : alpha * sum + beta * old;
}

template <class Number>
void multiply_all(const LibraryCall& call, const BlasProduct& p, Number alpha, Number beta) {
  const std::vector<const void*> a = starts(call, p.a, p.count, "A"), b = starts(call, p.b, p.count, "B"),
                                 c = starts(call, p.c, p.count, "C");
  const bool single = p.factor_type == CUDA_R_32F || p.factor_type == CUDA_R_16F;
  for (size_t i = 0; i < a.size(); ++i) {
    const DeviceMatrix result{c[i], p.c.type, p.m, p.n, p.c.leading, "C"};
    std::vector<Number> sums(static_cast<size_t>(p.m) * static_cast<size_t>(p.n));
    if (alpha != Number(0)) {
      const bool plain_a = p.op_a == CUBLAS_OP_N, plain_b = p.op_b == CUBLAS_OP_N;
      const DeviceMatrix left{a[i], p.a.type, plain_a ? p.m : p.k, plain_a ? p.k : p.m, p.a.leading, "A"};
      const DeviceMatrix right{b[i], p.b.type, plain_b ? p.k : p.n, plain_b ? p.n : p.k, p.b.leading, "B"};
      sums =
          product(load_operand<Number>(call, left, p.op_a), load_operand<Number>(call, right, p.op_b), p.m, p.n, p.k);
    }
    std::vector<Number> old(beta == Number(0) ? 0 : sums.size());
    if (beta != Number(0)) old = load<Number>(call, result);
    for (size_t at = 0; at < sums.size(); ++at) {
      sums[at] = combined(single, alpha, sums[at], beta, old.empty() ? Number(0) : old[at]);
    }
    store(call, result, sums);
  }
}

}  // namespace

cudaDataType factor_type(cublasComputeType_t compute, cudaDataType c) noexcept {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return c == CUDA_C_64F ? CUDA_C_64F : CUDA_R_64F;
    default:
      return c == CUDA_C_32F ? CUDA_C_32F : CUDA_R_32F;
  }
}

cublasStatus_t multiply(const BlasCall& call, const BlasProduct& p) noexcept {
  if (call.handle == nullptr) return run_blas(call, {});
  if (std::string why = why_invalid(p); !why.empty()) {
    return refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, std::move(why));
  }
  if (recorder() != nullptr) return record(call, p);
  const std::optional<BlasFactor> alpha = factor(call, p.alpha, p.factor_type, "alpha");
  const std::optional<BlasFactor> beta = factor(call, p.beta, p.factor_type, "beta");
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  return run_blas(call, [p, alpha = *alpha, beta = *beta](const LibraryCall& library) {
    if (p.m == 0 || p.n == 0 || p.count == 0) return;
    with_number(p.c.type, [&](auto number) {
      using Number = decltype(number);
      multiply_all(library, p, number_of<Number>(alpha.read(library)), number_of<Number>(beta.read(library)));
    });
  });
}

}  // namespace convlab::simt::cuda::runtime
