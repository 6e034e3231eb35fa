// Opens devices by name.

#include "convlab/device/devices.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/cpu.h"
#include "convlab/device/cuda.h"
#include "convlab/device/simt.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

void require_device_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"auto", "cpu", "cuda", "simt"};
  if (std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("cuda:")) return;
  throw bad_input("device must be auto, cpu, cuda, cuda:N or simt, got '{}'", name);
}

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  require_device_name(name);
  const auto open_host = [&options] {
    const Observed part(options.observer, {Stage::context});
    return open_cpu(options);
  };
  const auto present = [&options] {
    const Observed part(options.observer, {Stage::driver});
    return cuda_present();
  };
  if (name == "auto") return present() ? open_cuda(0, options) : open_host();
  if (name == "cpu") return open_host();
  if (name == "cuda") return open_cuda(0, options);
  if (name == kAllGpus) {
    throw bad_input("device {}: only 'convlab run' uses several GPUs; give one, for example cuda:0", name);
  }
  if (name.starts_with("cuda:")) {
    return open_cuda(static_cast<int>(parse_int(name.substr(5), "N of device cuda:N", 0, 1023)), options);
  }
  const Observed part(options.observer, {Stage::context});
  return open_simt(options);
}

std::vector<std::unique_ptr<Device>> open_devices(std::string_view name, const DeviceOptions& options) {
  std::vector<std::unique_ptr<Device>> devices;
  if (name != kAllGpus) {
    devices.push_back(open_device(name, options));
    return devices;
  }
  const int count = count_cuda(options);
  const Observed part(options.observer, {Stage::context});
  DeviceOptions each = options;
  each.observer = nullptr;
  devices.resize(static_cast<size_t>(count));
  ThreadPool threads(count);  // creating a context is slow, so create all of them in parallel
  threads.parallel_for(count, 1, [&](int64_t index, int64_t, int) {
    devices[static_cast<size_t>(index)] = open_cuda(static_cast<int>(index), each);
  });
  return devices;
}

std::vector<DeviceListing> list_devices() {
  std::vector<DeviceListing> listings{{"cpu", open_cpu({})->caps().description}};
  for (DeviceListing& gpu : list_cuda()) listings.push_back(std::move(gpu));
  if (simt_present()) listings.push_back({"simt", open_simt({})->caps().description});
  return listings;
}

}  // namespace convlab
