// Records what a submission asks of the device as a launch list.

#include "convlab/judge/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/rng.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/simt/kernel_call.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/product.h"
#include "convlab/simt/ranges.h"
#include "convlab/simt/symbols.h"

namespace convlab::judge {
namespace {

using Kind = Operation::Kind;

// The middle of the 47-bit user address space, which no system uses for mappings.
constexpr uintptr_t kFirstAddress = uintptr_t{0x10} << 40, kBeyondAddresses = uintptr_t{0x30} << 40;
constexpr size_t kArrayAlignment = 512;
constexpr size_t kMostBytes = size_t{1} << 39;

/// The inverse of an odd number modulo 2^32, by Newton's method: each step doubles the correct bits.
constexpr uint32_t inverse(uint32_t odd) {
  uint32_t result = odd;  // correct in three bits
  for (int i = 0; i < 4; ++i) result *= 2 - odd * result;
  return result;
}
constexpr uint32_t kFactor = 0x9e3779b1, kSecondFactor = 0x85ebca77;
static_assert(kFactor * inverse(kFactor) == 1 && kSecondFactor * inverse(kSecondFactor) == 1);

}  // namespace

uint32_t TellingWords::word(uint32_t number) const {
  uint32_t v = (number ^ key_) * kFactor;
  v ^= v >> 16;
  v = (v + key_) * kSecondFactor;
  return v ^ (v >> 16);
}

uint32_t TellingWords::number(uint32_t word) const {
  uint32_t v = (word ^ (word >> 16)) * inverse(kSecondFactor) - key_;
  v ^= v >> 16;
  return (v * inverse(kFactor)) ^ key_;
}

ListRecorder::ListRecorder(const ConvProblem& problem, uint64_t seed)
    : problem_(problem), telling_(static_cast<uint32_t>(Rng(seed).next())), random_(seed) {
  next_address_ = kFirstAddress + (Rng(seed + 1).next() % (uintptr_t{1} << 34)) * kArrayAlignment;
  first_x_ = add_words(HostBytes::Kind::x, 0, problem.input_count() * 4);
  first_w_ = add_words(HostBytes::Kind::w, 0, problem.filter_count() * 4);
}

bool ListRecorder::is_of_device(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= kFirstAddress && at < kBeyondAddresses;
}

void ListRecorder::put_arrays_on_device() {
  list_.on_device = true;
  add_array(kArrayX, static_cast<size_t>(problem_.input_count()) * 4);
  add_array(kArrayW, static_cast<size_t>(problem_.filter_count()) * 4);
  add_array(kArrayY, static_cast<size_t>(problem_.output_count()) * 4);
}

uint32_t ListRecorder::add_words(HostBytes::Kind kind, int download, int64_t bytes) {
  const int64_t count = ceil_div(bytes, int64_t{4});
  const uint32_t first = next_word_;
  if (count > int64_t{UINT32_MAX} - next_word_) {
    say_no("more than 16 GiB are copied between host and device");
    return first;
  }
  words_[first] = {kind, download, count};
  next_word_ += static_cast<uint32_t>(count);
  return first;
}

void ListRecorder::write_words(void* to, uint32_t first, size_t bytes) const {
  for (size_t at = 0; at < bytes; at += 4) {
    const uint32_t word = telling_.word(first++);
    std::memcpy(static_cast<char*>(to) + at, &word, std::min<size_t>(4, bytes - at));
  }
}

void ListRecorder::fill_x(std::span<float> x) const { write_words(x.data(), first_x_, x.size_bytes()); }
void ListRecorder::fill_w(std::span<float> w) const { write_words(w.data(), first_w_, w.size_bytes()); }

void ListRecorder::say_no(const std::string& why) {
  if (no_.empty()) no_ = why;
}

void ListRecorder::refuse(std::string_view what) { say_no(fmt::format("{} is not supported by the judge", what)); }

void* ListRecorder::add_array(int number, size_t bytes) {
  const size_t gap = (Rng(random_ += 17).next() % 64 + 1) * kArrayAlignment;
  const uintptr_t address = next_address_;
  next_address_ += (bytes / kArrayAlignment + 1) * kArrayAlignment + gap;
  arrays_[address] = {number, bytes};
  return reinterpret_cast<void*>(address);
}

void* ListRecorder::address_of(int number) const {
  for (const auto& [address, array] : arrays_) {
    if (array.number == number) return reinterpret_cast<void*>(address);
  }
  return nullptr;
}

ListRecorder::Place ListRecorder::place_of(uintptr_t address) const {
  auto above = arrays_.upper_bound(address);
  if (above == arrays_.begin()) return {};
  const auto& [begin, array] = *std::prev(above);
  const auto offset = static_cast<int64_t>(address - begin), bytes = static_cast<int64_t>(array.bytes);
  if (offset > bytes) return {};
  return {array.number, offset, bytes - offset};  // one past the end belongs to the array
}

size_t ListRecorder::room_at(const void* memory) const {
  return static_cast<size_t>(place_of(reinterpret_cast<uintptr_t>(memory)).room);
}

Operation& ListRecorder::add(Kind kind) {
  if (list_.operations.size() >= kMostOperations) {
    say_no(fmt::format("more than {} device operations", kMostOperations));
    list_.operations.pop_back();
  }
  Operation& op = list_.operations.emplace_back();
  op.kind = kind;
  op.stream = std::exchange(stream_, 0);
  return op;
}

Operation& ListRecorder::add_to(Kind kind, const void* memory, size_t bytes) {
  const Place place = place_of(reinterpret_cast<uintptr_t>(memory));
  Operation& op = add(kind);
  op.array = place.number;
  op.offset = place.offset;
  op.bytes = static_cast<int64_t>(bytes);
  if (place.number < 0 || static_cast<int64_t>(bytes) > place.room) {
    say_no("copy or fill of device memory that was not allocated");
  }
  return op;
}

void* ListRecorder::allocate(size_t bytes, std::string_view name) {
  if (bytes > kMostBytes) throw unavailable("simt: cannot allocate {} bytes for '{}'", bytes, name);
  Operation& op = add(Kind::allocate);
  op.array = next_array_++;
  op.bytes = static_cast<int64_t>(bytes);
  op.symbol = printable(name);
  return add_array(op.array, bytes);
}

void ListRecorder::release(void* memory) {
  const Place place = place_of(reinterpret_cast<uintptr_t>(memory));
  if (place.number < kFirstArray || place.offset != 0)
    return say_no("cudaFree of device memory that was not allocated");
  add(Kind::release).array = place.number;
  arrays_.erase(reinterpret_cast<uintptr_t>(memory));
}

HostBytes ListRecorder::source_of(const void* from, size_t bytes) const {
  HostBytes source;
  const auto* begin = static_cast<const char*>(from);
  if (bytes >= 4) {
    uint32_t word = 0;
    std::memcpy(&word, begin, 4);
    const uint32_t first = telling_.number(word);
    auto above = words_.upper_bound(first);
    const auto known = above == words_.begin() ? words_.end() : std::prev(above);
    if (known != words_.end() && first - known->first < static_cast<uint64_t>(known->second.count)) {
      const int64_t offset = 4 * static_cast<int64_t>(first - known->first);
      bool same = static_cast<int64_t>(bytes) <= known->second.count * 4 - offset;
      for (size_t at = 0; same && at < bytes; at += 4) {
        word = telling_.word(first + static_cast<uint32_t>(at / 4));
        same = std::memcmp(begin + at, &word, std::min<size_t>(4, bytes - at)) == 0;
      }
      if (same) {
        source.kind = known->second.kind;
        source.download = known->second.download;
        source.offset = offset;
        return source;
      }
    }
  }
  source.literal.assign(begin, bytes);
  return source;
}

void ListRecorder::copy_to_device(void* to, const void* from, size_t bytes) {
  if (no_.empty()) add_to(Kind::upload, to, bytes).source = source_of(from, bytes);
}

void ListRecorder::copy_to_host(void* to, const void* from, size_t bytes) {
  const int number = downloads_++;
  if (no_.empty()) add_to(Kind::download, from, bytes);
  write_words(to, add_words(HostBytes::Kind::download, number, static_cast<int64_t>(bytes)), bytes);
}

void ListRecorder::copy_on_device(void* to, const void* from, size_t bytes) {
  if (!no_.empty()) return;
  const Place source = place_of(reinterpret_cast<uintptr_t>(from));
  Operation& op = add_to(Kind::copy, to, bytes);
  op.from_array = source.number;
  op.from_offset = source.offset;
}

void ListRecorder::fill(void* memory, int byte, size_t bytes) {
  if (no_.empty()) add_to(Kind::fill, memory, bytes).byte = byte & 255;
}

void ListRecorder::copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                                  simt::RangeAccess access) {
  if (!no_.empty()) return;
  const auto& module = simt::internal::Module::of(symbol);
  const simt::internal::Symbol* variable = module.object_at(reinterpret_cast<uintptr_t>(symbol));
  if (variable == nullptr) return say_no("copy to a device variable without a symbol");
  Operation& op = add(Kind::set_symbol);
  op.symbol = variable->mangled;
  op.constant = access == simt::RangeAccess::read_only;
  op.offset = static_cast<int64_t>(offset + reinterpret_cast<uintptr_t>(symbol) - module.bias() - variable->begin);
  op.bytes = static_cast<int64_t>(bytes);
  const Place source = place_of(reinterpret_cast<uintptr_t>(from));
  op.from_array = source.number;
  op.from_offset = source.offset;
  if (source.number < 0) op.source = source_of(from, bytes);
}

