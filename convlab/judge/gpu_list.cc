// Replays launch lists on a GPU through the CUDA driver.

#include "convlab/judge/gpu_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/symbol.h"
#include "convlab/device/cuda_check.h"
#include "convlab/judge/gpu_products.h"

namespace convlab::judge {
namespace {

constexpr int64_t kAlignment = 256;    // of cudaMalloc's addresses
constexpr int64_t kMostGap = 1 << 20;  // between arrays

/// Looks up a driver function at run time, so that programs start on machines without a driver.
template <class Function>
Function* driver(const char* name, int version = 12000) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found), name);
  if (found != cudaDriverEntryPointSuccess) throw unavailable("the CUDA driver has no {}; update the driver", name);
  return reinterpret_cast<Function*>(function);
}
#define CONVLAB_DRIVER(name, ...) driver<decltype(name)>(#name __VA_OPT__(, ) __VA_ARGS__)

void check_driver(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  static auto* const words = CONVLAB_DRIVER(cuGetErrorString);
  words(result, &text);
  throw GpuFault{fmt::format("{}: {}", what, text != nullptr ? text : "no reason given")};
}

void check_run(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw GpuFault{fmt::format("{}: {}", what, cudaGetErrorString(status))};
}

int64_t rounded_up(int64_t bytes) { return (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment; }

const std::string& name_in(const CubinNames& names, const std::string& symbol) {
  try {
    return names.of(symbol);
  } catch (const Error& error) {
    throw GpuFault{error.what()};
  }
}

}  // namespace

GpuModule::GpuModule(std::span<const uint8_t> cubin, const CubinNames& names) : names_(names) {
  static auto* const load = CONVLAB_DRIVER(cuModuleLoadData);
  check_driver(load(&module_, cubin.data()), "loading machine code");
}

GpuModule::~GpuModule() {
  static auto* const unload = CONVLAB_DRIVER(cuModuleUnload);
  unload(module_);
}

CUfunction GpuModule::kernel(const std::string& symbol) const {
  static auto* const find = CONVLAB_DRIVER(cuModuleGetFunction);
  CUfunction function = nullptr;
  check_driver(find(&function, module_, name_in(names_, symbol).c_str()), short_symbol(symbol));
  return function;
}

CUdeviceptr GpuModule::variable(const std::string& symbol, int64_t offset, int64_t bytes) const {
  static auto* const find = CONVLAB_DRIVER(cuModuleGetGlobal);
  CUdeviceptr address = 0;
  size_t size = 0;
  check_driver(find(&address, &size, module_, name_in(names_, symbol).c_str()), short_symbol(symbol));
  const auto all = static_cast<int64_t>(size);
  if (offset < 0 || bytes > all || offset > all - bytes) {
    throw GpuFault{fmt::format("access past the end of {}", short_symbol(symbol))};
  }
  return address + static_cast<CUdeviceptr>(offset);
}

int64_t Cuts::cut(int64_t bytes, int64_t gap) {
  if (const auto again = free_.find(bytes); again != free_.end()) {
    const int64_t begin = again->second;
    free_.erase(again);
    return begin;
  }
  const int64_t begin = end_;
  end_ += rounded_up(bytes) + gap;
  return begin;
}

GpuArena::GpuArena(int64_t bytes) : bytes_(bytes) {
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&memory_), static_cast<size_t>(bytes)),
             "allocating memory for a submission");
}

GpuArena::~GpuArena() { cudaFree(memory_); }

void GpuArena::begin(uint64_t seed) {
  random_ = Rng(seed);
  cuts_ = Cuts(random_gap());
  check_cuda(cudaMemset(memory_, 0xff, static_cast<size_t>(bytes_)), "filling memory with NaN");
}

int64_t GpuArena::random_gap() { return random_.integer(0, kMostGap / kAlignment) * kAlignment; }

char* GpuArena::cut(int64_t bytes) {
  const int64_t begin = cuts_.cut(bytes, random_gap());
  if (begin + bytes > bytes_) throw unavailable("a launch list needs more memory than was counted");
  return memory_ + begin;
}

