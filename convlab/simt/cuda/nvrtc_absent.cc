// Refuses to compile CUDA C++ at run time.

#include "convlab/simt/cuda/nvrtc_absent.h"

#include <cstring>
#include <new>

#include "convlab/simt/cuda/call_errors.h"

namespace convlab::simt::cuda {

struct _nvrtcProgram {};

namespace {

constexpr char kLog[] = "simt cannot compile CUDA C++ at run time: compile the kernel with the program\n";

nvrtcResult no_code(nvrtcProgram program) {
  return program == nullptr ? NVRTC_ERROR_INVALID_INPUT : NVRTC_ERROR_INVALID_PROGRAM;
}

}  // namespace

const char* nvrtcGetErrorString(nvrtcResult result) noexcept {
  switch (result) {
#define CONVLAB_SIMT_NVRTC(name) \
  case name:                     \
    return #name;
    CONVLAB_SIMT_NVRTC(NVRTC_SUCCESS)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_OUT_OF_MEMORY)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_PROGRAM_CREATION_FAILURE)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_INVALID_INPUT)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_INVALID_PROGRAM)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_INVALID_OPTION)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_COMPILATION)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
    CONVLAB_SIMT_NVRTC(NVRTC_ERROR_INTERNAL_ERROR)
#undef CONVLAB_SIMT_NVRTC
  }
  return "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) noexcept {
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) noexcept {
  *count = 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int, const char* const*,
                               const char* const*) noexcept {
  if (program == nullptr || source == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *program = new (std::nothrow) _nvrtcProgram;
  return *program != nullptr ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) noexcept {
  if (program == nullptr || *program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char* const*, Where where) noexcept {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  keep_failed_call({.call = "nvrtcCompileProgram",
                    .place = place_of(where),
                    .code = NVRTC_ERROR_COMPILATION,
                    .error = nvrtcGetErrorString(NVRTC_ERROR_COMPILATION),
                    .why = "simt cannot compile CUDA C++ at run time",
                    .help = "compile the kernel with the program and launch it with <<<...>>>"});
  return NVRTC_ERROR_COMPILATION;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) noexcept {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  *bytes = sizeof(kLog);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) noexcept {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(log, kLog, sizeof(kLog));
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char*) noexcept {
  return program == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char*, const char**) noexcept { return no_code(program); }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t*) noexcept { return no_code(program); }
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char*) noexcept { return no_code(program); }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t*) noexcept { return no_code(program); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char*) noexcept { return no_code(program); }
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, size_t*) noexcept { return no_code(program); }
nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char*) noexcept { return no_code(program); }

}  // namespace convlab::simt::cuda
