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
  /// What the inputs of these names will have where the model leaves it open; "": its only input.
  std::map<std::string, Shape> input_shapes = {};
};

/// The graph of an ONNX model: opset 7 to 26, the operators of onnx_operators(), functions of the model's own, and
/// branches whose condition is known. What the model computes from shapes is known here. An open first size of an
/// input, the number of images or whatever it is, stays open if all that depends on it is linear in it; otherwise it is
/// the given one. float16 and float64 are computed as float32; where the model casts to float16, values are rounded.
/// Integers are exact up to 2^24. Inputs that no output depends on are gone. `name` becomes the graph's, and begins
/// each message. Error(bad_input) that names the place (node, operator and opset; initializer; input) and the reason,
/// of all nodes that are refused; OpenSize (onnx_images.h) where all that is missing are sizes that neither model nor
/// options give. Memory stays within a small multiple of the file's size.
Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name, const OnnxImportOptions& options = {});

/// The same from a file, of which one tensor at a time is read, so that no weight is in memory twice.
Graph import_onnx(const InputFile& file, std::string_view name, const OnnxImportOptions& options = {});

/// The inputs and outputs that a model declares, and no nodes: of one that needs its inputs' shapes to be read.
Graph onnx_interface(const InputFile& file, std::string_view name);

}  // namespace convlab
