// Lists the devices whose properties simt can report.

#include "convlab/simt/cuda/device_models.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "convlab/base/limits.h"

namespace convlab::simt {
namespace {

std::atomic<size_t> memory_limit{SIZE_MAX};

/// Sources: the data sheets of the devices, and CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability". The first one is simt's own.
constexpr DeviceModel kModels[] = {
    {"simt", "convlab's simt", 8, 0, 2, 1000, 1000, 64, 0, 4096, 227, 227, 2048, 32, 2, 0},
    {"v100", "Tesla V100-SXM2-16GB", 7, 0, 80, 1530, 877, 4096, 16160, 6144, 96, 96, 2048, 32, 2, 0x1db110de},
    {"t4", "Tesla T4", 7, 5, 40, 1590, 5001, 256, 15109, 4096, 64, 64, 1024, 16, 32, 0x1eb810de},
    {"a100", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 1410, 1215, 5120, 40354, 40960, 164, 163, 2048, 32, 2, 0x20b010de},
    {"a10", "NVIDIA A10", 8, 6, 72, 1695, 6251, 384, 22731, 6144, 100, 99, 1536, 16, 32, 0x223610de},
    {"a40", "NVIDIA A40", 8, 6, 84, 1740, 7251, 384, 45403, 6144, 100, 99, 1536, 16, 32, 0x223510de},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 1695, 9751, 384, 24256, 6144, 100, 99, 1536, 16, 32, 0x220410de},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 2520, 10501, 384, 24217, 73728, 100, 99, 1536, 24, 64,
     0x268410de},
    {"l4", "NVIDIA L4", 8, 9, 58, 2040, 6251, 192, 22478, 49152, 100, 99, 1536, 24, 64, 0x27b810de},
    {"l40s", "NVIDIA L40S", 8, 9, 142, 2520, 9001, 384, 45469, 98304, 100, 99, 1536, 24, 64, 0x26b910de},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 1980, 2619, 5120, 81090, 51200, 228, 227, 2048, 32, 2, 0x233010de},
    {"h200", "NVIDIA H200", 9, 0, 132, 1980, 3201, 6016, 143156, 61440, 228, 227, 2048, 32, 2, 0x233510de},
};

}  // namespace

const DeviceModel* find_device_model(std::string_view key) {
  const auto found = std::ranges::find(kModels, key, &DeviceModel::key);
  return found == std::end(kModels) ? nullptr : &*found;
}

std::string device_model_keys() {
  std::string keys;
  for (const DeviceModel& each : kModels) (keys += keys.empty() ? "" : ", ") += each.key;
  return keys;
}

const DeviceModel& played_device() noexcept {
  static const DeviceModel& model = [&]() -> const DeviceModel& {
    const char* const key = std::getenv("CONVLAB_AS");
    const DeviceModel* const found = key != nullptr ? find_device_model(key) : nullptr;
    return found != nullptr ? *found : kModels[0];
  }();
  return model;
}

size_t device_memory_bytes() noexcept {
  const auto mib = static_cast<size_t>(played_device().memory_mib);
  return std::min(memory_limit.load(), mib > 0 ? mib << 20 : static_cast<size_t>(usable_memory_bytes()));
}

void limit_device_memory(size_t bytes) noexcept { memory_limit = bytes; }

}  // namespace convlab::simt
