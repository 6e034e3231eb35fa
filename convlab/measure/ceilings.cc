// Looks up rates and bounds of a device, and caches a GPU's ceilings in a file.

#include "convlab/measure/ceilings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/measure/ceilings_of_device.h"
#include "convlab/measure/record.h"

namespace convlab {
namespace {

/// Returns the file of this device's cached ceilings; nullopt if the user has no cache folder.
std::optional<std::filesystem::path> kept_at(const DeviceCaps& caps) {
  std::filesystem::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".cache";
  } else {
    return std::nullopt;
  }
  std::string name;
  for (const char c : caps.description) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return folder / "convlab" / ("ceilings-" + name + ".json");
}

}  // namespace

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::memory:
      return "memory";
    case Limit::cache:
      return "cache";
    case Limit::arithmetic:
      return "arithmetic";
  }
  return "?";
}

double Ceilings::flops_per_second(Math math) const {
  constexpr double kProducts = 3;  // with operands split in two
  switch (math) {
    case Math::int8:  // flops() counts no integer operations
    case Math::fp32:
      return std::max(fp32_flops, fp16_flops / kProducts);
    case Math::bf16x2:
      return std::max({fp32_flops, fp16_flops / kProducts, bf16_flops / kProducts});
    case Math::tf32:
      return std::max({fp32_flops, tf32_flops, fp16_flops});
    case Math::fp16:
      return std::max(fp32_flops, fp16_flops);
    case Math::bf16:
      return std::max({fp32_flops, fp16_flops, bf16_flops});
  }
  return fp32_flops;
}

Bound Ceilings::bound(double flops, double bytes, Math math) const {
  const bool fits = bytes <= static_cast<double>(cache_size) && cache_bytes > memory_bytes;
  const double traffic = bytes / (fits ? cache_bytes : memory_bytes), arithmetic = flops / flops_per_second(math);
  if (arithmetic > traffic) return {arithmetic, Limit::arithmetic};
  return {traffic, fits ? Limit::cache : Limit::memory};
}

Ceilings measure_ceilings(Device& device) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  if (!device.caps().runs_on_host()) return cuda_ceilings(device, *stream);
  return host_ceilings(*stream->threads());
}

Ceilings known_ceilings(Device& device, bool anew) {
  if (device.caps().runs_on_host()) return measure_ceilings(device);
  const std::optional<std::filesystem::path> path = kept_at(device.caps());
  if (!anew && path && std::filesystem::exists(*path)) {
    try {
      return read_ceilings(*path);
    } catch (const std::exception&) {  // from an older version, or damaged: measure again and overwrite
    }
  }
  const Ceilings ceilings = measure_ceilings(device);
  if (path) {
    std::error_code error;
    std::filesystem::create_directories(path->parent_path(), error);
    try {
      write_ceilings(*path, ceilings);
    } catch (const Error&) {  // if the folder is not writable, the next run measures again
    }
  }
  return ceilings;
}

}  // namespace convlab
