// Names the errors of the driver API.

#include "convlab/simt/cuda/driver_errors.h"

namespace convlab::simt::cuda {

CUresult cuGetErrorName(CUresult error, const char** name) noexcept {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = nullptr;
  switch (error) {
#define CONVLAB_SIMT_DRIVER_ERROR(each, number, text) \
  case each:                                          \
    *name = #each;                                    \
    return CUDA_SUCCESS;
    CONVLAB_SIMT_DRIVER_ERRORS(CONVLAB_SIMT_DRIVER_ERROR)
#undef CONVLAB_SIMT_DRIVER_ERROR
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) noexcept {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  switch (error) {
#define CONVLAB_SIMT_DRIVER_ERROR(each, number, its_text) \
  case each:                                              \
    *text = its_text;                                     \
    return CUDA_SUCCESS;
    CONVLAB_SIMT_DRIVER_ERRORS(CONVLAB_SIMT_DRIVER_ERROR)
#undef CONVLAB_SIMT_DRIVER_ERROR
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace convlab::simt::cuda
