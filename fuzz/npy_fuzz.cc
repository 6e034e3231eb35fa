// Fuzzes parsing of .npy files: a tensor survives writing and reading.

#include <cstring>

#include "convlab/tensor/npy.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  convlab::refuse_or_take([&] {
    const convlab::Tensor tensor = convlab::parse_npy({data, size}, "input");
    const convlab::Tensor again = convlab::parse_npy(convlab::to_npy(tensor), "written");
    convlab::demand(again.type() == tensor.type() && again.shape() == tensor.shape(), "what is written reads the same");
    convlab::demand(std::memcmp(again.raw(), tensor.raw(), tensor.bytes()) == 0, "elements survive");
  });
  return 0;
}
