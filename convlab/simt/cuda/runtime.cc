// Implements the CUDA runtime API on the host.

#include "convlab/simt/cuda/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "convlab/base/error.h"
#include "convlab/simt/call_recorder.h"
#include "convlab/simt/cuda/copy_checks.h"
#include "convlab/simt/cuda/device_models.h"
#include "convlab/simt/cuda/kernel_symbols.h"
#include "convlab/simt/failed_call.h"
#include "convlab/simt/host_arrays.h"
#include "convlab/simt/host_code.h"
#include "convlab/simt/host_faults.h"
#include "convlab/simt/in_flight.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt {
namespace cuda {
namespace {

struct Allocation {
  size_t bytes = 0;
  std::string name;
  Where where;
  int64_t number = 0;     // in the order of calls
  bool reported = false;  // as a leak
};

struct HostMemory {
  RegisteredRange range;
  size_t bytes = 0;
  bool allocated = false;  // by cudaMallocHost and related functions; otherwise registered
  bool managed = false;
};

struct State {
  std::mutex mutex;
  std::map<void*, Allocation> device;                      // allocated by cudaMalloc
  size_t device_bytes = 0;                                 // of all allocations in `device`
  std::map<void*, HostMemory> host;                        // host memory that kernels may access
  std::unordered_map<const void*, size_t> dynamic_limits;  // by kernel, as set by cudaFuncSetAttribute()
  int64_t allocations = 0;
};

State& state() {
  static State& one = *new State;  // never destroyed: a file's static objects may still free memory at exit
  return one;
}

// A wrong direction is a fault even if the program checks the error or does not need the copied data.
cudaError_t fail_direction(const Where& where, const CallError& error) {
  Fault fault{};
  fault.kind = FaultKind::copy_direction;
  fault.finding = finding_of(failed_call("cudaMemcpy", where, error));
  fault.finding.kind = name_of(fault.kind);
  simt::internal::keep_host_fault(std::move(fault));
  return failed("cudaMemcpy", where, error);
}

// If both pointers are device memory, the direction does not matter to a GPU with unified addressing; it only misleads
// the reader.
void note_direction(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const Where& where) {
  const bool is_between_sides = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost;
  if (!is_between_sides || side_of(to, bytes) != Side::device || side_of(from, bytes) != Side::device) return;
  keep_failed_call(
      {.call = "cudaMemcpy",
       .place = place_of(where),
       .why = fmt::format("copies within device memory, but its direction is {}; a GPU ignores that", name_of(kind)),
       .harmless = true});
}

void copy(void* to, const void* from, size_t bytes) {
  const bool to_device = side_of(to, bytes) == Side::device, from_device = side_of(from, bytes) == Side::device;
  if (to_device && from_device) return copy_on_device(to, from, bytes);
  if (to_device) return copy_to_device(to, from, bytes);
  if (from_device) return copy_to_host(to, from, bytes);
  std::memcpy(to, from, bytes);
}

// Returns "device_x" for "(void**)&device_x".
std::string_view variable_of(std::string_view expression) {
  const size_t end = expression.find_last_not_of(" )");
  if (end == std::string_view::npos) return "";
  expression = expression.substr(0, end + 1);
  const size_t begin = expression.find_last_of("&*() ");
  return begin == std::string_view::npos ? expression : expression.substr(begin + 1);
}

}  // namespace

namespace runtime {

namespace {

// Returns why the device refuses the launch; nullopt if it accepts it.
std::optional<FailedCall> refusal(const void* kernel, const LaunchShape& shape) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto raised = s.dynamic_limits.find(kernel);
  return refused_launch(kernel, shape, raised != s.dynamic_limits.end() ? std::optional(raised->second) : std::nullopt);
}

}  // namespace

cudaError_t launch(const KernelCall& call, const LaunchShape& shape, cudaStream_t stream) {
  if (const cudaError_t broken = device_error(); broken != cudaSuccess) return broken;
  if (std::optional<FailedCall> refused = refusal(call.function, shape)) return failed(std::move(*refused));
  if (is_capturing(stream)) return capture_kernel(stream, call, shape, &launch);
  if (const cudaError_t error = implicit_use_error(stream); error != cudaSuccess) return set_last_error(error);
  on_stream(stream);
  launch_grid(call, shape);
  return device_error();
}

cudaError_t raise_dynamic_limit(const void* kernel, int bytes, Where where) noexcept {
  const DeviceModel& model = played_device();
  const size_t most = std::min(kMaxSharedBytes, static_cast<size_t>(model.block_shared_kib) * 1024);
  if (bytes < 0 || static_cast<size_t>(bytes) > most) {
    return failed(cudaErrorInvalidValue, "cudaFuncSetAttribute", where,
                  fmt::format("the limit is {} bytes of shared memory per block", most));
  }
  std::lock_guard lock(state().mutex);
  state().dynamic_limits[kernel] = static_cast<size_t>(bytes);
  return cudaSuccess;
}

size_t dynamic_limit_of(const void* kernel) noexcept {
  {
    std::lock_guard lock(state().mutex);
    if (const auto raised = state().dynamic_limits.find(kernel); raised != state().dynamic_limits.end()) {
      return raised->second;
    }
  }
  return kUsualSharedBytes - std::min(kUsualSharedBytes, static_shared_of(kernel));
}

std::optional<KnownMemory> known_memory(const void* address) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto holder = [&](auto& blocks) {
    auto at = blocks.upper_bound(const_cast<void*>(address));
    if (at == blocks.begin()) return blocks.end();
    --at;
    const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(at->first));
    return offset < std::max<size_t>(at->second.bytes, 1) ? at : blocks.end();
  };
  if (const auto at = holder(s.device); at != s.device.end()) {
    return KnownMemory{KnownMemory::Kind::device, at->first, at->second.bytes};
  }
  if (const auto at = holder(s.host); at != s.host.end()) {
    return KnownMemory{at->second.managed ? KnownMemory::Kind::managed : KnownMemory::Kind::host, at->first,
                       at->second.bytes};
  }
  return std::nullopt;
}

