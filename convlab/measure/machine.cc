// Describes this machine, this build and the machine's current state.

#include "convlab/measure/machine.h"

#include <fmt/chrono.h>
#include <hwy/targets.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "convlab/base/error.h"
#include "convlab/device/cpu.h"
#include "convlab/measure/gpu_state.h"

namespace convlab {
namespace {

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return "";
  return fmt::format("{} {}", name.sysname, name.release);
}

std::optional<double> mean_cpu_clock() {
  std::ifstream info("/proc/cpuinfo");
  double sum = 0;
  int count = 0;
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (!line.starts_with("cpu MHz") || colon == std::string::npos) continue;
    sum += std::strtod(line.c_str() + colon + 2, nullptr);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::optional<double> load_average() {
  double load = 0;
  if (std::ifstream file("/proc/loadavg"); file >> load) return load;
  return std::nullopt;
}

}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string processor_of(const DeviceCaps& caps) {
  if (!caps.runs_on_host()) return caps.description;
  const int64_t sets = hwy::SupportedTargets();
  const int64_t best = sets & -sets;  // Highway's lowest bit is the best target
  return fmt::format("{}, {}", cpu_name(), hwy::TargetName(best));
}

Machine this_machine(const DeviceCaps& caps) {
  return {.device = caps.description,
          .cpu = cpu_name(),
          .threads = caps.threads,
          .system = system_name(),
          .driver = caps.runs_on_host() ? "" : gpu_driver_version()};
}

Build this_build() {
#if defined(__clang__)
  const std::string compiler = fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler = fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return {.version = CONVLAB_VERSION, .compiler = compiler, .cuda = CONVLAB_CUDA_VERSION, .type = CONVLAB_BUILD_TYPE};
}

MachineState machine_state(const DeviceCaps& caps) {
  MachineState state = caps.runs_on_host() ? MachineState{.clock_mhz = mean_cpu_clock()} : gpu_state();
  state.load = load_average();
  return state;
}

}  // namespace convlab
