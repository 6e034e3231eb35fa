// convlab list: lists the kernels, models and devices of this build.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/option_parsers.h"
#include "app/results/results_json.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/formats/zoo.h"

namespace convlab::app {
namespace {

/// By family and device, in the registry's order.
void list_kernels(Output& output, Listing& listing) {
  output.print("Kernels\n");
  std::map<std::pair<Family, DeviceKind>, std::vector<KernelInfo>> groups;
  for (const Kernel& kernel : kernels()) groups[{kernel.info.family, kernel.info.device}].push_back(kernel.info);
  for (const auto& [group, infos] : groups) {
    output.print("  {} on {}\n", name_of(group.first), name_of(group.second));
    size_t width = 0;
    for (const KernelInfo& info : infos) width = std::max(width, info.name.size());
    for (const KernelInfo& info : infos) {
      const std::string rung = group.first == Family::convolution ? fmt::format("rung {:<3} ", info.rung) : "";
      output.print("    {:<{}}  {}{:<7} {}{}\n", info.name, width, rung, name_of(info.math), info.idea,
                   info.after.empty() ? "" : fmt::format(" (after {})", info.after));
      listing.kernels.push_back(info);
    }
  }
  if (!simt_present()) output.print("  Some CUDA kernels are not available: {}\n", how_to_get_simt());
}

void list_models(Output& output, Listing& listing) {
  output.print("Models\n");
  listing.models = shipped_models();
  for (const ShippedModel& model : listing.models) {
    output.print("  {:<24} {:<8} accuracy {:<6}  {}\n", model.name, to_text(model.input), model.accuracy, model.layers);
  }
}

void list_devices(Output& output, Listing& listing) {
  output.print("Devices\n");
  std::vector<DeviceListing>& devices = listing.devices;
  devices = convlab::list_devices();
  const auto is_gpu = [](const DeviceListing& device) { return device.name.starts_with("cuda:"); };
  if (const auto gpus = std::ranges::count_if(devices, is_gpu); gpus > 1) {
    devices.push_back(
        {std::string(kAllGpus), fmt::format("all {} GPUs; 'convlab run' splits the images among them", gpus)});
  }
  for (const DeviceListing& device : devices) {
    output.print("  {:<24} {}\n", device.name, device.description);
  }
}

}  // namespace

Action declare_list(CLI::App& options) {
  auto what = std::make_shared<std::string>("all");
  add_choice(options, "WHAT", *what, {"kernels", "models", "devices"}, "what to list (default: all)");
  return [what](Output& output) {
    Listing listing;
    if (*what == "all" || *what == "kernels") list_kernels(output, listing);
    if (*what == "all" || *what == "models") list_models(output, listing);
    if (*what == "all" || *what == "devices") list_devices(output, listing);
    write_json(output, listing);
  };
}

}  // namespace convlab::app