size_t allocated_device_bytes() noexcept {
  std::lock_guard lock(state().mutex);
  return state().device_bytes;
}

cudaError_t allocate(void** memory, size_t bytes, const char* name, Where where) noexcept {
  if (const cudaError_t broken = device_error(); broken != cudaSuccess) return broken;
  const size_t most = device_memory_bytes(), taken = allocated_device_bytes();
  if (bytes > most - std::min(most, taken)) {
    return failed(
        cudaErrorMemoryAllocation, "cudaMalloc", where,
        fmt::format("{} bytes are asked for, and {} of the device's {} bytes are allocated", bytes, taken, most));
  }
  try {
    const std::string_view variable = variable_of(name);
    void* const array = simt::allocate(bytes, variable, place_of(where));
    std::lock_guard lock(state().mutex);
    Allocation& kept = state().device[array];
    state().device_bytes += bytes - kept.bytes;
    kept = {bytes, std::string(variable), where, ++state().allocations};
    *memory = array;
    return cudaSuccess;
  } catch (const std::exception& error) {
    return failed(cudaErrorMemoryAllocation, "cudaMalloc", where, error.what());
  }
}

cudaError_t allocate_on_host(void** memory, size_t bytes, const char* call, Where where) noexcept {
  constexpr size_t kPage = 4096;
  const size_t rounded = (bytes / kPage + 1) * kPage;
  void* const array = rounded > bytes ? std::aligned_alloc(kPage, rounded) : nullptr;
  if (array == nullptr) return failed(cudaErrorMemoryAllocation, call, where, "out of host memory");
  std::memset(array, 0, rounded);
  std::lock_guard lock(state().mutex);
  const bool managed = std::string_view(call) == "cudaMallocManaged";
  state().host[array] = {RegisteredRange(array, bytes, "a host array"), bytes, true, managed};
  *memory = array;
  return cudaSuccess;
}

cudaError_t copy_to_symbol(void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                           Where where) noexcept {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    return failed("cudaMemcpyToSymbol", where, small_variable(symbol, symbol_bytes, bytes, offset));
  }
  try {
    const auto address = reinterpret_cast<uintptr_t>(symbol);
    const bool is_constant = simt::internal::Module::of(symbol).is_constant(address);
    simt::copy_to_symbol(symbol, symbol_bytes, from, bytes, offset,
                         is_constant ? RangeAccess::read_only : RangeAccess::read_write);
    return cudaSuccess;
  } catch (const std::exception& error) {
    return failed(cudaErrorInvalidValue, "cudaMemcpyToSymbol", where, error.what());
  }
}

