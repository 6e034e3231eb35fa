// Runs the calls of CUDA's libraries and checks the device memory that they access.

#include "convlab/simt/cuda/library_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/copy_checks.h"
#include "convlab/simt/cuda/stream_capture.h"
#include "convlab/simt/failed_call.h"
#include "convlab/simt/host_faults.h"
#include "convlab/simt/memory.h"

namespace convlab::simt::cuda::runtime {
namespace {

void keep_fault(FaultKind kind, const LibraryCall& call, std::string text, CallError error, bool is_write) {
  Fault fault{};
  fault.kind = kind;
  fault.is_write = is_write;
  fault.array = error.array;
  fault.finding = {.kind = std::string(name_of(kind)),
                   .text = std::move(text),
                   .array = std::move(error.array),
                   .labels = {{.place = place_of(call.where), .text = error.why, .subject = std::string(call.name)}},
                   .help = std::move(error.help)};
  std::ranges::move(error.related, std::back_inserter(fault.finding.labels));
  simt::internal::keep_host_fault(std::move(fault));
}

CallRefused faulty(FaultKind kind, const LibraryCall& call, CallError error, std::string_view array, bool is_write) {
  std::string why = error.why;
  keep_fault(kind, call,
             fmt::format("out-of-bounds {} of array {} by {}", is_write ? "write" : "read", array, call.name),
             std::move(error), is_write);
  return {call.codes->failed, std::move(why)};
}

void check(const LibraryCall& call, const void* memory, size_t bytes, size_t alignment, std::string_view array,
           bool is_write) {
  const std::string what = fmt::format("array {}", array);
  if (memory == nullptr) {
    throw faulty(FaultKind::out_of_bounds_global, call, {fmt::format("{} is a null pointer", what)}, array, is_write);
  }
  if (reinterpret_cast<uintptr_t>(memory) % alignment != 0) {
    throw faulty(FaultKind::misaligned, call,
                 {fmt::format("{} is not aligned to its elements of {} bytes", what, alignment)}, array, is_write);
  }
  if (std::optional<CallError> error = access_error(what, memory, bytes, is_write)) {
    throw faulty(FaultKind::out_of_bounds_global, call, std::move(*error), array, is_write);
  }
}

}  // namespace

void LibraryCall::reads(const void* memory, size_t bytes, size_t alignment, std::string_view array) const {
  if (bytes > 0) check(*this, memory, bytes, alignment, array, false);
}

void LibraryCall::writes(const void* memory, size_t bytes, size_t alignment, std::string_view array) const {
  if (bytes > 0) check(*this, memory, bytes, alignment, array, true);
}

void LibraryCall::needs_values(const void* memory, size_t bytes, std::string_view array) const {
  const std::optional<Unwritten> unwritten = first_unwritten(memory, bytes);
  if (!unwritten) return;
  CallError error{fmt::format("it reads {} as array {}, and nothing has written byte {} of it", unwritten->array, array,
                              unwritten->offset),
                  "initialize it with a kernel, a copy or cudaMemset before this call"};
  error.array = unwritten->array;
  if (unwritten->allocation) error.related.push_back(*unwritten->allocation);
  std::string text = fmt::format("{} reads uninitialized global memory '{}'", name, unwritten->array);
  keep_fault(FaultKind::uninitialized_global, *this, std::move(text), std::move(error), false);
}

void LibraryCall::copy_value(void* to, const void* from, size_t bytes, std::string_view what) const {
  reads(from, bytes, 1, what);
  needs_values(from, bytes, what);
  std::memcpy(to, from, bytes);
}

CallRefused LibraryCall::on_wrong_side(std::string_view value, std::string_view help) const {
  CallError error{fmt::format("{} is in device memory, and this call uses it on the host", value), std::string(help)};
  CallRefused refused{codes->failed, error.why};
  keep_fault(FaultKind::host_access, *this, fmt::format("{} uses device memory on the host: {}", name, value),
             std::move(error), false);
  return refused;
}

CallRefused LibraryCall::outside(std::string why) const {
  CallRefused refused{codes->failed, why};
  keep_fault(FaultKind::out_of_bounds_global, *this, fmt::format("{} uses an index that is out of bounds", name),
             {std::move(why)}, false);
  return refused;
}

int LibraryCall::fail(const CallRefused& refused) const noexcept {
  keep_failed_call({.call = std::string(name),
                    .place = place_of(where),
                    .code = refused.status,
                    .error = codes->name(refused.status),
                    .why = refused.why});
  return refused.status;
}

int LibraryCall::run(std::function<void(const LibraryCall&)> work) const noexcept {
  if (Recorder* const records = recorder()) {
    records->refuse(fmt::format("a call of {}", name));
    return codes->failed;
  }
  if (device_error() != cudaSuccess) return codes->failed;
  const auto status = std::make_shared<int>(0);
  const auto checked = [call = *this, work = std::move(work), status](cudaStream_t) {
    try {
      work(call);
    } catch (const CallRefused& refused) {
      *status = refused.status == call.codes->failed ? refused.status : call.fail(refused);
    } catch (const std::exception& error) {
      *status = call.fail({call.codes->failed, error.what()});
    }
    return *status == 0 ? cudaSuccess : cudaErrorLaunchFailure;
  };
  const cudaError_t error = submit(stream, cudaGraphNodeTypeKernel, checked);
  return *status == 0 && error != cudaSuccess ? codes->failed : *status;
}

}  // namespace convlab::simt::cuda::runtime
