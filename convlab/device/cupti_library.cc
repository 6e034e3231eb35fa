// Loads NVIDIA's CUPTI at run time.

#include "convlab/device/cupti_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "convlab/base/error.h"

namespace convlab {
namespace {

constexpr int kMajor = CUPTI_API_VERSION / 10000;

/// Returns the file names for dlopen(), in the order in which to try them.
std::vector<std::string> candidates() {
  const std::string file = fmt::format("libcupti.so.{}", kMajor);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> paths;
  if (!error) paths.push_back((program.parent_path() / file).string());
  paths.push_back(file);
  for (const std::string folder : {"/usr/local/cuda", "/opt/cuda"}) {
    for (const char* below : {"extras/CUPTI/lib64", "lib64", "lib"}) {
      paths.push_back(fmt::format("{}/{}/{}", folder, below, file));
    }
  }
  return paths;
}

}  // namespace

CuptiLibrary::CuptiLibrary() {
  const std::vector<std::string> paths = candidates();
  for (const std::string& path : paths) {
    if (library_ == nullptr) library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library_ == nullptr) {
    throw unavailable(
        "GPU profiling needs NVIDIA CUPTI for CUDA {}, but none of {} can be loaded; install the CUDA toolkit's CUPTI, "
        "or put the library next to the program",
        kMajor, fmt::join(paths, ", "));
  }
  decltype(&cuptiGetVersion) get_version = nullptr;
  load(get_version, "cuptiGetVersion");
  uint32_t version = 0;
  if (get_version(&version) != CUPTI_SUCCESS || static_cast<int>(version) / 10000 != kMajor) {
    throw unavailable("GPU profiling: this build needs CUPTI {}, found version {}; install the CUPTI of CUDA {}",
                      CUPTI_API_VERSION, version, kMajor);
  }
  load(activity_enable, "cuptiActivityEnable");
  load(activity_disable, "cuptiActivityDisable");
  load(activity_register_callbacks, "cuptiActivityRegisterCallbacks");
  load(activity_flush_all, "cuptiActivityFlushAll");
  load(activity_next_record, "cuptiActivityGetNextRecord");
  load(push_external_id, "cuptiActivityPushExternalCorrelationId");
  load(pop_external_id, "cuptiActivityPopExternalCorrelationId");
  load(callback_name, "cuptiGetCallbackName");
  load(timestamp, "cuptiGetTimestamp");
  load(result_string, "cuptiGetResultString");
}

void* CuptiLibrary::find(const char* name) const {
  void* function = dlsym(library_, name);
  if (function == nullptr) throw unavailable("GPU profiling: symbol {} not found in CUPTI", name);
  return function;
}

template <class Function>
void CuptiLibrary::load(Function& function, const char* name) {
  function = reinterpret_cast<Function>(find(name));
}

void CuptiLibrary::load_neighbors() const {
  // For counters, CUPTI loads these by name without a path, so it finds them if they are loaded. They are in its
  // folder.
  Dl_info info;
  if (dladdr(find("cuptiGetVersion"), &info) == 0 || info.dli_fname == nullptr) return;
  const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
  for (const char* file : {"libnvperf_host.so", "libnvperf_target.so"}) {
    dlopen((folder / file).c_str(), RTLD_LAZY | RTLD_LOCAL);  // without them CUPTI reports that counters are missing
  }
}

std::string CuptiLibrary::words_of(CUptiResult result) const {
  const char* words = nullptr;
  if (result_string(result, &words) != CUPTI_SUCCESS || words == nullptr) words = "unknown error";
  return fmt::format("{} (CUPTI error {})", words, static_cast<int>(result));
}

void CuptiLibrary::check(CUptiResult result, const char* what) const {
  if (result == CUPTI_SUCCESS) return;
  const char* advice = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                           ? "; another profiler is attached to this process: run without it"
                           : "";
  throw unavailable("GPU profiling: error while {}: {}{}", what, words_of(result), advice);
}

}  // namespace convlab
