#pragma once

#include <string>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "tests/support/onnx_model.h"
#include "tests/support/thrown_errors.h"

namespace convlab {

inline Graph import(const OnnxModel& model) { return import_onnx(model.bytes(), "test.onnx"); }

/// Returns the message with which the importer rejects the model.
inline std::string refusal(const OnnxModel& model) {
  return bad_input_message([&] { import(model); });
}

}  // namespace convlab
