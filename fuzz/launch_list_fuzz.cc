#include <nlohmann/json.hpp>
#include <string_view>

#include "convlab/base/json.h"
#include "convlab/judge/launch_list.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  static const ConvProblem problem = parse_problem("n2_c1h4w4_k3r3s3");
  constexpr int64_t kMemoryBytes = 1 << 20;
  refuse_or_take([&] {
    const judge::Json json = parse_json({reinterpret_cast<const char*>(data), size}, "list");
    const judge::LaunchList list = judge::read_list(json, problem, kMemoryBytes);
    demand(judge::read_list(to_json(list), problem, kMemoryBytes) == list, "its JSON gives the same list");
    demand(judge::difference(list, list).empty(), "a list agrees with itself");
  });
  return 0;
}
