// Verifies and times submissions on a GPU by replaying their launch lists.

#include "convlab/judge/gpu_replay.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "convlab/base/clock.h"
#include "convlab/base/entropy.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/limits.h"
#include "convlab/device/cuda_check.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/device/thread_pool.h"
#include "convlab/judge/check.h"
#include "convlab/judge/gpu_list.h"
#include "convlab/judge/ratio_sampling.h"
#include "convlab/measure/ceilings.h"
#include "convlab/measure/json_members.h"
#include "convlab/verify/compare.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

/// A cubin, from which modules are loaded.
class Program {
 public:
  explicit Program(const std::string& cubin) : cubin_(read_file(cubin)), names_(cubin_) {}

  /// Returns a newly loaded module, whose variables have their initial values.
  GpuModule loaded() const { return {cubin_, names_}; }

 private:
  std::vector<uint8_t> cubin_;
  CubinNames names_;
};

LaunchList list_from(const std::string& path, const ConvProblem& problem) {
  return read_list(read_text(path, kMostListBytes), problem, INT64_MAX);
}

std::string text_of(const JsonMembers& from, const char* name) {
  std::string text;
  from.read(name, text);
  return text;
}

// ---- Verifying ----

struct VerifyRun {
  ConvProblem problem;
  LaunchList list;
  std::string inputs, output;
};

void run_once(const VerifyRun& each, const Program& program, GpuArena& arena, bool zeros, uint64_t seed) {
  const std::vector<uint8_t> inputs = read_file(each.inputs);
  const auto bytes_x = static_cast<size_t>(each.problem.input_count()) * sizeof(float);
  if (inputs.size() < bytes_x) throw bad_input("{}: file is too short", each.inputs);
  const std::span<const uint8_t> all = inputs;
  const GpuModule module = program.loaded();
  GpuRun run(each.list, each.problem, module, arena,
             {.x = all.first(bytes_x), .w = all.subspan(bytes_x), .zeros = zeros}, seed);
  run.execute();
  std::vector<float> y(static_cast<size_t>(each.problem.output_count()));
  run.read_output(y);
  write_file(each.output, std::string(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float)));
}

Json verified(const JsonMembers& from, const Program& program, bool zeros) {
  std::vector<VerifyRun> runs;
  int64_t most = 0;
  from.objects("runs", [&](const JsonMembers& each) {
    VerifyRun& run = runs.emplace_back();
    run.problem = parse_problem(text_of(each, "problem"));
    run.list = list_from(text_of(each, "list"), run.problem);
    run.inputs = text_of(each, "inputs");
    run.output = text_of(each, "output");
    most = std::max(most, GpuArena::bytes_for(run.list, run.problem));
  });
  GpuArena arena(most);
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      run_once(runs[i], program, arena, zeros, i);
    } catch (const GpuFault& fault) {
      return {{"done", i}, {"fault", fault.text}};
    }
  }
  return {{"done", runs.size()}};
}

// ---- Timing ----

/// Evicts the L2, and resets persisting lines that a kernel set aside.
class CacheFlush {
 public:
  explicit CacheFlush(int gpu) {
    int bytes = 0;
    check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, gpu), "querying the L2 size");
    bytes_ = 2 * static_cast<size_t>(std::max(bytes, 1 << 20));
    check_cuda(cudaMalloc(&memory_, bytes_), "allocating memory to flush the L2");
  }
  ~CacheFlush() { cudaFree(memory_); }
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  void operator()() const {
    cudaCtxResetPersistingL2Cache();  // not all GPUs have it
    cudaGetLastError();
    check_cuda(cudaMemset(memory_, 0, bytes_), "flushing the L2");
    check_cuda(cudaDeviceSynchronize(), "flushing the L2");
  }

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

struct Layer {
  ConvProblem problem;
  LaunchList list, reference;
};

