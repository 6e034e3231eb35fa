// Keeps failed calls of the runtime API for the program and for reports.

#include "convlab/simt/cuda/call_errors.h"

#include <fmt/format.h>

#include <utility>

namespace convlab::simt::cuda {
namespace {

FailedCall failed_call(cudaError_t error, std::string_view call, const Where& where, std::string_view why) {
  return {.call = std::string(call),
          .place = place_of(where),
          .code = error,
          .error = fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error)),
          .why = std::string(why)};
}

}  // namespace

SourcePlace place_of(const Where& where) { return {where.file_name(), static_cast<int>(where.line()), 0}; }

FailedCall failed_call(std::string_view call, const Where& where, CallError error) {
  FailedCall all = failed_call(cudaErrorInvalidValue, call, where, error.why);
  all.help = std::move(error.help);
  all.related = std::move(error.related);
  all.array = std::move(error.array);
  return all;
}

cudaError_t failed(FailedCall call) {
  const auto error = static_cast<cudaError_t>(call.code);
  keep_failed_call(std::move(call));
  return runtime::set_last_error(error);
}

cudaError_t failed(std::string_view call, const Where& where, CallError error) {
  return failed(failed_call(call, where, std::move(error)));
}

cudaError_t failed(cudaError_t error, std::string_view call, const Where& where, std::string_view why) {
  return failed(failed_call(error, call, where, why));
}

}  // namespace convlab::simt::cuda
