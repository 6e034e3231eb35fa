#pragma once

#include <optional>
#include <vector>

#include "convlab/simt/cuda/cufft.h"
#include "convlab/simt/cuda/fourier_transforms.h"
#include "convlab/simt/cuda/library_call.h"

/// The plans of cuFFT.
namespace convlab::simt::cuda::runtime {

/// Where the elements of one side of a plan are. In the basic layout they are contiguous, except that the rows of real
/// data are padded if it is transformed in place.
struct FftLayout {
  bool is_basic = true;
  std::vector<int64_t> embed;  ///< without the first dimension
  int64_t stride = 1, distance = 0;
};

struct FftPlan {
  bool is_made = false;
  int type = 0;
  std::vector<int64_t> sizes;
  int64_t batch = 1;
  FftLayout input, output;
  cudaStream_t stream = nullptr;
  bool allocates = true;
  void* work_area = nullptr;

  bool has_real_input() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool has_real_output() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  size_t work_bytes() const;
};

/// Why a plan cannot be made.
struct FftRefusal {
  cufftResult result;
  std::string why;
};
std::optional<FftRefusal> refusal_of(const FftPlan& plan);

/// One side of a plan in use.
struct FftArray {
  const void* data = nullptr;
  bool is_real = false, is_double = false;
  FftLayout layout;             ///< with all members set
  std::vector<int64_t> counts;  ///< elements of each dimension
  std::string_view name;

  /// Calls use(index of the first element, number) for each row of transform `number` of a batch.
  template <class Use>
  void for_rows(int64_t number, const Use& use) const;

  ComplexArray load(const LibraryCall& call, int64_t number) const;
  void store(const LibraryCall& call, int64_t number, const ComplexArray& values) const;
};
FftArray side_of_plan(const FftPlan& plan, bool is_input, const void* data, bool in_place);

}  // namespace convlab::simt::cuda::runtime