void expose_symbol(const void* symbol, size_t bytes) noexcept {
  simt::internal::expose_device_variable(reinterpret_cast<uintptr_t>(symbol));
  if (recorder() != nullptr) return;
  try {
    // Kernels read what is written there. Code that writes through the address is host code, which may.
    void* const variable = const_cast<void*>(symbol);
    const bool is_constant = simt::internal::Module::of(symbol).is_constant(reinterpret_cast<uintptr_t>(symbol));
    simt::copy_to_symbol(variable, bytes, symbol, 0, 0, is_constant ? RangeAccess::read_only : RangeAccess::read_write);
  } catch (const std::exception&) {  // then the variable stays unknown, as before
  }
}

cudaError_t copy_from_symbol(void* to, const void* symbol, size_t symbol_bytes, size_t bytes, size_t offset,
                             Where where) noexcept {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    return failed(cudaErrorInvalidValue, "cudaMemcpyFromSymbol", where, "the copy goes past the end of the variable");
  }
  if (Recorder* const records = recorder()) {
    records->refuse("a copy from a device variable to the host");
    return cudaErrorInvalidSymbol;
  }
  std::memcpy(to, static_cast<const char*>(symbol) + offset, bytes);
  return cudaSuccess;
}

}  // namespace runtime

cudaError_t cudaFree(void* memory, Where where) noexcept {
  if (memory == nullptr) return cudaSuccess;
  simt::internal::wait_for_all();
  State& s = state();
  {
    std::lock_guard lock(s.mutex);
    if (const auto known = s.device.find(memory); known != s.device.end()) {
      s.device_bytes -= known->second.bytes;
      s.device.erase(known);
      release(memory, "cudaFree frees it here", place_of(where));
      return cudaSuccess;
    }
    if (const auto at = s.host.find(memory); at != s.host.end() && at->second.allocated) {
      s.host.erase(at);
      std::free(memory);
      return cudaSuccess;
    }
  }
  return failed("cudaFree", where, free_error(memory));
}

cudaError_t cudaFreeHost(void* memory, Where where) noexcept {
  if (memory == nullptr) return cudaSuccess;
  simt::internal::wait_for_all();
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto at = s.host.find(memory);
  if (at == s.host.end() || !at->second.allocated) {
    return failed(cudaErrorInvalidValue, "cudaFreeHost", where, "cudaMallocHost did not return this pointer");
  }
  s.host.erase(at);
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned, Where where) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (memory == nullptr || bytes == 0) {
    return failed(cudaErrorInvalidValue, "cudaHostRegister", where, "the pointer is null or the size is 0");
  }
  if (s.host.contains(memory)) {
    return failed(cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister", where, "the memory is already registered");
  }
  s.host[memory] = {RegisteredRange(memory, bytes, "a host array"), bytes};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* memory, Where where) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto at = s.host.find(memory);
  if (at == s.host.end() || at->second.allocated) {
    return failed(cudaErrorHostMemoryNotRegistered, "cudaHostUnregister", where, "the memory is not registered");
  }
  s.host.erase(at);
  return cudaSuccess;
}

void forget_host_memory(void* memory) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const auto at = s.host.find(memory); at != s.host.end() && !at->second.allocated) s.host.erase(at);
}