int64_t GpuArena::bytes_for(const LaunchList& list, const ConvProblem& problem) {
  Cuts cuts(kMostGap);
  std::map<int, std::pair<int64_t, int64_t>> arrays;
  if (list.on_device) {
    for (const int64_t count : {problem.input_count(), problem.filter_count(), problem.output_count()}) {
      cuts.cut(4 * count, kMostGap);
    }
  }
  for (const Operation& op : list.operations) {
    if (op.kind == Operation::Kind::allocate) arrays[op.array] = {cuts.cut(op.bytes, kMostGap), op.bytes};
    if (op.kind == Operation::Kind::release) cuts.give_back(arrays[op.array].first, arrays[op.array].second);
  }
  return cuts.end();
}

GpuRun::GpuRun(const LaunchList& list, const ConvProblem& problem, const GpuModule& module, GpuArena& arena,
               const Data& data, uint64_t seed)
    : list_(list), module_(module), arena_(arena), host_(data.x, data.w) {
  arena_.begin(seed);
  if (list.on_device) {
    place(kArrayX, data.x);
    place(kArrayW, data.w);
    const int64_t bytes = 4 * problem.output_count();
    arrays_[kArrayY] = {arena_.cut(bytes), bytes};
    if (data.zeros) check_cuda(cudaMemset(arrays_[kArrayY].begin, 0, static_cast<size_t>(bytes)), "zeroing y");
  }
  for (const Operation& op : list.operations) {
    if (std::function<void()> step = made(op)) steps_.push_back(std::move(step));
  }
  check_cuda(cudaDeviceSynchronize(), "preparing the arrays of a run");
}

