// Lays out the arrays of cuFFT's plans.

#include "convlab/simt/cuda/fft_plans.h"

#include <fmt/format.h>

#include <cstdlib>

#include "convlab/simt/cuda/library_arrays.h"
#include "convlab/simt/memory.h"

namespace convlab::simt::cuda::runtime {
namespace {

cudaDataType type_of(const FftArray& array) {
  if (array.is_double) return array.is_real ? CUDA_R_64F : CUDA_C_64F;
  return array.is_real ? CUDA_R_32F : CUDA_C_32F;
}

/// Returns the number of elements from the first to the last, over the dimensions of one transform.
int64_t span_of(const FftArray& array) {
  int64_t index = 0;
  for (size_t i = 0; i < array.counts.size(); ++i) {
    index = (i == 0 ? 0 : index * array.layout.embed[i - 1]) + array.counts[i] - 1;
  }
  return index * array.layout.stride + 1;
}

const char* address(const FftArray& array, int64_t index) {
  return static_cast<const char*>(array.data) + index * static_cast<int64_t>(bytes_of(type_of(array)));
}

/// Calls use(address, bytes) for the contiguous parts of a row.
template <class Use>
void for_parts(const FftArray& array, int64_t first, const Use& use) {
  const size_t bytes = bytes_of(type_of(array));
  const int64_t count = array.counts.back();
  if (array.layout.stride == 1) return use(address(array, first), static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) use(address(array, first + i * array.layout.stride), bytes);
}

}  // namespace

size_t FftPlan::work_bytes() const {
  size_t elements = static_cast<size_t>(batch);
  for (const int64_t size : sizes) elements *= static_cast<size_t>(size);
  return elements * 2 * (is_double() ? sizeof(double) : sizeof(float));
}

std::optional<FftRefusal> refusal_of(const FftPlan& plan) {
  switch (plan.type) {
    case CUFFT_C2C:
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_Z2Z:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
      break;
    default:
      return FftRefusal{CUFFT_INVALID_TYPE, fmt::format("{} is not a type of transform", plan.type)};
  }
  if (plan.sizes.empty() || plan.sizes.size() > 3) {
    return FftRefusal{CUFFT_INVALID_VALUE, fmt::format("the rank must be 1 to 3; got {}", plan.sizes.size())};
  }
  for (const int64_t size : plan.sizes) {
    if (size < 1) return FftRefusal{CUFFT_INVALID_SIZE, fmt::format("sizes must be at least 1; got {}", size)};
  }
  if (plan.batch < 1) {
    return FftRefusal{CUFFT_INVALID_SIZE, fmt::format("the batch must be at least 1; got {}", plan.batch)};
  }
  for (const FftLayout* const each : {&plan.input, &plan.output}) {
    if (!each->is_basic && (each->stride < 1 || each->distance < 0)) {
      return FftRefusal{CUFFT_INVALID_VALUE, fmt::format("strides must be at least 1; got {}", each->stride)};
    }
  }
  return std::nullopt;
}

FftArray side_of_plan(const FftPlan& plan, bool is_input, const void* data, bool in_place) {
  FftArray array{.data = data,
                 .is_real = is_input ? plan.has_real_input() : plan.has_real_output(),
                 .is_double = plan.is_double(),
                 .layout = is_input ? plan.input : plan.output,
                 .counts = plan.sizes,
                 .name = is_input ? "idata" : "odata"};
  const bool is_half = !array.is_real && (plan.has_real_input() || plan.has_real_output());
  if (is_half) array.counts.back() = plan.sizes.back() / 2 + 1;
  if (!array.layout.is_basic) return array;
  std::vector<int64_t> embed = array.counts;
  if (array.is_real && in_place) embed.back() = 2 * (plan.sizes.back() / 2 + 1);
  array.layout.stride = array.layout.distance = 1;
  for (const int64_t each : embed) array.layout.distance *= each;
  array.layout.embed.assign(embed.begin() + 1, embed.end());
  return array;
}

template <class Use>
void FftArray::for_rows(int64_t number, const Use& use) const {
  const std::vector<int64_t> outer(counts.begin(), counts.end() - 1);
  int64_t rows = 1;
  for (const int64_t count : outer) rows *= count;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t left = row, index = 0, scale = 1;  // from the innermost of the outer dimensions
    for (size_t i = outer.size(); i-- > 0;) {
      scale *= layout.embed[i];
      index += left % outer[i] * scale;
      left /= outer[i];
    }
    use(number * layout.distance + index * layout.stride);
  }
}

ComplexArray FftArray::load(const LibraryCall& call, int64_t number) const {
  const cudaDataType type = type_of(*this);
  const size_t span = static_cast<size_t>(span_of(*this)) * bytes_of(type);
  call.reads(address(*this, number * layout.distance), span, bytes_of(type), name);
  ComplexArray values;
  for_rows(number, [&](int64_t first) {
    for_parts(*this, first, [&](const char* at, size_t bytes) { call.needs_values(at, bytes, name); });
    for (int64_t i = 0; i < counts.back(); ++i) {
      values.push_back(element<std::complex<double>>(data, type, first + i * layout.stride));
    }
  });
  return values;
}

void FftArray::store(const LibraryCall& call, int64_t number, const ComplexArray& values) const {
  const cudaDataType type = type_of(*this);
  const size_t span = static_cast<size_t>(span_of(*this)) * bytes_of(type);
  call.writes(address(*this, number * layout.distance), span, bytes_of(type), name);
  size_t next = 0;
  for_rows(number, [&](int64_t first) {
    for (int64_t i = 0; i < counts.back(); ++i) {
      set_element(const_cast<void*>(data), type, first + i * layout.stride, values[next++]);
    }
    for_parts(*this, first, [](const char* at, size_t bytes) { mark_initialised(at, bytes); });
  });
}

}  // namespace convlab::simt::cuda::runtime
