#include "convlab/kernels/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

std::vector<ConvKernel>& kernels() {
  static std::vector<ConvKernel> all;
  return all;
}

}  // namespace

RegisterConvKernel::RegisterConvKernel(ConvKernel kernel, const char* file) {
  kernel.info.file = registered_file(file);
  const auto key = [](const ConvKernel& each) { return std::tuple(each.info.device, each.info.rung, each.info.name); };
  std::vector<ConvKernel>& all = kernels();
  if (find_conv_kernel(kernel.info.name, kernel.info.device) != nullptr) {
    // Before main there is nobody to catch an exception.
    std::fprintf(stderr, "two kernels are named %s\n", std::string(kernel.info.name).c_str());
    std::abort();
  }
  all.insert(std::upper_bound(all.begin(), all.end(), kernel,
                              [&](const ConvKernel& a, const ConvKernel& b) { return key(a) < key(b); }),
             kernel);
}

const std::vector<ConvKernel>& conv_kernels() { return kernels(); }

const ConvKernel* find_conv_kernel(std::string_view name, DeviceKind device) {
  for (const ConvKernel& kernel : kernels()) {
    if (kernel.info.name == name && kernel.info.device == device) return &kernel;
  }
  return nullptr;
}

const ConvKernel& require_conv_kernel(std::string_view name, DeviceKind device) {
  if (const ConvKernel* kernel = find_conv_kernel(name, device)) return *kernel;
  std::vector<std::string> names;
  for (const ConvKernel& kernel : kernels()) {
    if (kernel.info.name == name) {
      throw unavailable("kernel {} runs on {}, not on {}; choose it with --device {}", name,
                        name_of(kernel.info.device), name_of(device), name_of(kernel.info.device));
    }
    if (kernel.info.device == device) names.emplace_back(kernel.info.name);
  }
  const std::string nearest = closest(name, names);
  throw bad_input("no kernel is named '{}'{}; 'convlab list kernels' shows all", name,
                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

std::string_view registered_file(std::string_view compiled) {
  const size_t begin = compiled.rfind("convlab/kernels/");
  return begin == std::string_view::npos ? compiled : compiled.substr(begin);  // tests register kernels of their own
}

bool is_library(const ConvKernel& kernel) {
  // Our own are named after their device, or after what executes them.
  return !kernel.info.name.starts_with("cpu.") && !kernel.info.name.starts_with("cuda.");
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
    return fmt::format("computes the convolution alone, not {}", to_text(step.epilogue));
  }
  if (step.input != ElementType::f32) return fmt::format("takes float32 images, not {}", name_of(step.input));
  return std::nullopt;
}

}  // namespace convlab
