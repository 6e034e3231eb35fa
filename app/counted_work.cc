// Counts a kernel's work on a few images of a problem, to predict its time for all images.

#include "app/counted_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/registers.h"
#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/step_text.h"
#include "convlab/model/op_info.h"
#include "convlab/model/shapes.h"
#include "convlab/profile/count_kernel.h"

namespace convlab::app {
namespace {

/// Returns the step with another number of images, the first size of its output and of inputs that are not constant.
Step with_images(Step step, int64_t images) {
  const int64_t all = step.inputs[0].shape[0];
  const auto resize = [&](Shape& shape) {
    if (!shape.empty() && shape[0] == all) shape[0] = images;
  };
  for (std::vector<Operand>* const operands : {&step.inputs, &step.outputs}) {
    for (Operand& each : *operands) {
      if (each.constant) continue;
      resize(each.shape);
      resize(each.written);
    }
  }
  return step;
}

/// Returns the number of images of a step that treats each alone, so that its work is proportional to them; otherwise
/// 0.
int64_t images_of(const Step& step) {
  const Shape& x = step.inputs[0].shape;
  if (is_conv(step)) return x[0];
  if (x.size() != 4) return 0;
  const Step one = with_images(step, 1);
  std::vector<SplitOperand> inputs;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& shape = step.inputs[i].shape;
    inputs.push_back({one.inputs[i].shape, !step.inputs[i].constant && !shape.empty() && shape[0] == x[0]});
  }
  if (mixes_images(step.op, inputs)) return 0;
  return output_shape(one.op, shapes_of(one.inputs)) == one.outputs[0].shape ? x[0] : 0;
}

/// Returns the global memory arrays that the counts name, with their sizes in bytes.
std::map<std::string, double> array_sizes(const std::vector<KernelCounts>& functions) {
  std::map<std::string, double> sizes;
  for (const KernelCounts& function : functions) {
    for (const LineCounts& line : function.lines) {
      if (line.space != MemorySpace::global || line.array.empty()) continue;
      double& bytes = sizes[line.array];
      bytes = std::max(bytes, static_cast<double>(line.array_bytes));
    }
  }
  return sizes;
}

/// Adds the arrays that a file allocates itself: copies of x, w and y, recognized by their size, and others, whose
/// sizes are extrapolated from those for one image and for the counted images.
void add_own_arrays(KernelWork& work, const Kernel& kernel, const Step& counted, Device& simt) {
  const auto known = work.arrays;
  std::map<std::string, double> of_one;
  for (const auto& [name, bytes] : array_sizes(work.functions)) {
    if (known.contains(name)) continue;
    const double counted_bytes = bytes;
    const auto copied =
        std::ranges::find_if(known, [&](const auto& each) { return each.second.counted_bytes == counted_bytes; });
    KernelWork::Array& array = work.arrays[name];
    array.counted_bytes = counted_bytes;
    if (copied != known.end()) {
      array.bytes = copied->second.bytes;
      continue;
    }
    if (of_one.empty() && work.counted_images > 1) {
      of_one = array_sizes(count_kernel(kernel, with_images(counted, 1), simt));
    }
    const double first = of_one.contains(name) ? of_one[name] : 0;
    const auto images = static_cast<double>(work.counted_images);
    const double per_image = (counted_bytes - first) / std::max(1.0, images - (first > 0 ? 1 : 0));
    array.bytes = counted_bytes + per_image * static_cast<double>(work.images - work.counted_images);
  }
}

}  // namespace

KernelWork counted_work(const Kernel& kernel, const Step& plain, int64_t most_images, int compute_capability,
                        Device& simt) {
  const std::string name(kernel.info.name);
  const std::optional<Step> step = in_supported_formats(kernel, plain, simt.caps());
  if (!step) {
    const Refusal refusal = refuse_in_all_formats(kernel, plain, simt.caps());
    throw bad_input("{}: {}: {}", name, problem_text(plain), *refusal);
  }
  const int64_t images = images_of(*step);
  const Step few = images > most_images ? with_images(*step, most_images) : *step;
  KernelWork work{.kernel = name,
                  .step = *step,
                  .images = images,
                  .counted_images = std::min(images, most_images),
                  .functions = count_kernel(kernel, few, simt),
                  .filled_bytes = static_cast<double>(simt_filled_bytes()),
                  .arrays = {}};
  if (work.functions.empty()) throw bad_input("{}: {}: no launch that simt can count", name, problem_text(plain));
  add_registers(name, compute_capability, work.functions);
  const std::map<std::string, int64_t> counted = array_bytes(kernel, few, simt.caps());
  for (const auto& [array, bytes] : array_bytes(kernel, *step, simt.caps())) {
    const auto found = counted.find(array);
    const int64_t counted_bytes = found == counted.end() ? 0 : found->second;
    work.arrays[array] = {.counted_bytes = static_cast<double>(counted_bytes), .bytes = static_cast<double>(bytes)};
  }
  add_own_arrays(work, kernel, few, simt);
  return work;
}

}  // namespace convlab::app