/// Returns how the submission's output differs from the reference's beyond their error bounds, or "". No fp64 result is
/// computed; each output may have the errors of its own arithmetic class.
std::string disagreement(const Probe& probe, Math math, std::span<const float> got, std::span<const float> want,
                         ThreadPool& threads) {
  const ConvStep step{.problem = probe.problem};
  // A transform has the largest errors of fp32.
  const Sum sum = math == Math::fp32 ? Sum::transform : Sum::direct;
  const ErrorModel ours = rounding_model(step, {.math = math, .sum = sum}), reference = rounding_model(step, {});
  const auto largest = [](std::span<const float> values) {
    float most = 0;
    for (const float each : values) most = std::max(most, std::abs(each));
    return static_cast<double>(most);
  };
  const double scale = ours.terms * largest(probe.x.values<float>()) * largest(probe.w.values<float>());
  const double most = ours.tolerance(0, scale) + reference.tolerance(0, scale);
  double differences = 0, squares = 0;
  int64_t first_wrong = std::ssize(got);
  std::mutex mutex;
  constexpr int64_t kGrain = 1 << 16;
  threads.parallel_for(std::ssize(got), kGrain, [&](int64_t begin, int64_t end, int) {
    double here = 0, squares_here = 0;
    int64_t wrong = std::ssize(got);
    for (int64_t i = end; i-- > begin;) {
      const double expected = want[i], difference = got[i] - expected;
      here += difference * difference;
      squares_here += expected * expected;
      if (!(std::abs(difference) <= most)) wrong = i;
    }
    const std::scoped_lock lock(mutex);
    differences += here;
    squares += squares_here;
    first_wrong = std::min(first_wrong, wrong);
  });
  if (first_wrong < std::ssize(got)) {
    return fmt::format("element {} is {:g}, expected {:g}", first_wrong, got[first_wrong], want[first_wrong]);
  }
  const double relative_l2 = std::sqrt(differences / squares), limit = ours.relative_l2 + reference.relative_l2;
  if (relative_l2 <= limit) return "";
  return fmt::format("the relative L2 error is {:.2g}; the limit for {} is {:.2g}", relative_l2, name_of(math), limit);
}

class Timing {
 public:
  Timing(const JsonMembers& from, const Program& program, int gpu, bool zeros)
      : program_(program), reference_(text_of(from, "reference_cubin")), gpu_(gpu), zeros_(zeros) {
    math_ = from.choice("math", {Math::fp32, Math::bf16x2, Math::tf32, Math::fp16, Math::bf16});
    random_ = KeyedRng(parse_key(text_of(from, "key")));
    from.read("limit_s", limit_s_);
    from.objects("layers", [&](const JsonMembers& each) {
      Layer& layer = layers_.emplace_back();
      layer.problem = parse_problem(text_of(each, "problem"));
      layer.list = list_from(text_of(each, "list"), layer.problem);
      layer.reference = list_from(text_of(each, "reference"), layer.problem);
    });
  }

  Json run() {
    int64_t most = 0;
    for (const Layer& layer : layers_) {
      most = std::max(
          {most, GpuArena::bytes_for(layer.list, layer.problem), GpuArena::bytes_for(layer.reference, layer.problem)});
    }
    arena_ = std::make_unique<GpuArena>(most);
    constexpr int64_t kFewest = 2, kMost = 5;
    for (int64_t left = random_.integer(kFewest, kMost); left > 0; --left) {  // warm-up: clocks and caches settle
      if (!sample()) return failure_;
    }
    Json samples = Json::array();
    const Clock::time_point begin = Clock::now();
    RatioSampling ratio;
    while (!ratio.enough(seconds_since(begin), limit_s_)) {
      if (!sample()) return failure_;
      ratio.add(seconds_, reference_seconds_);
      samples.push_back({{"seconds", seconds_}, {"reference", reference_seconds_}});
    }
    const Ceilings ceilings = known_ceilings(*open_device(fmt::format("cuda:{}", gpu_), {}));
    std::vector<double> least, bounds;
    for (const Layer& layer : layers_) {
      least.push_back(least_seconds(layer.problem, ceilings));
      bounds.push_back(direct_bound_s(layer.problem, ceilings, math_));
    }
    return {{"samples", samples}, {"least_s", least}, {"bound_s", bounds}};
  }

