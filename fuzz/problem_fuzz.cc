// Fuzzes parsing of convolution problems: a problem survives conversion to text and back.

#include <string_view>

#include "convlab/conv/problem.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  convlab::refuse_or_take([&] {
    const convlab::ConvProblem problem = convlab::parse_problem(text);
    convlab::demand(convlab::parse_problem(convlab::to_text(problem)) == problem, "its text gives the same problem");
    convlab::demand(problem.p() > 0 && problem.q() > 0, "there is an output");
    convlab::demand(problem.input_count() > 0 && problem.filter_count() > 0 && problem.output_count() > 0,
                    "sizes do not overflow");
    convlab::demand(problem.flops() > 0 && problem.compulsory_bytes(4, 4) > 0, "work is counted");
  });
  return 0;
}
