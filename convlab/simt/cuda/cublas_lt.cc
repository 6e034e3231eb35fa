// Multiplies matrices with epilogues for cublasLt.

#include "convlab/simt/cuda/cublas_lt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "convlab/simt/cuda/cublas_call.h"
#include "convlab/simt/cuda/dense_products.h"

namespace convlab::simt::cuda {
namespace {

using namespace runtime;

/// One matrix of a product: its address is that of the first of a batch.
struct LtMatrix {
  const void* data = nullptr;
  cublasLtMatrixLayoutOpaque_t layout;
  const char* name = "";

  int64_t rows() const { return static_cast<int64_t>(layout.rows); }
  int64_t columns() const { return static_cast<int64_t>(layout.columns); }
  bool by_rows() const { return layout.order == CUBLASLT_ORDER_ROW; }

  /// As it is stored: with rows and columns exchanged if it is stored by rows.
  DeviceMatrix stored(int index) const {
    const int64_t bytes = index * layout.batch_stride * static_cast<int64_t>(bytes_of(layout.type));
    return {static_cast<const char*>(data) + bytes, layout.type,    by_rows() ? columns() : rows(),
            by_rows() ? rows() : columns(),         layout.leading, name};
  }
};

struct LtProduct {
  cublasLtMatmulDescOpaque_t with;
  LtMatrix a, b, c, d;
  BlasFactor alpha, beta;