GpuRun::~GpuRun() {
  for (const auto& [number, event] : events_) cudaEventDestroy(event);
  for (const auto& [number, stream] : streams_) {
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
}

void GpuRun::place(int number, std::span<const uint8_t> bytes) {
  char* const array = arena_.cut(std::ssize(bytes));
  arrays_[number] = {array, std::ssize(bytes)};
  check_cuda(cudaMemcpy(array, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copying x and w");
}

void GpuRun::execute() {
  for (const std::function<void()>& step : steps_) step();
  check_run(cudaDeviceSynchronize(), "running kernels");
}

void GpuRun::read_output(std::span<float> y) const {
  if (list_.on_device) {
    check_run(cudaMemcpy(y.data(), arrays_.at(kArrayY).begin, y.size_bytes(), cudaMemcpyDeviceToHost), "copying y");
    return;
  }
  host_.put_together(list_.output, {reinterpret_cast<char*>(y.data()), y.size_bytes()});
}

cudaStream_t GpuRun::stream(int number) {
  const auto [at, is_new] = streams_.try_emplace(number);
  if (is_new) check_cuda(cudaStreamCreate(&at->second), "creating a stream");
  return at->second;
}

cudaEvent_t GpuRun::event(int number) {
  const auto [at, is_new] = events_.try_emplace(number);
  if (is_new) check_cuda(cudaEventCreateWithFlags(&at->second, cudaEventDisableTiming), "creating an event");
  return at->second;
}

std::function<void()> GpuRun::made_copy(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind,
                                        cudaStream_t stream) const {
  return [=] { check_run(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, stream), "copying memory"); };
}

std::function<void()> GpuRun::made_launch(const Operation& op) {
  static auto* const start = CONVLAB_DRIVER(cuLaunchKernel);
  static auto* const set = CONVLAB_DRIVER(cuFuncSetAttribute);
  static auto* const parameter = CONVLAB_DRIVER(cuFuncGetParamInfo, 12040);
  const std::string name = short_symbol(op.symbol);
  const CUfunction kernel = module_.kernel(op.symbol);
  // The driver reads the parameter count and sizes from the machine code, so the list must match them.
  auto arguments = std::make_shared<std::vector<std::string>>();
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; i <= op.arguments.size(); ++i) {
    const bool there = parameter(kernel, i, &offset, &bytes) == CUDA_SUCCESS;
    if (there != (i < op.arguments.size()) || (there && bytes != op.arguments[i].bytes.size())) {
      throw GpuFault{fmt::format("{}: launch parameters do not match the compiled kernel", name)};
    }
  }
  for (const LaunchArgument& argument : op.arguments) {
    std::string& value = arguments->emplace_back(argument.bytes);
    for (const PointerInArgument& pointer : argument.pointers) {
      const CUdeviceptr address = pointer.array >= 0
                                      ? reinterpret_cast<CUdeviceptr>(arrays_.at(pointer.array).begin + pointer.offset)
                                      : module_.variable(pointer.variable, pointer.offset, 0);
      std::memcpy(value.data() + pointer.at, &address, sizeof(address));
    }
  }
  auto places = std::make_shared<std::vector<void*>>();
  for (std::string& argument : *arguments) places->push_back(argument.data());
  constexpr int64_t kWithoutAsking = 48 << 10;
  if (op.shared_bytes > kWithoutAsking) {
    check_driver(set(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(op.shared_bytes)), name);
  }
  return [kernel, name, arguments, places, &op, stream = stream(op.stream)] {
    const auto at = [](const std::array<int64_t, 3>& sizes, size_t i) { return static_cast<unsigned>(sizes[i]); };
    check_driver(start(kernel, at(op.grid, 0), at(op.grid, 1), at(op.grid, 2), at(op.block, 0), at(op.block, 1),
                       at(op.block, 2), static_cast<unsigned>(op.shared_bytes), stream, places->data(), nullptr),
                 name);
  };
}

std::function<void()> GpuRun::made_product(const Operation& op) {
  const GpuProducts& products = GpuProducts::get();  // creates the handle before the clock starts
  simt::Product product = op.product;
  const auto place = [&](const MatrixPlace& matrix) { return arrays_.at(matrix.array).begin + matrix.offset; };
  product.a.data = place(op.a);
  product.b.data = place(op.b);
  product.c.data = place(op.c);
  return [&products, product, stream = stream(op.stream)] {
    if (const std::string refusal = products.multiply(product, stream); !refusal.empty()) throw GpuFault{refusal};
  };
}

std::function<void()> GpuRun::made(const Operation& op) {
  const auto target = [&] { return arrays_.at(op.array).begin + op.offset; };
  const auto other = [&] { return arrays_.at(op.from_array).begin + op.from_offset; };
  switch (op.kind) {
    case Operation::Kind::allocate:
      arrays_[op.array] = {arena_.cut(op.bytes), op.bytes};
      return nullptr;
    case Operation::Kind::release:
      arena_.give_back(arrays_.at(op.array).begin, arrays_.at(op.array).bytes);
      arrays_.erase(op.array);
      return nullptr;
    case Operation::Kind::upload:
      return made_copy(target(), host_.at(op.source), op.bytes, cudaMemcpyHostToDevice, stream(op.stream));
    case Operation::Kind::download:
      return made_copy(host_.next_download(op.bytes), target(), op.bytes, cudaMemcpyDeviceToHost, stream(op.stream));
    case Operation::Kind::copy:
      return made_copy(target(), other(), op.bytes, cudaMemcpyDeviceToDevice, stream(op.stream));
    case Operation::Kind::fill:
      return [to = target(), &op, stream = stream(op.stream)] {
        check_run(cudaMemsetAsync(to, op.byte, static_cast<size_t>(op.bytes), stream), "filling memory");
      };
    case Operation::Kind::set_symbol: {
      void* const to = reinterpret_cast<void*>(module_.variable(op.symbol, op.offset, op.bytes));
      if (op.from_array >= 0) return made_copy(to, other(), op.bytes, cudaMemcpyDeviceToDevice, stream(op.stream));
      return made_copy(to, host_.at(op.source), op.bytes, cudaMemcpyHostToDevice, stream(op.stream));
    }
    case Operation::Kind::launch:
      return made_launch(op);
    case Operation::Kind::multiply:
      return made_product(op);
    case Operation::Kind::record:
      return [event = event(op.event), stream = stream(op.stream)] {
        check_run(cudaEventRecord(event, stream), "recording an event");
      };
    case Operation::Kind::wait:
      return [event = event(op.event), stream = stream(op.stream)] {
        check_run(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
      };
    case Operation::Kind::synchronize:
      return [] { check_run(cudaDeviceSynchronize(), "running kernels"); };
  }
  return nullptr;
}

}  // namespace convlab::judge
