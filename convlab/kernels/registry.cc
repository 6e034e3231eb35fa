// Registers kernels and finds them by name.

#include "convlab/kernels/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <tuple>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/former_names.h"

namespace convlab {
namespace {

std::vector<Kernel>& registered() {
  static std::vector<Kernel> all;
  return all;
}

/// The kernel file that is being loaded; empty if none is.
struct {
  std::string_view name;
  bool replaces = false;  ///< it is this program's kernel of that name, compiled again
  int count = 0;
} loading;

auto order_of(const KernelInfo& info) { return std::tuple(info.device, info.rung, info.name); }

/// Returns a kernel's source path relative to the repository root; the compiler's path starts wherever the build folder
/// is. A kernel in a test keeps its whole path.
std::string_view path_in_project(std::string_view file) {
  const size_t at = file.rfind("convlab/kernels/");
  return at == std::string_view::npos ? file : file.substr(at);
}

}  // namespace

RegisterKernel::RegisterKernel(Kernel kernel, const char* file) {
  kernel.info.file = path_in_project(file);
  std::vector<Kernel>& all = registered();
  if (!loading.name.empty()) {
    const auto namesake = [&] {
      return std::ranges::find_if(all, [&](const Kernel& each) {
        return each.info.device == kernel.info.device && each.info.name == kernel.info.name;
      });
    };
    // The source of a kernel of this program may register others, too, which replace their own namesakes.
    if (!loading.replaces || namesake() == all.end()) kernel.info.name = loading.name;
    loading.count += kernel.info.name == loading.name ? 1 : 0;
    if (const auto same = namesake(); same != all.end()) {
      *same = kernel;
      return;
    }
  }
  const auto place =
      std::ranges::lower_bound(all, order_of(kernel.info), {}, [](const Kernel& each) { return order_of(each.info); });
  if (place != all.end() && order_of(place->info) == order_of(kernel.info)) {
    // Nothing can catch an exception before main.
    std::fprintf(stderr, "duplicate kernel name %s\n", std::string(kernel.info.name).c_str());
    std::abort();
  }
  all.insert(place, kernel);
}

FileRegistration::FileRegistration(std::string name) {
  static std::deque<std::string> names;  // kernels refer to these names
  const bool replaces =
      std::ranges::find(registered(), name, [](const Kernel& each) { return each.info.name; }) != registered().end();
  loading = {names.emplace_back(std::move(name)), replaces, 0};
}

FileRegistration::~FileRegistration() { loading = {}; }

int FileRegistration::count() const { return loading.count; }

const std::vector<Kernel>& kernels() { return registered(); }

std::vector<std::reference_wrapper<const Kernel>> conv_kernels() {
  std::vector<std::reference_wrapper<const Kernel>> result;
  for (const Kernel& kernel : kernels()) {
    if (kernel.is_conv()) result.emplace_back(kernel);
  }
  return result;
}

const Kernel* find_kernel(std::string_view name, DeviceKind device) {
  name = present_name(name);
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.name == name && kernel.info.device == device) return &kernel;
  }
  return nullptr;
}

const Kernel& require_conv_kernel(std::string_view name, DeviceKind device) {
  const Kernel& kernel = require_kernel(name, device);
  if (kernel.is_conv()) return kernel;
  throw bad_input("kernel {} does not compute convolutions, but {} operators", name, name_of(kernel.info.family));
}

const Kernel& require_kernel(std::string_view name, DeviceKind device) {
  if (const Kernel* kernel = find_kernel(name, device)) return *kernel;
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.name == present_name(name)) {
      throw unavailable("kernel {} runs on {}, not on {}; use device {}", name, name_of(kernel.info.device),
                        name_of(device), name_of(kernel.info.device));
    }
    if (kernel.info.device == device) names.emplace_back(kernel.info.name);
  }
  const std::string nearest = closest(name, names);
  throw bad_input("unknown kernel '{}'{}; run 'convlab list kernels' to see all{}{}", name,
                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest), simt_present() ? "" : "; ",
                  how_to_get_simt());
}

std::string_view name_of(Math math) {
  switch (math) {
    case Math::int8:
      return "int8";
    case Math::fp32:
      return "fp32";
    case Math::bf16x2:
      return "bf16x2";
    case Math::tf32:
      return "tf32";
    case Math::fp16:
      return "fp16";
    case Math::bf16:
      return "bf16";
  }
  return "?";
}

std::string_view name_of(Family family) {
  constexpr std::string_view kNames[] = {
      "convolution", "transposed convolution", "dense",    "pooling",  "softmax", "normalization", "elementwise",
      "reduction",   "rearrangement",          "sampling", "quantized"};
  return kNames[static_cast<size_t>(family)];
}

size_t prepared_bytes(const Kernel& kernel, const Step& step, const DeviceCaps& caps) {
  return kernel.prepared_bytes != nullptr ? kernel.prepared_bytes(step, caps) : 0;
}

size_t workspace_bytes(const Kernel& kernel, const Step& step, const DeviceCaps& caps) {
  return kernel.workspace_bytes != nullptr ? kernel.workspace_bytes(step, caps) : 0;
}

}  // namespace convlab
