// Registers kernels and finds them by name.

#include "convlab/kernels/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/simt.h"

namespace convlab {
namespace {

template <class Kernel>
std::vector<Kernel>& registered() {
  static std::vector<Kernel> all;
  return all;
}

/// The kernel file that is being loaded; empty if none is.
struct {
  std::string_view name;
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

template <class Kernel>
RegisterKernel<Kernel>::RegisterKernel(Kernel kernel, const char* file) {
  kernel.info.file = path_in_project(file);
  std::vector<Kernel>& all = registered<Kernel>();
  if (std::is_same_v<Kernel, ConvKernel> && !loading.name.empty()) {
    ++loading.count;
    const auto same = std::ranges::find_if(all, [&](const Kernel& each) {
      return each.info.device == kernel.info.device && each.info.name == loading.name;
    });
    if (same != all.end()) {
      *same = kernel;
      return;
    }
    kernel.info.name = loading.name;
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
template struct RegisterKernel<ConvKernel>;
template struct RegisterKernel<OpKernel>;

FileRegistration::FileRegistration(std::string name) {
  static std::deque<std::string> names;  // kernels refer to these names
  loading = {names.emplace_back(std::move(name)), 0};
}

FileRegistration::~FileRegistration() { loading = {}; }

int FileRegistration::count() const { return loading.count; }

const std::vector<ConvKernel>& conv_kernels() { return registered<ConvKernel>(); }
const std::vector<OpKernel>& op_kernels() { return registered<OpKernel>(); }

const ConvKernel* find_conv_kernel(std::string_view name, DeviceKind device) {
  for (const ConvKernel& kernel : conv_kernels()) {
    if (kernel.info.name == name && kernel.info.device == device) return &kernel;
  }
  return nullptr;
}

const ConvKernel& require_conv_kernel(std::string_view name, DeviceKind device) {
  if (const ConvKernel* kernel = find_conv_kernel(name, device)) return *kernel;
  std::vector<std::string> names;
  for (const ConvKernel& kernel : conv_kernels()) {
    if (kernel.info.name == name) {
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

Shape ConvStep::output_shape() const {
  const int64_t p = problem.p(), q = problem.q();
  if (!epilogue.pool) return {problem.n, problem.k, p, q};
  return {problem.n, problem.k, epilogue.pool->output_h(p), epilogue.pool->output_w(q)};
}

Refusal refuse_unless_plain(const ConvStep& step) {
  if (!step.epilogue.empty()) {
    return fmt::format("fusing {} is not supported", to_text(step.epilogue));
  }
  if (step.input_format == kRawPixels)
    return fmt::format("input must be float32, got {}", name_of(step.input_format.type));
  return std::nullopt;
}

}  // namespace convlab
