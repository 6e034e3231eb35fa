#include "convlab/plan/choose.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// Best first, where order of rungs is not what one wants. A kernel that is not named here comes after these.
constexpr std::string_view kPreferred[] = {"cuda.first_layer_fp16",
                                           "cuda.first_layer_1xfp16",
                                           "cuda.first_layer_3xfp16",
                                           "cuda.deep_layer_fp16",
                                           "cuda.deep_layer_1xfp16",
                                           "cuda.hopper_3xfp16",
                                           "cpu.amx_bf16",
                                           "cpu.amx_bf16x2",
                                           "cpu.winograd",
                                           "cpu.image_lanes",
                                           "cpu.direct",
                                           "cuda.tensor_core_3xfp16",
                                           "cpu.im2col_gemm",
                                           "cuda.tensor_core_3xtf32",
                                           "cuda.register_tile"};

bool precise_enough(const ConvKernel& kernel, Math wanted) { return kernel.info.math <= wanted; }

size_t preference(const ConvKernel& kernel) {
  return static_cast<size_t>(std::find(std::begin(kPreferred), std::end(kPreferred), kernel.info.name) -
                             std::begin(kPreferred));
}

}  // namespace

std::vector<const ConvKernel*> candidates(const DeviceCaps& caps, const PlanOptions& options) {
  if (!options.kernel.empty()) {
    const ConvKernel& kernel = require_conv_kernel(options.kernel, caps.kind);
    if (!precise_enough(kernel, options.math)) {
      throw bad_input("kernel {} computes in {}, less precisely than {}, which is asked for; add --math {}",
                      kernel.info.name, name_of(kernel.info.math), name_of(options.math), name_of(kernel.info.math));
    }
    return {&kernel};
  }
  std::vector<const ConvKernel*> result;
  for (const ConvKernel& kernel : conv_kernels()) {
    const bool absent = kernel.absent != nullptr && kernel.absent();
    if (kernel.info.device == caps.kind && precise_enough(kernel, options.math) && !is_library(kernel) && !absent) {
      result.push_back(&kernel);
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const ConvKernel* a, const ConvKernel* b) {
    const size_t of_a = preference(*a), of_b = preference(*b);
    return of_a != of_b ? of_a < of_b : a->info.rung > b->info.rung;
  });
  return result;
}

std::vector<Refused> refused_besides(const ConvKernel& chosen, const ConvStep& step, const DeviceCaps& caps,
                                     const PlanOptions& options) {
  std::vector<Refused> result;
  for (const ConvKernel& kernel : conv_kernels()) {
    if (kernel.info.device != caps.kind || &kernel == &chosen) continue;
    if (!precise_enough(kernel, options.math)) {
      result.push_back({kernel.info.name, fmt::format("computes in {}, less precisely than {}",
                                                      name_of(kernel.info.math), name_of(options.math))});
    } else if (const Refusal refusal = kernel.refuses(step, caps)) {
      result.push_back({kernel.info.name, *refusal});
    } else if (!options.kernel.empty()) {
      result.push_back({kernel.info.name, fmt::format("fits, but {} was asked for", options.kernel)});
    } else if (is_library(kernel)) {
      result.push_back({kernel.info.name, "fits, but a library is only taken when asked for"});
    } else {
      result.push_back({kernel.info.name, fmt::format("fits, but {} comes first", chosen.info.name)});
    }
  }
  return result;
}

}  // namespace convlab