  bool has(int bits) const { return (with.epilogue & bits) != 0; }
};
constexpr int kRelu = 2, kBias = 4, kReluGradient = 8, kBiasGradient = 16, kGelu = 32, kGeluGradient = 64, kAux = 128;

template <class Number>
std::vector<Number> load_rows(const LibraryCall& call, const LtMatrix& matrix, int index, cublasOperation_t op) {
  const DeviceMatrix stored = matrix.stored(index);
  std::vector<Number> values = load<Number>(call, stored);
  if (op == CUBLAS_OP_C) {
    for (Number& value : values) value = conjugate(value);
  }
  return matrix.by_rows() == (op == CUBLAS_OP_N) ? transposed(values, stored.rows, stored.columns) : values;
}

/// Returns why there is no algorithm for the product; an empty reason if there is one.
std::pair<cublasStatus_t, std::string> refusal(const LtProduct& p) {
  const auto rows = [](const LtMatrix& m, cublasOperation_t op) { return op == CUBLAS_OP_N ? m.rows() : m.columns(); };
  const auto columns = [](const LtMatrix& m, cublasOperation_t op) {
    return op == CUBLAS_OP_N ? m.columns() : m.rows();
  };
  const int64_t m = rows(p.a, p.with.op_a), k = columns(p.a, p.with.op_a);
  const int64_t other_k = rows(p.b, p.with.op_b), n = columns(p.b, p.with.op_b);
  if (k != other_k || p.d.rows() != m || p.d.columns() != n || p.c.rows() != m || p.c.columns() != n) {
    return {CUBLAS_STATUS_INVALID_VALUE,
            fmt::format("the shapes do not match: op(A) is {} x {}, op(B) {} x {}, C {} x {} and D {} x {}", m, k,
                        other_k, n, p.c.rows(), p.c.columns(), p.d.rows(), p.d.columns())};
  }
  for (const LtMatrix* const each : {&p.a, &p.b, &p.c, &p.d}) {
    if (each->layout.order != CUBLASLT_ORDER_COL && each->layout.order != CUBLASLT_ORDER_ROW) {
      return {CUBLAS_STATUS_NOT_SUPPORTED, fmt::format("simt supports no tiled order, which {} has", each->name)};
    }
    const int64_t least = each->by_rows() ? each->columns() : each->rows();
    if (each->layout.leading < least) {
      return {CUBLAS_STATUS_INVALID_VALUE,
              fmt::format("the leading dimension of {} is {}, less than {}", each->name, each->layout.leading, least)};
    }
    if (each->layout.batch_count != p.d.layout.batch_count) {
      return {CUBLAS_STATUS_INVALID_VALUE, fmt::format("the batch counts of {} and D are {} and {}", each->name,
                                                       each->layout.batch_count, p.d.layout.batch_count)};
    }
  }
  if (p.has(kReluGradient) || (p.has(kRelu) && p.has(kAux))) {
    return {CUBLAS_STATUS_NOT_SUPPORTED, "simt supports no epilogue with a mask of ReLU"};
  }
  if (p.with.op_c != CUBLAS_OP_N || p.with.fill != CUBLAS_FILL_MODE_FULL ||
      p.with.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) {
    return {CUBLAS_STATUS_NOT_SUPPORTED, "simt supports neither a transposed C, nor a fill mode, nor vectors as alpha"};
  }
  return {CUBLAS_STATUS_SUCCESS, ""};
}

/// The approximation by tanh, and its derivative.
constexpr double kGeluScale = 0.7978845608028654, kGeluCube = 0.044715;
double gelu(double x) { return 0.5 * x * (1 + std::tanh(kGeluScale * (x + kGeluCube * x * x * x))); }
double gelu_gradient(double x) {
  const double t = std::tanh(kGeluScale * (x + kGeluCube * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kGeluScale * (1 + 3 * kGeluCube * x * x);
}

DeviceVector bias_of(const LtProduct& p, int index, int64_t count) {
  const cudaDataType type = p.with.has_bias_type ? p.with.bias_type : p.d.layout.type;
  const int64_t bytes = index * p.with.bias_stride * static_cast<int64_t>(bytes_of(type));
  return {static_cast<const char*>(p.with.bias) + bytes, type, count, 1, "bias"};
}

DeviceMatrix aux_of(const LtProduct& p, int index) {
  const cudaDataType type = p.with.has_aux_type ? p.with.aux_type : p.d.layout.type;
  const int64_t bytes = index * p.with.aux_stride * static_cast<int64_t>(bytes_of(type));
  return {static_cast<const char*>(p.with.aux) + bytes, type, p.d.rows(), p.d.columns(), p.with.aux_leading, "aux"};
}

/// Applies the epilogue to the sums, columns one after the other.
void apply(const LibraryCall& call, const LtProduct& p, int index, std::vector<double>& sums) {
  const auto rows = static_cast<size_t>(p.d.rows());
  if (p.has(kBias)) {
    const std::vector<double> bias = load<double>(call, bias_of(p, index, p.d.rows()));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i % rows];
  }
  if (p.has(kGelu) && p.has(kAux)) store(call, aux_of(p, index), sums);
  for (double& sum : sums) {
    if (p.has(kRelu)) sum = sum > 0 || std::isnan(sum) ? sum : 0;
    if (p.has(kGelu)) sum = gelu(sum);
  }
  if (p.has(kGeluGradient)) {
    const std::vector<double> inputs = load<double>(call, aux_of(p, index));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] *= gelu_gradient(inputs[i]);
  }
  if (p.has(kBiasGradient)) {
    std::vector<double> totals(rows);
    for (size_t i = 0; i < sums.size(); ++i) totals[i % rows] += sums[i];
    store(call, bias_of(p, index, p.d.rows()), totals);
  }
}

/// Stores the sums of an operand over k, m of A or n of B.
template <class Number>
void store_operand_sums(const LibraryCall& call, const LtProduct& p, int index, const std::vector<Number>& a,
                        const std::vector<Number>& b) {
  const auto m = static_cast<size_t>(p.d.rows()), n = static_cast<size_t>(p.d.columns());
  const bool of_a = p.with.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  const size_t count = of_a ? m : n, k = of_a ? a.size() / m : b.size() / n;
  std::vector<Number> totals(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t step = 0; step < k; ++step) totals[i] += of_a ? a[i + step * m] : b[step + i * k];
  }
  store(call, bias_of(p, index, static_cast<int64_t>(count)), totals);
}

double scale_of(const LibraryCall& call, const void* pointer, const char* name) {
  float scale = 1;
  if (pointer != nullptr) call.copy_value(&scale, pointer, sizeof(scale), name);
  return scale;
}

template <class Number>
void multiply_one(const LibraryCall& call, const LtProduct& p, int index, Number alpha, Number beta) {
  const std::vector<Number> a = load_rows<Number>(call, p.a, index, p.with.op_a);
  const std::vector<Number> b = load_rows<Number>(call, p.b, index, p.with.op_b);
  const int64_t m = p.d.rows(), n = p.d.columns(), k = static_cast<int64_t>(a.size()) / m;
  std::vector<Number> sums = product(a, b, m, n, k);
  alpha *= scale_of(call, p.with.scale_a, "A_SCALE") * scale_of(call, p.with.scale_b, "B_SCALE");
  for (Number& sum : sums) sum *= alpha;
  if (beta != Number(0)) {
    const std::vector<Number> old = load_rows<Number>(call, p.c, index, CUBLAS_OP_N);
    beta *= scale_of(call, p.with.scale_c, "C_SCALE");
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += beta * old[i];
  }
  if constexpr (std::is_same_v<Number, double>) apply(call, p, index, sums);
  if (p.with.epilogue == CUBLASLT_EPILOGUE_BGRADA || p.with.epilogue == CUBLASLT_EPILOGUE_BGRADB) {
    store_operand_sums(call, p, index, a, b);
  }
  if (p.with.largest_d != nullptr) {
    double largest = 0;
    for (const Number& sum : sums) largest = std::max(largest, std::abs(sum));
    store(call, DeviceVector{p.with.largest_d, CUDA_R_32F, 1, 1, "AMAX_D"}, std::vector<double>{largest});
  }
  const double scale = scale_of(call, p.with.scale_d, "D_SCALE");
  for (Number& sum : sums) sum *= scale;
  store(call, p.d.stored(index), p.d.by_rows() ? transposed(sums, m, n) : sums);
}

}  // namespace

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int requested,
                                              cublasLtMatmulHeuristicResult_t* results, int* returned,
                                              Where where) noexcept {
  if (returned != nullptr) *returned = 0;
  const LibraryCall call{&blas_codes(), "cublasLtMatmulAlgoGetHeuristic", nullptr, where};
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (product == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr || results == nullptr ||
      returned == nullptr || requested < 1) {
    return static_cast<cublasStatus_t>(
        call.fail(call.invalid("an argument is a null pointer, or no result is requested")));
  }
  auto [status, why] =
      refusal({*product, {nullptr, *a, "A"}, {nullptr, *b, "B"}, {nullptr, *c, "C"}, {nullptr, *d, "D"}, {}, {}});
  if (status != CUBLAS_STATUS_SUCCESS) return static_cast<cublasStatus_t>(call.fail({status, std::move(why)}));
  results[0] = {.algo = {}, .workspaceSize = 0, .state = CUBLAS_STATUS_SUCCESS, .wavesCount = 1, .reserved = {}};
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
                              const void* beta, const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream, Where where) noexcept {
  const LibraryCall call{&blas_codes(), "cublasLtMatmul", stream, where};
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (product == nullptr || layout_a == nullptr || layout_b == nullptr || layout_c == nullptr || layout_d == nullptr) {
    return static_cast<cublasStatus_t>(call.fail(call.invalid("a descriptor is a null pointer")));
  }
  LtProduct p{*product, {a, *layout_a, "A"}, {b, *layout_b, "B"}, {c, *layout_c, "C"}, {d, *layout_d, "D"}, {}, {}};
  auto [status, why] = refusal(p);
  if (status != CUBLAS_STATUS_SUCCESS) return static_cast<cublasStatus_t>(call.fail({status, std::move(why)}));
  cublasContext settings{.stream = stream, .pointers = static_cast<cublasPointerMode_t>(p.with.pointer_mode)};
  const BlasCall as_blas{&settings, "cublasLtMatmul", p.d.layout.type, where};
  const std::optional<BlasFactor> first = factor(as_blas, alpha, p.with.scale_type, "alpha");
  const std::optional<BlasFactor> second = factor(as_blas, beta, p.with.scale_type, "beta");
  if (!first || !second) return CUBLAS_STATUS_INVALID_VALUE;
  p.alpha = *first;
  p.beta = *second;
  return static_cast<cublasStatus_t>(call.run([p](const LibraryCall& library) {
    if (p.d.rows() == 0 || p.d.columns() == 0) return;
    with_number(p.d.layout.type, [&](auto number) {
      using Number = decltype(number);
      for (int i = 0; i < p.d.layout.batch_count; ++i) {
        multiply_one(library, p, i, number_of<Number>(p.alpha.read(library)), number_of<Number>(p.beta.read(library)));
      }
    });
  }));
}

}  // namespace convlab::simt::cuda
