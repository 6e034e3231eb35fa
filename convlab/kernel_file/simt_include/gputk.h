#pragma once

/// libgputk, the helpers of NVIDIA's GPU Teaching Kit, written anew: libwb's successor, with other names and a log line
/// for each timer that stops. docs/guide/labs.md says what differs.

#include "convlab/kernel_file/simt_include/labs/lab_names.h"

CONVLAB_LAB_NAMES(gpuTK)

#define gpuTKLog(level, ...) \
  convlab::labs::log(convlab::labs::kLevel_##level, __FILE__, __func__, __LINE__, convlab::labs::text(__VA_ARGS__))
#define gpuTKTime_start(kind, ...) \
  convlab::labs::start_timer(convlab::labs::kTimer_##kind, __LINE__, convlab::labs::text(__VA_ARGS__))
#define gpuTKTime_stop(kind, ...)                                                             \
  convlab::labs::stop_timer(convlab::labs::kTimer_##kind, __FILE__, __func__, __LINE__, true, \
                            convlab::labs::text(__VA_ARGS__))

/// Labs usually define gpuTKCheck themselves.
#define gpuTKCheck(statement)                                                   \
  do {                                                                          \
    const cudaError_t gputk_error = (statement);                                \
    if (gputk_error != cudaSuccess) {                                           \
      gpuTKLog(ERROR, "Failed to run stmt ", #statement);                       \
      gpuTKLog(ERROR, "Got CUDA error ...  ", cudaGetErrorString(gputk_error)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

#define gpuTKStmt(statement) statement
#define gpuTKAssert(...)
#define gpuTKNew(type) (static_cast<type*>(gpuTKMalloc(sizeof(type))))
#define gpuTKNewArray(type, count) (static_cast<type*>(gpuTKMalloc((count) * sizeof(type))))
