// Checks which arrays a copy, a fill or a cudaFree() accesses, and says where they were allocated and freed.

#include "convlab/simt/cuda/copy_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/host_code.h"
#include "convlab/simt/host_memory.h"
#include "convlab/simt/initialized_bytes.h"
#include "convlab/simt/memory.h"

namespace convlab::simt::cuda {
namespace {

uintptr_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

bool goes_to_device(cudaMemcpyKind kind) { return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice; }
bool comes_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

/// Returns "the source 'device_x'".
std::string named(std::string_view what, const std::string& name) {
  return name.empty() ? fmt::format("the {}", what) : fmt::format("the {} '{}'", what, name);
}

/// Returns the error of host memory that holds a pointer to device memory, which was meant; nullopt if it does not.
std::optional<CallError> not_dereferenced(std::string_view what, const void* memory) {
  if (address_of(memory) % alignof(void*) != 0 || !internal::is_mapped(address_of(memory))) return std::nullopt;
  const void* pointer = nullptr;
  std::memcpy(&pointer, memory, sizeof(pointer));
  if (side_of(pointer, 1) != Side::device) return std::nullopt;
  CallError error{fmt::format("the {} is the address of a device pointer, not the pointer", what),
                  "write *p if p is a float**, or p instead of &p"};
  const auto ranges = internal::current_ranges();
  const internal::Range* const range = internal::range_at(*ranges, address_of(pointer));
  if (range == nullptr) return error;
  if (std::optional<Label> allocation = allocation_label(range->name, range->bytes, range->allocated)) {
    error.related.push_back(std::move(*allocation));
  }
  return error;
}

/// Returns the error of memory that is not device memory: it may have been before.
CallError not_on_device(std::string_view what, const void* memory) {
  const std::optional<internal::Released> released = internal::released_at(address_of(memory));
  if (std::optional<CallError> error = not_dereferenced(what, memory); error && !released) return *error;
  if (!released) return {fmt::format("the {} is not device memory", what)};
  CallError error{fmt::format("{} is already free", named(what, released->name)), "free it after its last use"};
  error.related.push_back({.place = released->place, .text = released->how, .subject = "cudaFree"});
  if (std::optional<Label> allocation = allocation_label(released->name, released->bytes, released->allocated)) {
    error.related.push_back(std::move(*allocation));
  }
  return error;
}

/// Returns the error of a copy to or from a device variable: the host sees only its shadow.
CallError not_for_variables(const void* memory, bool writes) {
  const internal::DeviceVariable variable = *internal::device_variable_at(address_of(memory));
  return {fmt::format("'{}' is a {} variable: host code has no device pointer to it", variable.name, variable.memory),
          writes ? fmt::format("use cudaMemcpyToSymbol({}, source, bytes)", variable.name)
                 : fmt::format("use cudaMemcpyFromSymbol(destination, {}, bytes)", variable.name),
          {},
          variable.name};
}

/// Returns the error of an access of `bytes` that goes past the end of an array.
CallError past_end(std::string_view does, std::string_view what, const void* memory, size_t bytes) {
  const auto ranges = internal::current_ranges();
  const internal::Range* const range = internal::range_at(*ranges, address_of(memory));
  if (range == nullptr) return {fmt::format("{} {} bytes, past the end of the {}", does, bytes, what)};
  const size_t needed = address_of(memory) - range->base + bytes;
  CallError error{
      fmt::format("{} {} bytes, past the end of {} ({} bytes)", does, bytes, named(what, range->name), range->bytes)};
  const bool is_count = range->bytes * sizeof(float) == needed;
  error.help = is_count ? fmt::format("possibly sizeof(float) is missing: allocate {} bytes", needed)
                        : fmt::format("allocate at least {} bytes, or a smaller size in this call", needed);
  if (std::optional<Label> allocation = allocation_label(range->name, range->bytes, range->allocated)) {
    error.related.push_back(std::move(*allocation));
  }
  return error;
}

}  // namespace

Side side_of(const void* memory, size_t bytes) {
  if (const Recorder* const records = recorder()) {
    const size_t room = records->room_at(memory);
    if (room > 0) return bytes > room ? Side::past_end : Side::device;
  }
  const uintptr_t address = address_of(memory);
  if (const std::optional<internal::DeviceVariable> variable = internal::device_variable_at(address)) {
    return variable->exposed ? Side::device : Side::variable;
  }
  const auto ranges = internal::current_ranges();
  const internal::Range* range = internal::range_at(*ranges, address);
  if (range == nullptr) return Side::host;
  if (!range->initialized) return Side::pinned;
  return bytes > range->bytes - (address - range->base) ? Side::past_end : Side::device;
}

size_t bytes_inside(const void* memory) {
  if (const Recorder* const records = recorder()) {
    const size_t room = records->room_at(memory);
    return room > 0 ? room : SIZE_MAX;
  }
  const auto ranges = internal::current_ranges();
  const internal::Range* range = internal::range_at(*ranges, address_of(memory));
  if (range == nullptr || side_of(memory, 1) == Side::variable) return SIZE_MAX;
  return range->bytes - (address_of(memory) - range->base);
}

std::optional<CallError> copy_error(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (to == nullptr) return CallError{"the destination is a null pointer"};
  if (from == nullptr) return CallError{"the source is a null pointer"};
  const Side target = side_of(to, bytes), source = side_of(from, bytes);
  if (target == Side::variable) return not_for_variables(to, true);
  if (source == Side::variable) return not_for_variables(from, false);
  if (target == Side::past_end) return past_end("it writes", "destination", to, bytes);
  if (source == Side::past_end) return past_end("it reads", "source", from, bytes);
  if (kind == cudaMemcpyDefault) return std::nullopt;
  if (goes_to_device(kind) && target == Side::host) return not_on_device("destination", to);
  if (comes_from_device(kind) && source == Side::host) return not_on_device("source", from);
  if (kind != cudaMemcpyHostToHost) return std::nullopt;
  if (target == Side::device) return CallError{"the destination is device memory, not host memory"};
  if (source == Side::device) return CallError{"the source is device memory, not host memory"};
  return std::nullopt;
}

std::optional<CallError> access_error(std::string_view what, const void* memory, size_t bytes, bool writes) {
  switch (side_of(memory, bytes)) {
    case Side::host:
      return not_on_device(what, memory);
    case Side::variable:
      return not_for_variables(memory, writes);
    case Side::past_end:
      return past_end(writes ? "it writes" : "it reads", what, memory, bytes);
    case Side::pinned:
    case Side::device:
      break;
  }
  return std::nullopt;
}

std::optional<CallError> fill_error(const void* memory, size_t bytes) {
  return access_error("destination", memory, bytes, true);
}

std::optional<Unwritten> first_unwritten(const void* memory, size_t bytes) {
  const auto ranges = internal::current_ranges();
  const internal::Range* const range = internal::range_at(*ranges, address_of(memory));
  if (range == nullptr || !range->initialized || bytes == 0) return std::nullopt;
  const size_t begin = address_of(memory) - range->base;
  const size_t end = std::min(begin + bytes, range->bytes);
  const size_t first = internal::first_unmarked(range->initialized.get(), begin, end - begin);
  if (first >= end) return std::nullopt;
  return Unwritten{range->name, first, allocation_label(range->name, range->bytes, range->allocated)};
}

CallError free_error(const void* memory) {
  const std::optional<internal::Released> released = internal::released_at(address_of(memory));
  if (!released || released->base != address_of(memory)) return {"cudaMalloc did not return this pointer"};
  CallError error = not_on_device("array", memory);
  error.help = "call cudaFree once for each cudaMalloc";
  return error;
}

std::optional<CallError> wrong_direction(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const Side target = side_of(to, bytes), source = side_of(from, bytes);
  const bool up = source == Side::host && target == Side::device;
  const bool down = source == Side::device && target == Side::host;
  if (!(up && comes_from_device(kind)) && !(down && goes_to_device(kind))) return std::nullopt;
  return CallError{fmt::format("it copies from {} memory, but its direction is {}, so nothing is copied",
                               up ? "host to device" : "device to host", name_of(kind)),
                   fmt::format("use {}, or swap the pointers: the destination comes first",
                               name_of(up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost))};
}

CallError small_variable(const void* symbol, size_t symbol_bytes, size_t bytes, size_t offset) {
  const std::optional<internal::DeviceVariable> variable = internal::device_variable_at(address_of(symbol));
  const std::string name = variable ? variable->name : "";
  return {fmt::format("a copy of {} bytes to offset {} does not fit in a variable of {} bytes", bytes, offset,
                      symbol_bytes),
          fmt::format("declare {} with at least {} bytes, {} floats", name.empty() ? "the variable" : name,
                      offset + bytes, (offset + bytes + sizeof(float) - 1) / sizeof(float)),
          {},
          name};
}

std::string_view name_of(cudaMemcpyKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                                   "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                                   "cudaMemcpyDefault"};
  return static_cast<size_t>(kind) < kNames.size() ? kNames[static_cast<size_t>(kind)] : "an unknown direction";
}

}  // namespace convlab::simt::cuda