LaunchArgument ListRecorder::argument_of(const char* bytes, const simt::ArgumentPlace& place, std::string_view kernel) {
  LaunchArgument argument{.place = static_cast<int64_t>(place.offset), .bytes{bytes + place.offset, place.bytes}};
  const auto ranges = simt::internal::current_ranges();  // host memory that kernels may access
  for (size_t at = 0; at + sizeof(uintptr_t) <= place.bytes; at += sizeof(uintptr_t)) {
    uintptr_t value = 0;
    std::memcpy(&value, argument.bytes.data() + at, sizeof(value));
    PointerInArgument pointer{.at = static_cast<int64_t>(at)};
    if (const Place target = place_of(value); target.number >= 0) {
      pointer.array = target.number;
      pointer.offset = target.offset;
    } else if (is_of_device(reinterpret_cast<void*>(value))) {
      say_no(fmt::format("{} gets a device address that is in no allocated array", kernel));
      continue;
    } else if (simt::internal::range_at(*ranges, value) != nullptr) {
      say_no(fmt::format(
          "{} gets host memory (cudaMallocHost, cudaMallocManaged, cudaHostRegister), which is not supported; copy to "
          "the device and back",
          kernel));
      continue;
    } else if (bias_ != 0) {
      const auto& module = simt::internal::Module::of(reinterpret_cast<const void*>(module_address_));
      const auto* segment = module.segment_at(value);
      const simt::internal::Symbol* variable = segment == nullptr ? nullptr : module.object_at(value);
      if (variable == nullptr) continue;
      pointer.variable = variable->mangled;
      pointer.offset = static_cast<int64_t>(value - module.bias() - variable->begin);
    } else {
      continue;
    }
    std::fill_n(argument.bytes.begin() + static_cast<ptrdiff_t>(at), sizeof(value), '\0');
    argument.pointers.push_back(std::move(pointer));
  }
  return argument;
}

