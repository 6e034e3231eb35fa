#pragma once

#include <cstddef>

#include "convlab/simt/cuda/complex_numbers.h"
#include "convlab/simt/cuda/data_types.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/where.h"

/// cuFFT: transforms of one to three dimensions, single or batched, in the basic and the advanced data layout. They are
/// computed in double precision and rounded once. Arrays are checked as convlab/simt/cuda/library_call.h says.
///
/// A transform of complex to real keeps its input, which cuFFT may overwrite. Sizes with a large prime factor p take
/// time in proportion to p. Not supported: half precision, callbacks, several GPUs.
namespace convlab::simt::cuda {

/// The include guard of cuFFT: helper_cuda.h of NVIDIA's samples asks for it.
#define _CUFFT_H_

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VERSION 12000

/// With the codes that CUDA 13 removed.
enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_PARSE_ERROR = 12,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_LICENSE_ERROR = 15,
  CUFFT_NOT_SUPPORTED = 16,
  CUFFT_MISSING_DEPENDENCY = 17,
  CUFFT_NVRTC_FAILURE = 18,
  CUFFT_NVJITLINK_FAILURE = 19,
  CUFFT_NVSHMEM_FAILURE = 20,
};
using cufftResult = cufftResult_t;

enum cufftType_t {
  CUFFT_C2C = 0x29,
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_Z2Z = 0x69,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
};
using cufftType = cufftType_t;

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
using cufftHandle = int;

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch, Where where = Where::current()) noexcept;
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type, Where where = Where::current()) noexcept;
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type,
                        Where where = Where::current()) noexcept;
/// With a null inembed or onembed, the layout is the basic one.
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch, Where where = Where::current()) noexcept;

cufftResult cufftCreate(cufftHandle* plan) noexcept;
cufftResult cufftDestroy(cufftHandle plan) noexcept;
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes,
                            Where where = Where::current()) noexcept;
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes,
                            Where where = Where::current()) noexcept;
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes,
                            Where where = Where::current()) noexcept;
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* bytes,
                              Where where = Where::current()) noexcept;
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* bytes, Where where = Where::current()) noexcept;

/// Work areas are as large as the transformed data, and are not used.
cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* bytes) noexcept;
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* bytes) noexcept;
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* bytes) noexcept;
cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                              int odist, cufftType type, int batch, size_t* bytes) noexcept;
cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes) noexcept;
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes) noexcept;
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes) noexcept;
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, cufftType type, int batch, size_t* bytes) noexcept;
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes) noexcept;
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates) noexcept;
cufftResult cufftSetWorkArea(cufftHandle plan, void* area) noexcept;
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) noexcept;
cufftResult cufftGetVersion(int* version) noexcept;
cufftResult cufftGetProperty(libraryPropertyType property, int* value) noexcept;

namespace runtime {

/// The direction matters for complex input and output. `type` is that of the function; 0: any.
cufftResult transform(cufftHandle plan, const void* input, void* output, int type, int direction, const char* call,
                      Where where) noexcept;
/// Keeps a call that simt does not support, and returns `result`.
cufftResult refuse_transform(cufftResult result, const char* call, const char* why, Where where) noexcept;

}  // namespace runtime

inline cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* input, cufftComplex* output, int direction,
                                Where where = Where::current()) {
  return runtime::transform(plan, input, output, CUFFT_C2C, direction, "cufftExecC2C", where);
}
inline cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* input, cufftDoubleComplex* output, int direction,
                                Where where = Where::current()) {
  return runtime::transform(plan, input, output, CUFFT_Z2Z, direction, "cufftExecZ2Z", where);
}
inline cufftResult cufftExecR2C(cufftHandle plan, cufftReal* input, cufftComplex* output,
                                Where where = Where::current()) {
  return runtime::transform(plan, input, output, CUFFT_R2C, CUFFT_FORWARD, "cufftExecR2C", where);
}
inline cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* input, cufftDoubleComplex* output,
                                Where where = Where::current()) {
  return runtime::transform(plan, input, output, CUFFT_D2Z, CUFFT_FORWARD, "cufftExecD2Z", where);
}
inline cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* input, cufftReal* output,
                                Where where = Where::current()) {
  return runtime::transform(plan, input, output, CUFFT_C2R, CUFFT_INVERSE, "cufftExecC2R", where);
}
inline cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* input, cufftDoubleReal* output,
                                Where where = Where::current()) {
  return runtime::transform(plan, input, output, CUFFT_Z2D, CUFFT_INVERSE, "cufftExecZ2D", where);
}

}  // namespace convlab::simt::cuda
