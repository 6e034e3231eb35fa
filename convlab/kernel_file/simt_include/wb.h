#pragma once

/// libwb, the helpers of the course "Heterogeneous Parallel Programming" and of others that use its labs, written anew.
/// It has what labs use: arguments, import and export, images, logs, timers, and wbSolution(). docs/guide/labs.md says
/// what differs.

#include "convlab/kernel_file/simt_include/labs/lab_names.h"

CONVLAB_LAB_NAMES(wb)

#define wbLog(level, ...) \
  convlab::labs::log(convlab::labs::kLevel_##level, __FILE__, __func__, __LINE__, convlab::labs::text(__VA_ARGS__))
#define wbTime_start(kind, ...) \
  convlab::labs::start_timer(convlab::labs::kTimer_##kind, __LINE__, convlab::labs::text(__VA_ARGS__))
#define wbTime_stop(kind, ...)                                                                 \
  convlab::labs::stop_timer(convlab::labs::kTimer_##kind, __FILE__, __func__, __LINE__, false, \
                            convlab::labs::text(__VA_ARGS__))

/// Labs usually define wbCheck themselves.
#define wbCheck(statement)                                                \
  do {                                                                    \
    const cudaError_t wb_error = (statement);                             \
    if (wb_error != cudaSuccess) {                                        \
      wbLog(ERROR, "Failed to run stmt ", #statement);                    \
      wbLog(ERROR, "Got CUDA error ...  ", cudaGetErrorString(wb_error)); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

#define wbStmt(statement) statement
#define wbAssert(...)
#define wbNew(type) (static_cast<type*>(wbMalloc(sizeof(type))))
#define wbNewArray(type, count) (static_cast<type*>(wbMalloc((count) * sizeof(type))))