void ListRecorder::launch(const simt::KernelCall& call, const simt::LaunchShape& shape) {
  if (!no_.empty()) return;
  const auto& module = simt::internal::Module::of(call.function);
  const simt::internal::Symbol* kernel = module.function_at(reinterpret_cast<uintptr_t>(call.function));
  const auto invoke_address = reinterpret_cast<uintptr_t>(call.invoke);
  const simt::internal::Symbol* invoke = module.function_at(invoke_address);
  if (kernel == nullptr || invoke == nullptr) return say_no("launch of a kernel without a symbol");
  if (bias_ != 0 && bias_ != module.bias()) return say_no("launch of kernels from more than one library");
  bias_ = module.bias();
  module_address_ = reinterpret_cast<uintptr_t>(call.function);
  Operation& op = add(Kind::launch);
  op.symbol = kernel->mangled;
  op.invoke = invoke->mangled;
  op.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  op.block = {shape.block.x, shape.block.y, shape.block.z};
  op.shared_bytes = static_cast<int64_t>(shape.shared_bytes);
  op.argument_bytes = static_cast<int64_t>(call.argument_bytes);
  const std::string name = short_symbol(kernel->mangled);
  for (const simt::ArgumentPlace& place : call.places) {
    op.arguments.push_back(argument_of(static_cast<const char*>(call.arguments), place, name));
  }
}

