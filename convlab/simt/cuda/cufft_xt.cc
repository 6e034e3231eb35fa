// Makes plans of cuFFT from the types of elements.

#include "convlab/simt/cuda/cufft_xt.h"

namespace convlab::simt::cuda {
namespace {

/// Returns the transform of these types; 0 if cuFFT has none, or simt does not support it.
int type_of(cudaDataType input, cudaDataType output) {
  if (input == CUDA_C_32F && output == CUDA_C_32F) return CUFFT_C2C;
  if (input == CUDA_R_32F && output == CUDA_C_32F) return CUFFT_R2C;
  if (input == CUDA_C_32F && output == CUDA_R_32F) return CUFFT_C2R;
  if (input == CUDA_C_64F && output == CUDA_C_64F) return CUFFT_Z2Z;
  if (input == CUDA_R_64F && output == CUDA_C_64F) return CUFFT_D2Z;
  if (input == CUDA_C_64F && output == CUDA_R_64F) return CUFFT_Z2D;
  return 0;
}

}  // namespace

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType input, long long* onembed, long long ostride,
                                long long odist, cudaDataType output, long long batch, size_t* bytes, cudaDataType,
                                Where where) noexcept {
  const int type = type_of(input, output);
  if (type == 0) {
    return runtime::refuse_transform(CUFFT_NOT_SUPPORTED, "cufftXtMakePlanMany",
                                     "simt transforms fp32 and fp64 data, complex or real on one side", where);
  }
  return cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                             static_cast<cufftType>(type), batch, bytes, where);
}

}  // namespace convlab::simt::cuda
