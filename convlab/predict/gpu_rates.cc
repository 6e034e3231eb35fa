// Derives a GPU's rates from its description and ceilings.

#include "convlab/predict/gpu_rates.h"

#include <algorithm>
#include <cstdio>

#include "convlab/base/error.h"
#include "convlab/measure/record.h"

namespace convlab {

GpuRates rates_of(const std::string& description, const Ceilings& ceilings) {
  const size_t comma = description.find(',');
  int major = 0, minor = 0, multiprocessors = 0;
  if (comma == std::string::npos ||
      std::sscanf(description.c_str() + comma, ", compute capability %d.%d, %d multiprocessors", &major, &minor,
                  &multiprocessors) != 3 ||
      multiprocessors < 1) {
    throw bad_input("'{}' is not a GPU: a prediction needs its compute capability and multiprocessor count",
                    description);
  }
  if (!(ceilings.fp32_flops > 0 && ceilings.memory_bytes > 0 && ceilings.cache_bytes > 0)) {
    throw bad_input("{}: no arithmetic, memory and cache ceilings; run 'convlab bench --ceilings'", description);
  }
  return {.device = description.substr(0, comma),
          .multiprocessors = multiprocessors,
          .limits = limits_of(10 * major + minor),
          .ceilings = ceilings};
}

GpuRates rates_from_records(const std::filesystem::path& path) {
  const std::vector<Record> records = read_records(path.string());
  const auto of_gpu = std::ranges::find(records, DeviceKind::cuda, &Record::device);
  if (of_gpu == records.end()) throw bad_input("{}: no Record of a GPU", path.string());
  try {
    return rates_of(of_gpu->machine.device, of_gpu->ceilings);
  } catch (const Error& error) {
    throw bad_input("{}: {}", path.string(), error.what());
  }
}

}  // namespace convlab
