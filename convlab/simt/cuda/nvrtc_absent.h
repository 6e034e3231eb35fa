#pragma once

#include <cstddef>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/where.h"

/// NVRTC, which compiles CUDA C++ at run time. simt runs kernels that the host compiler has compiled with the program:
/// nvrtcCompileProgram() returns NVRTC_ERROR_COMPILATION, with a finding and a log that say so.
namespace convlab::simt::cuda {

enum nvrtcResult {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_INTERNAL_ERROR = 11,
};
struct _nvrtcProgram;
using nvrtcProgram = _nvrtcProgram*;

const char* nvrtcGetErrorString(nvrtcResult result) noexcept;
nvrtcResult nvrtcVersion(int* major, int* minor) noexcept;
nvrtcResult nvrtcGetNumSupportedArchs(int* count) noexcept;
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int count,
                               const char* const* headers, const char* const* include_names) noexcept;
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) noexcept;
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options,
                                Where where = Where::current()) noexcept;
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) noexcept;
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) noexcept;
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) noexcept;
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) noexcept;

/// There is no code.
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) noexcept;
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* code) noexcept;
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) noexcept;
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) noexcept;
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, size_t* bytes) noexcept;
nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char* code) noexcept;

}  // namespace convlab::simt::cuda
