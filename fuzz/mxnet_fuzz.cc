// Fuzzes import of MXNet checkpoints. The input contains both files: the symbol's length (4 bytes, little-endian), the
// symbol, and the params.

#include <algorithm>
#include <cstring>

#include "convlab/model/formats/mxnet_import.h"
#include "convlab/model/formats/mxnet_params.h"
#include "convlab/model/onnx/writing/onnx_export.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  const std::span bytes(data, size);
  uint32_t length = 0;
  if (size < sizeof length) return 0;
  std::memcpy(&length, data, sizeof length);
  const size_t symbol = std::min<size_t>(length, size - sizeof length);
  refuse_or_take([&] {
    const Graph graph =
        import_mxnet(bytes.subspan(sizeof length, symbol), "symbol", bytes.subspan(sizeof length + symbol), "params");
    Shape input = graph.inputs[0].shape;
    demand(input.size() == 4 && input[0] == -1, "the input is a batch of images");
    if (input[2] != -1) {
      input[0] = 1;
      demand(!infer_shapes(graph, input).empty(), "its shapes fit");
    }
    demand(!export_onnx(graph).empty(), "it can be written");
  });
  return 0;
}
