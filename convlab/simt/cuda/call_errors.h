#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/failed_call.h"
#include "convlab/simt/where.h"

/// Calls of the runtime API that fail.
namespace convlab::simt::cuda {

/// Why a call fails: see FailedCall.
struct CallError {
  std::string why, help = {};
  std::vector<Label> related = {};
  std::string array = {};
};

SourcePlace place_of(const Where& where);

/// Returns a failed call with cudaErrorInvalidValue.
FailedCall failed_call(std::string_view call, const Where& where, CallError error);

/// Keep the error for cudaGetLastError() and as a FailedCall, and return it.
cudaError_t failed(FailedCall call);
cudaError_t failed(std::string_view call, const Where& where, CallError error);
cudaError_t failed(cudaError_t error, std::string_view call, const Where& where, std::string_view why);

}  // namespace convlab::simt::cuda
