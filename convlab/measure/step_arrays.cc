// Makes the arrays on which kernels of any operator are timed.

#include "convlab/measure/step_arrays.h"

#include "convlab/kernels/conv_step.h"
#include "convlab/measure/conv_arrays.h"
#include "convlab/measure/op_arrays.h"

namespace convlab {

std::unique_ptr<BenchArrays> arrays_of(const Step& step, Device& device, Oracle& oracle,
                                       std::shared_ptr<const OracleLayer>& layer) {
  if (!is_conv(step)) return std::make_unique<OpArrays>(device, step);
  const ConvStep conv = conv_step(step);
  if (!layer) layer = timed_layer(conv, oracle);
  return std::make_unique<ConvArrays>(device, conv, layer);
}

}  // namespace convlab
