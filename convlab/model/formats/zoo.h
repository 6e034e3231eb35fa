#pragma once

#include <map>
#include <string>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// A model shipped with the program, as its file describes it.
struct ShippedModel {
  std::string name;          ///< "fa19"
  std::string semester;      ///< "fa19"
  std::string course_model;  ///< its name in the course's scripts: "ece408", "ece408-high", "ece408-low"
  Shape input;               ///< {1, side, side}
  std::string layers;        ///< "conv 12@5x5, tanh, maxpool 2, ..."
  double accuracy = 0;       ///< on the 10000 test images, as measured after training
};

/// Returns all models in the folder models/ (see find_resource), by name.
std::vector<ShippedModel> shipped_models();

/// Loads a shipped model by name, an .onnx file, or an MXNet PREFIX-NNNN.params with PREFIX-symbol.json in the same
/// folder. An ONNX model may have external data in its folder. `input_shapes`: see OnnxImportOptions. Throws
/// Error(bad_input) that says what is wrong and where; for an unknown name, it suggests the nearest one and lists all.
Graph load_model(const std::string& name_or_path, const std::map<std::string, Shape>& input_shapes = {});

/// Returns the inputs and outputs of an .onnx file without nodes, for models that load_model() rejects with OpenSize
/// (onnx_images.h).
Graph load_interface(const std::string& path);

/// Returns the model's name as the course's scripts print it: from its metadata, otherwise "ece408".
std::string course_model_name(const Graph& graph);

/// Returns "conv 12@5x5, tanh, maxpool 2, conv 24@5x5, FC 160, tanh, FC 10, softmax". Reshapes are left out.
std::string describe_layers(const Graph& graph);

}  // namespace convlab
