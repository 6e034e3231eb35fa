#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "convlab/model/onnx/onnx.pb.h"

namespace convlab {

/// A model's bytes, wherever they are. Most of them are weights, which are read one tensor after the other.
struct OnnxBytes {
  int64_t size = 0;
  std::function<void(int64_t offset, std::span<uint8_t> into)> read;
};

/// A place among a model's bytes.
struct OnnxPlace {
  int64_t offset = 0, bytes = 0;
};

/// A model without the raw data of its graph's initializers, and where that is.
struct OnnxOutline {
  onnx::ModelProto model;
  std::vector<std::optional<OnnxPlace>> raw_data;  ///< by initializer; nullopt: it has none
};

/// Error(bad_input) where the bytes are no ONNX model.
OnnxOutline read_outline(const OnnxBytes& bytes);

}  // namespace convlab