 private:
  double time(const Program& program, const LaunchList& list, const ConvProblem& problem, const GpuRun::Data& data,
              std::vector<float>& y) {
    const GpuModule module = program.loaded();
    GpuRun run(list, problem, module, *arena_, data, random_.next());
    flush_();
    const Clock::time_point begin = Clock::now();
    run.execute();
    const double seconds = seconds_since(begin);
    y.resize(static_cast<size_t>(problem.output_count()));
    run.read_output(y);
    return seconds;
  }

  static std::span<const uint8_t> bytes_of(const Tensor& tensor) {
    return {static_cast<const uint8_t*>(tensor.raw()), tensor.bytes()};
  }

  /// Times each layer, and the reference, once. Returns false if the submission fails.
  bool sample() {
    seconds_.assign(layers_.size(), 0);
    reference_seconds_ = seconds_;
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const Probe probe(layer.problem, Fill::reals, math_, random_.next());
      const GpuRun::Data data{.x = bytes_of(probe.x), .w = bytes_of(probe.w), .zeros = zeros_};
      const auto reference_runs = [&] {
        reference_seconds_[i] = time(reference_, layer.reference, layer.problem, data, want_);
      };
      const bool first = random_.next() % 2 == 0;
      if (first) reference_runs();
      try {
        seconds_[i] = time(program_, layer.list, layer.problem, data, got_);
      } catch (const GpuFault& fault) {
        failure_ = {{"layer", i}, {"fault", fault.text}};
        return false;
      }
      if (!first) reference_runs();
      if (const std::string wrong = disagreement(probe, math_, got_, want_, threads_); !wrong.empty()) {
        failure_ = {{"layer", i}, {"wrong", wrong}};
        return false;
      }
    }
    return true;
  }

  /// Returns the physical lower bound of a layer: its operations divided by the largest possible savings, and its
  /// traffic beyond what the L2 may retain.
  double least_seconds(const ConvProblem& problem, const Ceilings& ceilings) const {
    const double flops = problem.flops() / kMostSavedFlops;
    const auto bytes = static_cast<double>(problem.input_count() + problem.output_count()) * sizeof(float) -
                       static_cast<double>(ceilings.cache_size);
    return std::max(flops / ceilings.flops_per_second(math_), std::max(bytes, 0.0) / ceilings.memory_bytes);
  }

  const Program& program_;
  const Program reference_;
  const int gpu_;
  const bool zeros_;
  Math math_ = Math::fp32;
  KeyedRng random_{{}};
  double limit_s_ = 0;
  std::vector<Layer> layers_;
  CacheFlush flush_{gpu_};
  std::unique_ptr<GpuArena> arena_;
  ThreadPool threads_{usable_threads()};
  std::vector<double> seconds_, reference_seconds_;
  std::vector<float> got_, want_;
  Json failure_;
};

}  // namespace

int compute_capability_of(int gpu) {
  int major = 0, minor = 0;
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu), "querying the compute capability");
  check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu), "querying the compute capability");
  return 10 * major + minor;
}

void replay_on_gpu(const fs::path& request) {
  constexpr int64_t kMostBytes = 1 << 20;
  const Json json = parse_json(read_text(request, kMostBytes), request.string());
  const JsonMembers from(json, request.string());
  int64_t gpu = 0;
  bool zeros = false;
  from.read("gpu", gpu);
  from.read("zeros", zeros);
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // so that a kernel's first launch takes no longer than later ones
  check_cuda(cudaSetDevice(static_cast<int>(gpu)), "selecting the GPU");
  check_cuda(cudaFree(nullptr), "initializing the GPU");
  const Program program(text_of(from, "cubin"));
  const Json answer = text_of(from, "work") == "time" ? Timing(from, program, static_cast<int>(gpu), zeros).run()
                                                      : verified(from, program, zeros);
  write_file(text_of(from, "answer"), json_text(answer, -1));
}

}  // namespace convlab::judge
