// The arrays of an operator whose kernels are timed.

#include "convlab/measure/op_arrays.h"

#include <utility>

#include "convlab/verify/download.h"
#include "convlab/verify/ops/op_error.h"
#include "convlab/verify/ops/op_fills.h"
#include "convlab/verify/ops/op_oracle.h"
#include "convlab/verify/ops/verify_op.h"

namespace convlab {

OpArrays::OpArrays(Device& device, const Step& step) : BenchArrays(device), step_(step) {
  for (size_t i = 0; i < sets_.size(); ++i) {
    std::vector<Tensor> inputs = fill_inputs(step, Fill::reals, i);
    for (size_t input = 0; i > 0 && input < inputs.size(); ++input) {
      if (step.inputs[input].constant) inputs[input] = sets_[0].plain[input].clone();
    }
    sets_[i].expected = as_images(expected_output(step, inputs));
    sets_[i].plain = std::move(inputs);
  }
  for (InputSet& set : sets_) set.packed = packed_inputs(step, std::move(set.plain));
  for (size_t input = 0; input < step.inputs.size(); ++input) {
    const Tensor& tensor = sets_[0].packed[input];
    buffers_.push_back(step.inputs[input].constant ? uploaded(device, stream(), tensor)
                                                   : device.allocate(tensor.bytes() + (kPlaces - 1) * kShift));
  }
  const Operand& y = step.outputs[0];
  y_ = device.allocate(static_cast<size_t>(byte_count(y.shape, y.format)) + (kPlaces - 1) * kShift);
  renew();
}

void OpArrays::renew() {
  const size_t before = at_[place_];
  place_ = (place_ + 1) % kPlaces;
  const size_t last_time = at_[place_];
  size_t now = 0;
  while (now == before || now == last_time) ++now;
  at_[place_] = now;
  const auto shifted = [this](const Buffer& buffer) { return static_cast<char*>(buffer.data()) + place_ * kShift; };
  inputs_.clear();
  for (size_t input = 0; input < buffers_.size(); ++input) {
    const bool constant = step_.inputs[input].constant;
    inputs_.push_back(constant ? buffers_[input].data() : shifted(buffers_[input]));
    const Tensor& tensor = sets_[now].packed[input];
    if (!constant) stream().upload(shifted(buffers_[input]), tensor.raw(), tensor.bytes());
  }
  output_ = shifted(y_);
  mark_uninitialized(y_);
}

Verdict OpArrays::check(const KernelInfo& kernel) {
  const Operand& y = step_.outputs[0];
  return compare(sets_[at_[place_]].expected, download_plain(stream(), output_, y.shape, y.format),
                 error_model(step_, kernel, Fill::reals));
}

std::string OpArrays::describe_wrong(const Verdict& verdict) const {
  return describe_wrong_output(verdict, step_.outputs[0].shape);
}

}  // namespace convlab
