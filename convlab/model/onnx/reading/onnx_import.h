#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "convlab/base/file.h"
#include "convlab/model/graph.h"

namespace convlab {

struct OnnxImportOptions {
  std::filesystem::path folder = {};  ///< of the model, for weights in files beside it; "": there are none
  std::map<std::string, Shape> input_shapes =
      {};  ///< what the inputs of these names will have, where the model leaves it open
};

/// The graph of an ONNX model: opset 7 to 26, the operators of onnx_operators(), functions of the model's own, and
/// branches whose condition is known. What the model computes from shapes is known here, save for the number of images,
/// which stays open. float16 and float64 are computed as float32; where the model casts to float16, values are rounded.
/// Integers are exact up to 2^24. Inputs that no output depends on are gone. `name` becomes the graph's, and begins
/// each message. Error(bad_input) that names the place (node, operator and opset; initializer; input) and the reason,
/// of all nodes that are refused. Memory stays within a small multiple of the file's size.
Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name, const OnnxImportOptions& options = {});

/// The same from a file, of which one tensor at a time is read, so that no weight is in memory twice.
Graph import_onnx(const InputFile& file, std::string_view name, const OnnxImportOptions& options = {});

}  // namespace convlab
