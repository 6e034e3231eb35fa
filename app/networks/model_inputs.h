#pragma once

#include <map>
#include <string>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// An array for a model's input. `name`: as the user gave it, or "".
struct GivenInput {
  std::string name, file;
  Tensor tensor;
};

/// A file, optionally with the name of its input: "x=photo.npy" or "photo.npy". A file's own name may contain a "=".
struct NamedFile {
  std::string name, file;
};
NamedFile parse_named_file(const std::string& text);

/// Reads the files of --input. The arrays of a .npz file have names of their own, except a single one with NumPy's
/// default name, "arr_0".
std::vector<GivenInput> read_inputs(const std::vector<std::string>& texts);

/// Returns their shapes by name.
std::map<std::string, Shape> shapes_of(const std::vector<GivenInput>& given);

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors);

/// Returns the type to which a run's inputs are converted: uint8 if all are uint8 pixels, otherwise float32.
ElementType input_type(const std::vector<GivenInput>& given);

/// Parses the values of --shape, "x=1x3x224x224", or "1x3x224x224" for the only input, to shapes by name.
std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts);

/// Loads a model for the shapes of --shape. Errors are those of load_model(), with the options that set dynamic sizes,
/// and Error(bad_input), which names the model's inputs, if there is a shape for something else, or one does not fit.
Graph load_for_shapes(const std::string& model, const std::map<std::string, Shape>& asked);

/// Loads a model for arrays of these shapes. Errors are those of load_model(), with the options that pass arrays.
Graph load_for_arrays(const std::string& model, const std::map<std::string, Shape>& shapes);

/// Returns the inputs' shapes: as asked for, otherwise the model's own, with `images` as a dynamic batch size. Throws
/// Error(bad_input) if other sizes remain dynamic.
std::vector<Shape> input_shapes(const Graph& graph, const std::map<std::string, Shape>& asked, int64_t images);

/// Returns random pixels: the time of convolutions does not depend on their values.
Tensor random_pixels(const Shape& shape, ElementType type);

/// Throws Error(bad_input), with the remedy if it is known, unless an array of this shape fits the input but for its
/// number of images, which may be split into batches.
void require_fitting(const Graph& graph, const GraphInput& input, const Shape& shape);

/// Returns the arrays in the order of the graph's inputs: by name, or the only one. Throws Error(bad_input), which
/// names the input, if one has no array. Prints a note for an array that the model does not use.
std::vector<GivenInput> in_order(const Graph& graph, std::vector<GivenInput> given);

}  // namespace convlab::app
