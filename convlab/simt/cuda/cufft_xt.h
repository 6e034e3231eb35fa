#pragma once

#include "convlab/simt/cuda/cufft.h"

/// The part of cufftXt.h that one GPU needs: plans with types of elements. Calls for several GPUs and callbacks return
/// their error, with a finding.
namespace convlab::simt::cuda {

enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT = 0,
  CUFFT_XT_FORMAT_OUTPUT = 1,
  CUFFT_XT_FORMAT_INPLACE = 2,
  CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 3,
};
using cufftXtSubFormat = cufftXtSubFormat_t;
enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE = 0,
  CUFFT_COPY_DEVICE_TO_HOST = 1,
  CUFFT_COPY_DEVICE_TO_DEVICE = 2,
};
using cufftXtCopyType = cufftXtCopyType_t;
enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX = 0,
  CUFFT_CB_LD_COMPLEX_DOUBLE = 1,
  CUFFT_CB_LD_REAL = 2,
  CUFFT_CB_LD_REAL_DOUBLE = 3,
  CUFFT_CB_ST_COMPLEX = 4,
  CUFFT_CB_ST_COMPLEX_DOUBLE = 5,
  CUFFT_CB_ST_REAL = 6,
  CUFFT_CB_ST_REAL_DOUBLE = 7,
};
using cufftXtCallbackType = cufftXtCallbackType_t;
using cufftCallbackLoadC = cufftComplex (*)(void* data, size_t offset, void* info, void* shared);
using cufftCallbackLoadR = cufftReal (*)(void* data, size_t offset, void* info, void* shared);
using cufftCallbackStoreC = void (*)(void* data, size_t offset, cufftComplex element, void* info, void* shared);
using cufftCallbackStoreR = void (*)(void* data, size_t offset, cufftReal element, void* info, void* shared);

/// Memory on several GPUs.
struct cudaXtDesc {
  int version, nGPUs, GPUs[64];
  void* data[64];
  size_t size[64];
  void* cudaXtState;
};
struct cudaLibXtDesc {
  int version;
  cudaXtDesc* descriptor;
  int library, subFormat;
  void* libDescriptor;
};

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType input, long long* onembed, long long ostride,
                                long long odist, cudaDataType output, long long batch, size_t* bytes,
                                cudaDataType computation, Where where = Where::current()) noexcept;
inline cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction,
                               Where where = Where::current()) {
  return runtime::transform(plan, input, output, 0, direction, "cufftXtExec", where);
}

inline cufftResult cufftXtSetGPUs(cufftHandle, int, int*, Where where = Where::current()) {
  return runtime::refuse_transform(CUFFT_INVALID_DEVICE, "cufftXtSetGPUs", "simt has one device", where);
}
inline cufftResult cufftXtMalloc(cufftHandle, cudaLibXtDesc**, cufftXtSubFormat, Where where = Where::current()) {
  return runtime::refuse_transform(CUFFT_NOT_IMPLEMENTED, "cufftXtMalloc", "simt has one device", where);
}
inline cufftResult cufftXtFree(cudaLibXtDesc*) { return CUFFT_NOT_IMPLEMENTED; }
inline cufftResult cufftXtMemcpy(cufftHandle, void*, void*, cufftXtCopyType, Where where = Where::current()) {
  return runtime::refuse_transform(CUFFT_NOT_IMPLEMENTED, "cufftXtMemcpy", "simt has one device", where);
}
inline cufftResult cufftXtExecDescriptorC2C(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*, int,
                                            Where where = Where::current()) {
  return runtime::refuse_transform(CUFFT_NOT_IMPLEMENTED, "cufftXtExecDescriptorC2C", "simt has one device", where);
}
inline cufftResult cufftXtSetCallback(cufftHandle, void**, cufftXtCallbackType, void**,
                                      Where where = Where::current()) {
  return runtime::refuse_transform(CUFFT_NOT_IMPLEMENTED, "cufftXtSetCallback", "simt does not call callbacks of cuFFT",
                                   where);
}

}  // namespace convlab::simt::cuda
