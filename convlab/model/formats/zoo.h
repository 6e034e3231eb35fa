#pragma once

#include <map>
#include <string>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// A model that comes with the program, as its file describes itself.
struct ShippedModel {
  std::string name;          ///< "fa19"
  std::string semester;      ///< "fa19"
  std::string course_model;  ///< what the course's scripts call it: "ece408", "ece408-high", "ece408-low"
  Shape input;               ///< {1, side, side}
  std::string layers;        ///< "conv 12@5x5, tanh, maxpool 2, ..."
  double accuracy = 0;       ///< on the 10000 test images, as measured after training
};

/// All models in the folder models/ (see find_resource), by name.
std::vector<ShippedModel> shipped_models();

/// A shipped model by name, an .onnx file, or an MXNet PREFIX-NNNN.params with PREFIX-symbol.json beside it. Weights of
/// an ONNX model may be in files beside it. `input_shapes`: see OnnxImportOptions. Error(bad_input) that says what is
/// wrong where; for an unknown name, the nearest one and the list of all.
Graph load_model(const std::string& name_or_path, const std::map<std::string, Shape>& input_shapes = {});

/// The inputs and outputs of a model for which load_model() is OpenSize (onnx_images.h), without nodes: an .onnx
/// file's.
Graph load_interface(const std::string& path);

/// What the course's scripts would print as the model's name: from its metadata, otherwise "ece408".
std::string course_model_name(const Graph& graph);

/// "conv 12@5x5, tanh, maxpool 2, conv 24@5x5, FC 160, tanh, FC 10, softmax"; without changes of shape alone.
std::string describe_layers(const Graph& graph);

}  // namespace convlab
