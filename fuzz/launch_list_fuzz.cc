// Fuzzes parsing of the judge's launch lists: a list survives conversion to text and back.

#include <string_view>

#include "convlab/judge/launch_list.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  static const ConvProblem problem = parse_problem("n2_c1h4w4_k3r3s3");
  constexpr int64_t kMemoryBytes = 1 << 20;
  refuse_or_take([&] {
    const judge::LaunchList list = judge::read_list({reinterpret_cast<const char*>(data), size}, problem, kMemoryBytes);
    demand(judge::read_list(list_text(list), problem, kMemoryBytes) == list, "its text gives the same list");
    demand(judge::difference(list, list).empty(), "a list agrees with itself");
  });
  return 0;
}
