// Fuzzes parsing of plan files: a file survives conversion to text and back.

#include "convlab/plan/plan_file.h"

#include <string>
#include <string_view>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  convlab::refuse_or_take([&] {
    const convlab::PlanFile file = convlab::parse_plan_file(text, "input");
    const std::string again = convlab::to_text(file);
    convlab::demand(convlab::to_text(convlab::parse_plan_file(again, "input")) == again,
                    "its text gives the same file");
  });
  return 0;
}
