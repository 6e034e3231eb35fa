// Fuzzes parsing of operators' problems: a problem survives conversion to text and back.

#include "convlab/kernels/step_text.h"

#include <algorithm>
#include <string_view>

#include "convlab/model/op_info.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  refuse_or_take([&] {
    const Step step = parse_step(text);
    const std::string shortest = to_text(step);
    const Step again = parse_step(shortest);
    demand(same_operator(again.op, step.op), "its text has the same operator");
    demand(shapes_of(again.inputs) == shapes_of(step.inputs), "its text has the same operands");
    demand(shapes_of(again.outputs) == shapes_of(step.outputs), "its text has the same output");
    demand(to_text(again) == shortest, "the text of a text is the text itself");
    const auto is_empty = [](const Operand& each) { return element_count(each.shape) < 1; };
    demand(std::none_of(step.inputs.begin(), step.inputs.end(), is_empty) && !is_empty(step.outputs[0]),
           "no array is empty");
  });
  return 0;
}