void ListRecorder::multiply(const simt::Product& product) {
  if (!no_.empty()) return;
  if (!std::isfinite(product.alpha) || !std::isfinite(product.beta))
    return say_no("cuBLAS product with alpha or beta not finite");
  Operation& op = add(Kind::multiply);
  op.product = product;
  const auto take = [&](simt::ProductMatrix& matrix, MatrixPlace& to) {
    const Place place = place_of(reinterpret_cast<uintptr_t>(std::exchange(matrix.data, nullptr)));
    if (place.number < 0) say_no("cuBLAS product of a matrix that is not in allocated device memory");
    to = {place.number, place.offset};
  };
  take(op.product.a, op.a);
  take(op.product.b, op.b);
  take(op.product.c, op.c);
}

int ListRecorder::stream_number(const void* stream) {
  const auto known = streams_.try_emplace(stream, static_cast<int>(streams_.size()));
  return known.first->second;
}

void ListRecorder::on_stream(const void* stream) { stream_ = stream_number(stream); }

void ListRecorder::record_event(const void* event, const void* stream) {
  if (!no_.empty()) return;
  Operation& op = add(Kind::record);
  op.stream = stream_number(stream);
  op.event = events_.try_emplace(event, static_cast<int>(events_.size())).first->second;
}

void ListRecorder::wait_for_event(const void* stream, const void* event) {
  if (!no_.empty()) return;
  Operation& op = add(Kind::wait);
  op.stream = stream_number(stream);
  op.event = events_.try_emplace(event, static_cast<int>(events_.size())).first->second;
}

void ListRecorder::synchronize() {
  stream_ = 0;
  if (!no_.empty()) return;
  if (!list_.operations.empty() && list_.operations.back().kind == Kind::synchronize) return;
  add(Kind::synchronize);
}

LaunchList ListRecorder::finish(std::span<const float> host_y, uintptr_t library_bias) {
  if (no_.empty() && bias_ != 0 && bias_ != library_bias) {
    say_no("launch of a kernel from another library");
  }
  for (size_t i = 0; i < host_y.size() && no_.empty();) {
    size_t count = 1;  // elements in this piece
    OutputPiece piece;
    const HostBytes first = source_of(&host_y[i], 4);
    if (first.kind == HostBytes::Kind::download) {
      const auto number = [&](size_t at) { return telling_.number(std::bit_cast<uint32_t>(host_y[at])); };
      const uint32_t begin = number(i);
      const auto known = std::prev(words_.upper_bound(begin));
      const auto left = static_cast<size_t>(known->second.count - (begin - known->first));
      while (count < left && i + count < host_y.size() && number(i + count) == begin + count) ++count;
      piece.download = first.download;
      piece.offset = first.offset;
    } else if (host_y[i] == 0.0f) {
      while (i + count < host_y.size() && host_y[i + count] == 0.0f) ++count;
    } else {
      say_no(fmt::format("the host writes y[{}] itself; y may hold only values that kernels computed", i));
    }
    piece.bytes = static_cast<int64_t>(count) * 4;
    list_.output.push_back(piece);
    i += count;
  }
  if (!no_.empty()) throw bad_input("{}", no_);
  return list_;
}

}  // namespace convlab::judge
