#pragma once

#include <map>
#include <string>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// An array for an input of a model. `name`: as the user gave it, or "".
struct GivenInput {
  std::string name, file;
  Tensor tensor;
};

/// A file that may be said to be for an input: "x=photo.npy" or "photo.npy"; a file's own name may hold a "=".
struct NamedFile {
  std::string name, file;
};
NamedFile parse_named_file(const std::string& text);

/// Reads what --input names: such a file, or "arrays.npz", whose arrays have names of their own, or one as NumPy calls
/// those that nobody named.
std::vector<GivenInput> read_inputs(const std::vector<std::string>& texts);

/// Their shapes by name.
std::map<std::string, Shape> shapes_of(const std::vector<GivenInput>& given);

/// The shapes that --shape gives: "x=1x3x224x224", or "1x3x224x224" for the only input, by name.
std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts);

/// The inputs' shapes: as asked for, or the model's own with so many images. Error(bad_input) where sizes stay open.
std::vector<Shape> input_shapes(const Graph& graph, const std::map<std::string, Shape>& asked, int64_t images);

/// The arrays in the order of the graph's inputs: by name, or the only one. Error(bad_input) that names the input for
/// which none is given; a note for one that the model has no use for.
std::vector<GivenInput> in_order(const Graph& graph, std::vector<GivenInput> given);

}  // namespace convlab::app
