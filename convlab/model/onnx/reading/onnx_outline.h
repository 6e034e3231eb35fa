#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "convlab/model/onnx/onnx.pb.h"

namespace convlab {

/// A model's bytes, in memory or in a file. Most of them are weights, which are read one tensor at a time.
struct OnnxBytes {
  int64_t size = 0;
  std::function<void(int64_t offset, std::span<uint8_t> into)> read;
};

/// A byte range of a model.
struct OnnxPlace {
  int64_t offset = 0, bytes = 0;
};

/// A model without the raw data of its graph's initializers, and the byte ranges of that data.
struct OnnxOutline {
  onnx::ModelProto model;
  std::vector<std::optional<OnnxPlace>> raw_data;  ///< by initializer; nullopt if it has none
};

/// Parses the model without its raw data. Throws Error(bad_input) if the bytes are not an ONNX model.
OnnxOutline read_outline(const OnnxBytes& bytes);

}  // namespace convlab
