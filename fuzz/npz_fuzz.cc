// Fuzzes parsing of .npz archives: arrays survive writing and reading.

#include "convlab/tensor/npz.h"

#include <cstring>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  convlab::refuse_or_take([&] {
    const auto arrays = convlab::parse_npz({data, size}, "input");
    const auto again = convlab::parse_npz(convlab::to_npz(arrays), "written");
    convlab::demand(again.size() == arrays.size(), "what is written has as many arrays");
    for (size_t i = 0; i < arrays.size(); ++i) {
      const convlab::Tensor &one = arrays[i].tensor, &other = again[i].tensor;
      convlab::demand(again[i].name == arrays[i].name && other.shape() == one.shape(), "names and shapes survive");
      convlab::demand(std::memcmp(other.raw(), one.raw(), one.bytes()) == 0, "elements survive");
    }
  });
  return 0;
}
