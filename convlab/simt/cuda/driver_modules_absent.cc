// Refuses the modules of the driver API.

#include "convlab/simt/cuda/driver_modules_absent.h"

#include <string>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/failed_call.h"

namespace convlab::simt::cuda {
namespace {

CUresult refuse(CUresult result, const char* call, const char* why, const Where& where) {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  keep_failed_call({.call = call,
                    .place = place_of(where),
                    .code = result,
                    .error = std::string(name) + ": " + text,
                    .why = why,
                    .help =
                        "compile the kernel with the program and launch it with <<<...>>>, or get its CUfunction from "
                        "cudaGetFuncBySymbol"});
  return result;
}

CUresult refuse_image(const char* call, const Where& where) {
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, call,
                "simt cannot load PTX, cubins or fatbins: it has no GPU to run them", where);
}

constexpr const char* kNoModule = "there is no module: simt has loaded none";

}  // namespace

CUresult cuModuleLoad(CUmodule*, const char*, Where where) noexcept { return refuse_image("cuModuleLoad", where); }
CUresult cuModuleLoadData(CUmodule*, const void*, Where where) noexcept {
  return refuse_image("cuModuleLoadData", where);
}
CUresult cuModuleLoadDataEx(CUmodule*, const void*, unsigned, CUjit_option*, void**, Where where) noexcept {
  return refuse_image("cuModuleLoadDataEx", where);
}
CUresult cuModuleLoadFatBinary(CUmodule*, const void*, Where where) noexcept {
  return refuse_image("cuModuleLoadFatBinary", where);
}
CUresult cuModuleUnload(CUmodule) noexcept { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*, Where where) noexcept {
  return refuse(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetFunction", kNoModule, where);
}
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule, const char*, Where where) noexcept {
  return refuse(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetGlobal", kNoModule, where);
}

CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState*, Where where) noexcept {
  return refuse_image("cuLinkCreate", where);
}
CUresult cuLinkAddData(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned, CUjit_option*,
                       void**) noexcept {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuLinkAddFile(CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*, void**) noexcept {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuLinkComplete(CUlinkState, void**, size_t*) noexcept { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuLinkDestroy(CUlinkState) noexcept { return CUDA_ERROR_INVALID_HANDLE; }

}  // namespace convlab::simt::cuda