namespace {

// The common part of cudaMemcpy and cudaMemcpyAsync.
cudaError_t checked_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const Where& where) {
  if (const cudaError_t broken = runtime::device_error(); broken != cudaSuccess) return broken;
  if (bytes == 0) return cudaSuccess;
  if (const std::optional<CallError> error = wrong_direction(to, from, bytes, kind)) {
    return fail_direction(where, *error);
  }
  if (std::optional<CallError> error = copy_error(to, from, bytes, kind)) {
    // A device copies what lies in the same memory block: at least the part inside the arrays.
    const size_t inside = std::min({bytes, bytes_inside(to), bytes_inside(from)});
    if (inside < bytes) copy(to, from, inside);
    return failed("cudaMemcpy", where, std::move(*error));
  }
  const size_t room = std::min(host_room(to), host_room(from));
  if (room < bytes) {
    const bool writes = host_room(to) == room;
    keep_failed_call({.call = "cudaMemcpy",
                      .place = place_of(where),
                      .why = fmt::format("{} {} bytes, but the host array ends after {}", writes ? "writes" : "reads",
                                         bytes, room)});
  }
  note_direction(to, from, bytes, kind, where);
  copy(to, from, std::min(bytes, room));
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Where where) noexcept {
  const cudaError_t error = checked_copy(to, from, bytes, kind, where);
  const bool within_device = side_of(to, bytes) == Side::device && side_of(from, bytes) == Side::device;
  if (!within_device) simt::internal::wait_for_all();
  return error;
}

namespace {

// Copies in a stream that on_stream() has set.
cudaError_t copy_in_stream(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                           const Where& where) {
  const cudaError_t error = checked_copy(to, from, bytes, kind, where);
  if (error != cudaSuccess || recorder() != nullptr) return error;
  const Side target = side_of(to, bytes), source = side_of(from, bytes);
  if (source == Side::pinned) simt::internal::begin_copy(from, bytes, false, "cudaMemcpyAsync", place_of(where));
  if (target == Side::pinned) simt::internal::begin_copy(to, bytes, true, "cudaMemcpyAsync", place_of(where));
  // A copy to memory that is not page-locked returns when it is done.
  if (target == Side::host) simt::internal::wait_for_stream(stream);
  return error;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                            Where where) noexcept {
  return runtime::submit(stream, cudaGraphNodeTypeMemcpy,
                         [=](cudaStream_t runs_in) { return copy_in_stream(to, from, bytes, kind, runs_in, where); });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, Where where) noexcept {
  if (width > to_pitch || width > from_pitch) {
    return failed(cudaErrorInvalidValue, "cudaMemcpy2D", where, "a row is longer than its pitch");
  }
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error = cudaMemcpy(static_cast<char*>(to) + row * to_pitch,
                                         static_cast<const char*>(from) + row * from_pitch, width, kind, where);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream, Where where) noexcept {
  return runtime::submit(stream, cudaGraphNodeTypeMemcpy, [=](cudaStream_t) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, where);
  });
}

cudaError_t cudaMemset(void* memory, int byte, size_t bytes, Where where) noexcept {
  if (bytes == 0) return cudaSuccess;
  if (std::optional<CallError> error = fill_error(memory, bytes)) return failed("cudaMemset", where, std::move(*error));
  fill_on_device(memory, byte, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int byte, size_t bytes, cudaStream_t stream, Where where) noexcept {
  return runtime::submit(stream, cudaGraphNodeTypeMemset,
                         [=](cudaStream_t) { return cudaMemset(memory, byte, bytes, where); });
}

}  // namespace cuda

std::string take_runtime_leaks() {
  using namespace cuda;
  State& s = state();
  std::lock_guard lock(s.mutex);
  struct Leak {
    size_t bytes = 0;
    int64_t first = 0, count = 0;
  };
  std::map<std::string, Leak> leaks;  // by array and line
  for (auto& [memory, each] : s.device) {
    if (std::exchange(each.reported, true)) continue;
    const std::string name = each.name.empty() ? "an array" : each.name;
    Leak& leak = leaks[fmt::format("{} (cudaMalloc at {}", name, short_text(place_of(each.where)))];
    leak.first = leak.count == 0 ? each.number : std::min(leak.first, each.number);
    leak.bytes += each.bytes;
    ++leak.count;
  }
  std::map<int64_t, std::string> in_order;
  for (const auto& [what, leak] : leaks) {
    const std::string times = leak.count > 1 ? fmt::format(", {} times", leak.count) : "";
    in_order[leak.first] = fmt::format("{} bytes of {}{})", leak.bytes, what, times);
  }
  std::string text;
  for (const auto& [first, leak] : in_order) text += (text.empty() ? "" : ", ") + leak;
  return text;
}

}  // namespace convlab::simt
