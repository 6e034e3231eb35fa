// Computes level 1 of cuBLAS.

#include "convlab/simt/cuda/cublas_vectors.h"

#include <cmath>

#include "convlab/simt/cuda/cublas_call.h"

namespace convlab::simt::cuda::runtime {
namespace {

DeviceVector vector(const BlasVector& v, int n, const char* name) { return {v.data, v.type, n, v.step, name}; }

double absolute(std::complex<double> value) { return std::abs(value.real()) + std::abs(value.imag()); }

bool is_any_complex(const BlasVector& x, const BlasVector& y) { return is_complex(x.type) || is_complex(y.type); }

}  // namespace

cublasStatus_t axpy(const BlasCall& call, int n, const void* alpha, cudaDataType alpha_type, BlasVector x,
                    BlasVector y) noexcept {
  if (call.handle == nullptr) return run_blas(call, {});
  const std::optional<BlasFactor> by = factor(call, alpha, alpha_type, "alpha");
  if (!by) return CUBLAS_STATUS_INVALID_VALUE;
  return run_blas(call, [=, by = *by](const LibraryCall& library) {
    if (n <= 0) return;
    with_number(is_any_complex(x, y) ? CUDA_C_64F : CUDA_R_64F, [&](auto number) {
      using Number = decltype(number);
      const auto scaled = number_of<Number>(by.read(library));
      const std::vector<Number> from = load<Number>(library, vector(x, n, "x"));
      std::vector<Number> to = load<Number>(library, vector(y, n, "y"));
      for (size_t i = 0; i < to.size(); ++i) to[i] += scaled * from[i];
      store(library, vector(y, n, "y"), to);
    });
  });
}

cublasStatus_t dot(const BlasCall& call, int n, BlasVector x, BlasVector y, bool conjugates, void* result,
                   cudaDataType result_type) noexcept {
  return run_blas(
      call, [=, pointers = call.handle ? call.handle->pointers : CUBLAS_POINTER_MODE_HOST](const LibraryCall& library) {
        std::complex<double> total = 0;
        if (n > 0) {
          with_number(is_any_complex(x, y) ? CUDA_C_64F : CUDA_R_64F, [&](auto number) {
            using Number = decltype(number);
            const std::vector<Number> a = load<Number>(library, vector(x, n, "x"));
            const std::vector<Number> b = load<Number>(library, vector(y, n, "y"));
            Number sum = 0;
            for (size_t i = 0; i < a.size(); ++i) sum += (conjugates ? conjugate(a[i]) : a[i]) * b[i];
            total = sum;
          });
        }
        set_result(library, pointers, result, result_type, total);
      });
}

cublasStatus_t norm(const BlasCall& call, int n, BlasVector x, Norm kind, void* result,
                    cudaDataType result_type) noexcept {
  return run_blas(
      call, [=, pointers = call.handle ? call.handle->pointers : CUBLAS_POINTER_MODE_HOST](const LibraryCall& library) {
        double sum = 0;
        if (n > 0 && x.step > 0) {
          for (const std::complex<double>& each : load<std::complex<double>>(library, vector(x, n, "x"))) {
            sum += kind == Norm::euclidean ? std::norm(each) : absolute(each);
          }
        }
        set_result(library, pointers, result, result_type, kind == Norm::euclidean ? std::sqrt(sum) : sum);
      });
}

cublasStatus_t extreme(const BlasCall& call, int n, BlasVector x, bool largest, int* result) noexcept {
  return run_blas(
      call, [=, pointers = call.handle ? call.handle->pointers : CUBLAS_POINTER_MODE_HOST](const LibraryCall& library) {
        int best = 0;
        if (n > 0 && x.step > 0) {
          const auto values = load<std::complex<double>>(library, vector(x, n, "x"));
          for (int i = 1; i < n; ++i) {
            const double value = absolute(values[static_cast<size_t>(i)]);
            const double known = absolute(values[static_cast<size_t>(best)]);
            if (largest ? value > known : value < known) best = i;
          }
          ++best;
        }
        set_result(library, pointers, result, best);
      });
}

cublasStatus_t scale(const BlasCall& call, int n, const void* alpha, cudaDataType alpha_type, BlasVector x) noexcept {
  if (call.handle == nullptr) return run_blas(call, {});
  const std::optional<BlasFactor> by = factor(call, alpha, alpha_type, "alpha");
  if (!by) return CUBLAS_STATUS_INVALID_VALUE;
  return run_blas(call, [=, by = *by](const LibraryCall& library) {
    if (n <= 0 || x.step <= 0) return;
    with_number(x.type, [&](auto number) {
      using Number = decltype(number);
      const auto scaled = number_of<Number>(by.read(library));
      std::vector<Number> values = load<Number>(library, vector(x, n, "x"));
      for (Number& value : values) value *= scaled;
      store(library, vector(x, n, "x"), values);
    });
  });
}

cublasStatus_t copy(const BlasCall& call, int n, BlasVector x, BlasVector y, bool swaps) noexcept {
  return run_blas(call, [=](const LibraryCall& library) {
    if (n <= 0) return;
    const DeviceVector from = vector(x, n, "x"), to = vector(y, n, "y");
    const auto first = load<std::complex<double>>(library, from);
    if (swaps) store(library, from, load<std::complex<double>>(library, to));
    store(library, to, first);
  });
}

cublasStatus_t rotate(const BlasCall& call, int n, BlasVector x, BlasVector y, const void* c, cudaDataType c_type,
                      const void* s, cudaDataType s_type) noexcept {
  if (call.handle == nullptr) return run_blas(call, {});
  const std::optional<BlasFactor> cosine = factor(call, c, c_type, "c"), sine = factor(call, s, s_type, "s");
  if (!cosine || !sine) return CUBLAS_STATUS_INVALID_VALUE;
  return run_blas(call, [=, cosine = *cosine, sine = *sine](const LibraryCall& library) {
    if (n <= 0) return;
    const double by_cosine = cosine.read(library).real();
    const std::complex<double> by_sine = sine.read(library);
    auto a = load<std::complex<double>>(library, vector(x, n, "x"));
    auto b = load<std::complex<double>>(library, vector(y, n, "y"));
    for (size_t i = 0; i < a.size(); ++i) {
      const std::complex<double> old = a[i];
      a[i] = by_cosine * old + by_sine * b[i];
      b[i] = by_cosine * b[i] - std::conj(by_sine) * old;
    }
    store(library, vector(x, n, "x"), a);
    store(library, vector(y, n, "y"), b);
  });
}

}  // namespace convlab::simt::cuda::runtime
