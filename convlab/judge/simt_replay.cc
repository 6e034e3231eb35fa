// Replays launch lists on simt.

#include "convlab/judge/simt_replay.h"

#include <cstring>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/symbol.h"
#include "convlab/judge/library_place.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/product.h"

namespace convlab::judge {
namespace {

using simt::internal::Module;
using simt::internal::Symbol;

/// `inputs`: x followed by w. Throws Error(bad_input) if their size is wrong.
HostMemory host_memory(std::span<const uint8_t> inputs, const ConvProblem& problem) {
  const size_t bytes_x = static_cast<size_t>(problem.input_count()) * sizeof(float),
               bytes_w = static_cast<size_t>(problem.filter_count()) * sizeof(float);
  if (inputs.size() != bytes_x + bytes_w)
    throw bad_input("inputs: expected {} bytes, got {}", bytes_x + bytes_w, inputs.size());
  return {inputs.first(bytes_x), inputs.subspan(bytes_x)};
}

}  // namespace

SimtReplay::SimtReplay(const std::string& library, const LaunchList& list, const ConvProblem& problem, bool zeros,
                       std::span<const uint8_t> inputs)
    : module_(Module::of(place_of_library(library).l_ld)),
      list_(list),
      host_(host_memory(inputs, problem)),
      bytes_y_(static_cast<size_t>(problem.output_count()) * sizeof(float)) {
  if (!list.on_device) return;
  add_input(kArrayX, host_.x(), "x");
  add_input(kArrayW, host_.w(), "w");
  add(kArrayY, bytes_y_, "y");
  if (zeros) simt::fill_on_device(arrays_[kArrayY], 0, bytes_y_);
}

void SimtReplay::run() {
  for (const Operation& op : list_.operations) run(op);
}

std::vector<char> SimtReplay::output() const {
  std::vector<char> y(bytes_y_, 0);
  if (list_.on_device) {
    simt::copy_to_host(y.data(), arrays_.at(kArrayY), bytes_y_);
  } else {
    host_.put_together(list_.output, y);
  }
  return y;
}

void SimtReplay::add(int number, size_t bytes, std::string_view name) {
  arrays_[number] = static_cast<char*>(simt::allocate(bytes, name));
}

void SimtReplay::add_input(int number, std::span<const uint8_t> bytes, std::string_view name) {
  add(number, bytes.size(), name);
  simt::copy_to_device(arrays_[number], bytes.data(), bytes.size());
  simt::narrow(arrays_[number], bytes.size(), name, simt::RangeAccess::read_only);
}

uintptr_t SimtReplay::address(const Symbol* symbol, const std::string& name) const {
  if (symbol == nullptr) throw bad_input("the file has no symbol {}", name);
  return symbol->begin + module_.bias();
}

uintptr_t SimtReplay::variable(const std::string& name, int64_t offset) const {
  const Symbol* symbol = module_.object_named(name);
  const uintptr_t begin = address(symbol, name);
  if (offset < 0 || offset > static_cast<int64_t>(symbol->bytes)) {
    throw bad_input("access past the end of {}", short_symbol(name));
  }
  return begin + static_cast<uintptr_t>(offset);
}

void SimtReplay::launch(const Operation& op) const {
  std::vector<char> memory(static_cast<size_t>(op.argument_bytes) + sizeof(void*), 0);
  const uintptr_t kernel = address(module_.function_named(op.symbol), op.symbol);
  const uintptr_t invoke = address(module_.function_named(op.invoke), op.invoke);
  std::memcpy(memory.data(), &kernel, sizeof(kernel));
  std::vector<simt::ArgumentPlace> places;  // by which simt names arrays as the kernel does
  for (const LaunchArgument& argument : op.arguments) {
    places.push_back({static_cast<size_t>(argument.place), argument.bytes.size()});
    char* const place = memory.data() + argument.place;
    argument.bytes.copy(place, argument.bytes.size());
    for (const PointerInArgument& pointer : argument.pointers) {
      const uintptr_t value = pointer.array >= 0
                                  ? reinterpret_cast<uintptr_t>(arrays_.at(pointer.array) + pointer.offset)
                                  : variable(pointer.variable, pointer.offset);
      std::memcpy(place + pointer.at, &value, sizeof(value));
    }
  }
  simt::launch_grid({reinterpret_cast<const void*>(kernel), reinterpret_cast<void (*)(const void*)>(invoke),
                     memory.data(), static_cast<size_t>(op.argument_bytes), places},
                    {.grid = {op.grid[0], op.grid[1], op.grid[2]},
                     .block = {op.block[0], op.block[1], op.block[2]},
                     .shared_bytes = static_cast<size_t>(op.shared_bytes),
                     .where = {}});  // a list has no source lines
}

void SimtReplay::multiply(const Operation& op) const {
  simt::Product product = op.product;
  product.a.data = arrays_.at(op.a.array) + op.a.offset;
  product.b.data = arrays_.at(op.b.array) + op.b.offset;
  product.c.data = arrays_.at(op.c.array) + op.c.offset;
  simt::multiply(product);
}

void SimtReplay::run(const Operation& op) {
  const auto bytes = static_cast<size_t>(op.bytes);
  switch (op.kind) {
    case Operation::Kind::allocate:
      return add(op.array, bytes, op.symbol);
    case Operation::Kind::release:
      simt::release(arrays_.at(op.array));
      arrays_.erase(op.array);
      return;
    case Operation::Kind::upload:
      return simt::copy_to_device(target(op), host_.at(op.source), bytes);
    case Operation::Kind::download:
      return simt::copy_to_host(host_.next_download(op.bytes), target(op), bytes);
    case Operation::Kind::copy:
      return simt::copy_on_device(target(op), arrays_.at(op.from_array) + op.from_offset, bytes);
    case Operation::Kind::fill:
      return simt::fill_on_device(target(op), op.byte, bytes);
    case Operation::Kind::set_symbol: {
      const Symbol* symbol = module_.object_named(op.symbol);
      void* const begin = reinterpret_cast<void*>(address(symbol, op.symbol));
      const void* const from = op.from_array >= 0 ? arrays_.at(op.from_array) + op.from_offset : host_.at(op.source);
      return simt::copy_to_symbol(begin, symbol->bytes, from, bytes, static_cast<size_t>(op.offset),
                                  op.constant ? simt::RangeAccess::read_only : simt::RangeAccess::read_write);
    }
    case Operation::Kind::launch:
      return launch(op);
    case Operation::Kind::multiply:
      return multiply(op);
    case Operation::Kind::record:
    case Operation::Kind::wait:
    case Operation::Kind::synchronize:
      return;  // simt executes operations synchronously
  }
}

}  // namespace convlab::judge
