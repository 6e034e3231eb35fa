// Loads compiled kernel files and runs their phases.

#include "convlab/kernel_file/library.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/device/simt.h"

namespace convlab {
namespace {

FileProblem file_problem(const ConvProblem& problem) {
  return {.images = static_cast<int>(problem.n),
          .channels = static_cast<int>(problem.c),
          .height = static_cast<int>(problem.h),
          .width = static_cast<int>(problem.w),
          .maps = static_cast<int>(problem.k),
          .filter_h = static_cast<int>(problem.r),
          .filter_w = static_cast<int>(problem.s),
          .stride = static_cast<int>(problem.stride_h)};
}

/// Returns the wall-clock seconds of a phase, including its device work.
template <class Phase>
double seconds_of(const FileEntry& entry, Phase&& phase) {
  const Clock::time_point begin = Clock::now();
  phase();
  const char* const error = entry.finish();
  check_simt_host_code();
  if (error != nullptr) throw wrong_result("CUDA error after the call: {}", error);
  return seconds_since(begin);
}

/// Samples of an array, to detect whether it has been written since.
class Samples {
 public:
  Samples(const float* array, int64_t count) : array_(array), count_(count), before_(now()) {}

  bool changed() const { return now() != before_; }

 private:
  static constexpr int64_t kSamples = 64;

  std::array<uint32_t, kSamples> now() const {
    std::array<uint32_t, kSamples> bits;
    for (int64_t i = 0; i < kSamples; ++i) bits[i] = std::bit_cast<uint32_t>(array_[i * count_ / kSamples]);
    return bits;
  }

  const float* array_;
  int64_t count_;
  std::array<uint32_t, kSamples> before_;
};

/// Unregisters the arrays from the device when a call ends, also by an exception.
struct Releasing {
  const FileEntry& entry;
  std::array<float*, 3> arrays;

  ~Releasing() {
    for (float* array : arrays) {
      if (entry.on_host) entry.release(array);
    }
  }
};

}  // namespace

LoadedFile::LoadedFile(const std::filesystem::path& library) {
  // RTLD_NOW, so that undefined symbols are reported here and not in the middle of a run.
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    throw bad_input("cannot load the compiled kernel file: {}", why != nullptr ? why : "no reason given");
  }
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
    if (const std::string refusal = simt_refusal(map->l_ld); !refusal.empty()) throw bad_input("{}", refusal);
  }
  entry_ = static_cast<const FileEntry*>(::dlsym(handle, "convlab_kernel_file"));
}

PhaseSeconds call_file(const FileEntry& entry, const ConvProblem& problem, float* y, float* x, float* w) {
  const FileProblem shape = file_problem(problem);
  const Releasing releasing{entry, {y, x, w}};
  if (entry.forward != nullptr) return {.call = seconds_of(entry, [&] { entry.forward(y, x, w, shape); })};
  // Some prologs do not set the output pointer, but their epilog frees it.
  float *device_y = nullptr, *device_x = nullptr, *device_w = nullptr;
  PhaseSeconds seconds;
  const Samples output(y, problem.output_count());
  seconds.prolog = seconds_of(entry, [&] { entry.prolog(y, x, w, &device_y, &device_x, &device_w, shape); });
  seconds.early = output.changed();
  seconds.call = seconds_of(entry, [&] { entry.call(device_y, device_x, device_w, shape); });
  seconds.epilog = seconds_of(entry, [&] { entry.epilog(y, device_y, device_x, device_w, shape); });
  return seconds;
}

}  // namespace convlab
