#include "convlab/engine/ready_plan.h"

#include "convlab/base/clock.h"

namespace convlab {

double ReadyPlan::prepare(Device& device, Stream& stream) {
  for (const PlanStep& step : plan_.steps) {
    prepared_.push_back(step.prepared_bytes > 0 ? device.allocate(step.prepared_bytes) : Buffer());
  }
  const auto begin = Clock::now();
  const auto prepare = [&](const auto& kernel, const auto& args) {
    if (kernel.prepare != nullptr) kernel.prepare(args, stream);
  };
  for (size_t i = 0; i < plan_.steps.size(); ++i) visit(i, nullptr, nullptr, prepare, prepare);
  stream.synchronize();
  return seconds_since(begin);
}

void ReadyPlan::launch(Stream& stream, const void* input, void* output, StageObserver* observer,
                       std::vector<double>* seconds) {
  const auto launch = [&](const auto& kernel, const auto& args) { kernel.launch(args, stream); };
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    if (seconds != nullptr) stream.synchronize();
    SetAside& aside = stream.attached<SetAside>();
    aside.take();
    const auto begin = Clock::now();
    const PlanStep& step = plan_.steps[i];
    const Observed part(observer, {Stage::step, step.name, step.kernel_name()});
    visit(i, input, output, launch, launch);
    if (seconds == nullptr) continue;
    stream.synchronize();
    (*seconds)[i] += seconds_since(begin) - aside.take().seconds;
  }
  ++turn_;
}

/// An array's address; null for a run's arrays before there is a run, while weights are prepared.
const void* ReadyPlan::address(const Location& location, const void* input, const void* output) const {
  switch (location.place) {
    case Location::Place::input:
      return input;
    case Location::Place::output:
      return output;
    case Location::Place::constant:
      return constants_.address(static_cast<ValueId>(location.at));
    case Location::Place::arena:
      return input == nullptr ? nullptr : memory_.arena() + location.at;
  }
  return nullptr;
}

/// Calls the function that fits the step, with its kernel and arguments.
template <class OnConv, class OnOp>
void ReadyPlan::visit(size_t i, const void* input, void* output, OnConv on_conv, OnOp on_op) {
  const PlanStep& step = plan_.steps[i];
  addresses_.clear();
  for (const Location& each : step.inputs) {
    addresses_.push_back(static_cast<const float*>(address(each, input, output)));
  }
  auto* y = static_cast<float*>(const_cast<void*>(address(step.output, input, output)));
  void* workspace = step.workspace_bytes > 0 ? memory_.arena() + step.workspace_at : nullptr;
  if (const ConvStep* conv = step.conv_step()) {
    const std::vector<const float*>& x_w_bias = addresses_;
    on_conv(*step.conv, ConvArgs{.step = *conv,
                                 .x = x_w_bias[0],
                                 .w = x_w_bias[1],
                                 .bias = x_w_bias.size() > 2 ? x_w_bias[2] : nullptr,
                                 .y = y,
                                 .prepared = prepared_for(i),
                                 .workspace = workspace});
  } else {
    on_op(*step.op, OpArgs{.step = *step.op_step(),
                           .inputs = addresses_,
                           .output = y,
                           .prepared = prepared_for(i),
                           .workspace = workspace,
                           .turn = turn_});
  }
}

}  // namespace convlab
