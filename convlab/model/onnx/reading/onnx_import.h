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
  std::filesystem::path folder = {};  ///< folder of the model, for external data; "": there is none
  /// Shapes for inputs with dynamic sizes, by name; "" is the only input.
  std::map<std::string, Shape> input_shapes = {};
};

/// Imports an ONNX model: opset 7 to 26, the operators of onnx_operators(), model-local functions, and If nodes with a
/// known condition. Evaluates what the model computes from shapes. A dynamic first size of an input, usually the batch
/// size, stays dynamic if everything that depends on it is linear in it; otherwise it becomes the given size. float16
/// and float64 are computed as float32; a Cast to float16 rounds the values. Integers are exact up to 2^24. Inputs that
/// no output depends on are dropped. `name` becomes the graph's name, and begins each message. Throws Error(bad_input)
/// that names the location (node, operator and opset; initializer; input) and the reason for each unsupported node;
/// throws OpenSize (onnx_images.h) if only sizes are missing that neither model nor options specify. Memory use stays
/// within a small multiple of the file's size.
Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name, const OnnxImportOptions& options = {});

/// Imports from a file, one tensor at a time, so that no weight is in memory twice.
Graph import_onnx(const InputFile& file, std::string_view name, const OnnxImportOptions& options = {});

/// Returns the inputs and outputs that a model declares, without nodes, for a model that needs its inputs' shapes to be
/// imported.
Graph onnx_interface(const InputFile& file, std::string_view name);

}  // namespace convlab
