// Reads the arrays for a model's inputs and matches them by name.

#include "app/networks/model_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/rng.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/session/array.h"
#include "convlab/tensor/npy.h"
#include "convlab/tensor/npz.h"

namespace convlab::app {

namespace fs = std::filesystem;

namespace {

void read_archive(const NamedFile& archive, std::vector<GivenInput>& given) {
  constexpr std::string_view kUnnamed = "arr_0";
  std::vector<NamedTensor> arrays = parse_npz(read_file(archive.file), archive.file);
  const bool unnamed = arrays.size() == 1 && arrays[0].name == kUnnamed;
  if (!archive.name.empty() && !unnamed) {
    throw bad_input("{}={}: arrays in the file have names already, for example '{}'; omit '{}='",
                    printable(archive.name), archive.file, printable(arrays[0].name), printable(archive.name));
  }
  for (NamedTensor& each : arrays) {
    given.push_back({unnamed ? archive.name : each.name, archive.file, std::move(each.tensor)});
  }
}

/// Returns a shape for the input, with a value for each dynamic size: "1x3x224x224".
std::string example_shape(const GraphInput& input) {
  constexpr int64_t kUsualSide = 224;
  Shape shape = input.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == -1) shape[axis] = axis == 0 ? 1 : kUsualSide;
  }
  return to_text(shape);
}

std::string shape_option(const std::string& name, const GraphInput& input) {
  return fmt::format("--shape {}={}", name, example_shape(input));
}

/// Whether the input's sizes from axis `first` on can be these.
bool fits(const GraphInput& input, const Shape& shape, size_t first = 0) {
  if (shape.size() != input.shape.size()) return false;
  for (size_t axis = first; axis < shape.size(); ++axis) {
    if (input.shape[axis] != -1 && input.shape[axis] != shape[axis]) return false;
  }
  return true;
}

/// Returns the shape of an array whose axes are transposed, as NumPy does.
Shape transposed(const Shape& shape, const std::vector<size_t>& axes) {
  Shape result;
  for (const size_t axis : axes) result.push_back(shape[axis]);
  return result;
}

/// Returns what makes an array of this shape fit: a transposition, or a batch dimension; "" if none does.
std::string remedy(const GraphInput& input, Shape shape) {
  const bool one_image = shape.size() + 1 == input.shape.size();
  if (one_image) shape.insert(shape.begin(), 1);
  if (one_image && fits(input, shape, 1)) return "add a batch dimension: x[None] in NumPy";
  if (shape.size() != 4) return "";
  if (fits(input, transposed(shape, {0, 3, 1, 2}), 1)) {
    return one_image ? "the array looks like HWC: x.transpose(2, 0, 1)[None] in NumPy makes it NCHW"
                     : "the array looks like NHWC: x.transpose(0, 3, 1, 2) in NumPy makes it NCHW";
  }
  if (fits(input, transposed(shape, {0, 2, 3, 1}), 1)) {
    return one_image ? "the array looks like CHW: x.transpose(1, 2, 0)[None] in NumPy makes it NHWC"
                     : "the array looks like NCHW: x.transpose(0, 2, 3, 1) in NumPy makes it NHWC";
  }
  return "";
}

FindingError wrong_shape(const Graph& graph, const GraphInput& input, const Shape& shape, std::string help) {
  return in_file(graph.name, FindingError(ErrorKind::bad_input,
                                          {.kind = "input shape",
                                           .text = fmt::format("input '{}' must have shape {}, got {}",
                                                               graph.name_of(input), to_text(input), to_text(shape)),
                                           .help = std::move(help)}));
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphInput& input : graph.inputs) names.push_back(graph.name_of(input));
  return names;
}

/// "no input 'foo'; did you mean 'food'? inputs are food, x".
std::string no_such_input(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = closest(name, names);
  return fmt::format("no input '{}'; {}inputs are {}", printable(name),
                     nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest), fmt::join(names, ", "));
}

/// Throws Error(bad_input) unless each shape is that of an input, and fits it.
void require_inputs(const Graph& graph, const std::map<std::string, Shape>& asked) {
  const std::vector<std::string> names = input_names(graph);
  for (const auto& [name, shape] : asked) {
    if (name.empty() && names.size() == 1) continue;
    if (name.empty()) {
      throw bad_input("{}: name the input for the shape, one of {}: --shape {}={}", graph.name, fmt::join(names, ", "),
                      names[0], to_text(shape));
    }
    if (std::ranges::find(names, printable(name)) == names.end()) {
      throw bad_input("--shape {}={}: {} has {}", printable(name), to_text(shape), graph.name,
                      no_such_input(name, names));
    }
  }
  for (const GraphInput& input : graph.inputs) {
    const std::string& name = graph.name_of(input);
    const auto found = std::ranges::find_if(asked, [&](const auto& each) {
      return printable(each.first) == name || (each.first.empty() && names.size() == 1);
    });
    if (found == asked.end() || fits(input, found->second)) continue;
    const bool open = std::ranges::count(input.shape, -1) > 0;
    throw wrong_shape(graph, input, found->second,
                      open ? shape_option(name, input) : "omit --shape: the model's sizes are fixed");
  }
}

/// Loads the model. In an error about dynamic sizes, the help is `remedy(name, input)` for each of these inputs.
template <class Remedy>
Graph load_or_help(const std::string& model, const std::map<std::string, Shape>& shapes, Remedy remedy) {
  try {
    return load_model(model, shapes);
  } catch (const OpenSize& error) {
    std::string help;
    for (const auto& [name, input] : error.inputs()) help += (help.empty() ? "" : " ") + remedy(name, input);
    std::vector<Finding> findings = error.findings();
    for (Finding& finding : findings) finding.help = help;
    throw FindingError(error.kind(), error.what(), std::move(findings));
  }
}

}  // namespace

NamedFile parse_named_file(const std::string& text) {
  const size_t equals = text.find('=');
  const bool named = equals != std::string::npos && !fs::exists(text);
  return {.name = named ? text.substr(0, equals) : "", .file = named ? text.substr(equals + 1) : text};
}

std::vector<GivenInput> read_inputs(const std::vector<std::string>& texts) {
  std::vector<GivenInput> given;
  for (const std::string& text : texts) {
    const NamedFile each = parse_named_file(text);
    if (fs::path(each.file).extension() == ".npz") {
      read_archive(each, given);
    } else {
      given.push_back({each.name, each.file, parse_npy(read_file(each.file), each.file)});
    }
  }
  return given;
}

std::map<std::string, Shape> shapes_of(const std::vector<GivenInput>& given) {
  std::map<std::string, Shape> shapes;
  for (const GivenInput& each : given) shapes[each.name] = each.tensor.shape();
  return shapes;
}

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape());
  return shapes;
}

ElementType input_type(const std::vector<GivenInput>& given) {
  return convlab::input_type(given, [](const GivenInput& each) { return each.tensor.type(); });
}

std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts) {
  constexpr int64_t kMostSize = int64_t{1} << 30;
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    const std::string sizes = equals == std::string::npos ? text : text.substr(equals + 1);
    if (sizes.empty() || sizes.find_first_not_of("0123456789x") != std::string::npos) {
      throw bad_input("--shape: expected sizes joined by x, such as {}=1x3x224x224, got '{}'",
                      name.empty() ? "NAME" : printable(name), printable(text));
    }
    Shape shape;
    for (const std::string& size : split(sizes, 'x')) shape.push_back(parse_int(size, "--shape", 1, kMostSize));
    if (!shapes.emplace(name, std::move(shape)).second) throw bad_input("--shape {}: given twice", printable(text));
  }
  return shapes;
}

Graph load_for_shapes(const std::string& model, const std::map<std::string, Shape>& asked) {
  Graph graph = load_or_help(model, asked, shape_option);
  require_inputs(graph, asked);
  return graph;
}

Graph load_for_arrays(const std::string& model, const std::map<std::string, Shape>& shapes) {
  return load_or_help(model, shapes, [](const std::string& name, const GraphInput& input) {
    return fmt::format("pass an array of shape {}: --input {}=X.npy", to_text(input), name);
  });
}

std::vector<Shape> input_shapes(const Graph& graph, const std::map<std::string, Shape>& asked, int64_t images) {
  std::vector<Shape> shapes;
  for (const GraphInput& input : graph.inputs) {
    const std::string& name = graph.name_of(input);
    auto found = asked.find(name);
    if (found == asked.end() && graph.inputs.size() == 1) found = asked.find("");
    Shape shape = found != asked.end() ? found->second : input.shape;
    if (!shape.empty() && shape[0] == -1) shape[0] = images;
    if (std::ranges::find(shape, -1) != shape.end()) {
      throw in_file(graph.name,
                    FindingError(ErrorKind::bad_input,
                                 {.kind = "dynamic sizes",
                                  .text = fmt::format("input '{}' has dynamic sizes: {}", name, to_text(input)),
                                  .help = shape_option(name, input)}));
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Tensor random_pixels(const Shape& shape, ElementType type) {
  constexpr uint64_t kSeed = 1;
  Rng random(kSeed);
  Tensor tensor(type, shape);
  if (type == ElementType::u8) {
    for (uint8_t& pixel : tensor.values<uint8_t>()) pixel = static_cast<uint8_t>(random.integer(0, 255));
  } else {
    for (float& value : tensor.values<float>()) value = random.uniform(0, 1);
  }
  return tensor;
}

void require_fitting(const Graph& graph, const GraphInput& input, const Shape& shape) {
  if (!fits(input, shape, 1)) throw wrong_shape(graph, input, shape, remedy(input, shape));
}

std::vector<GivenInput> in_order(const Graph& graph, std::vector<GivenInput> given) {
  const std::vector<std::string> names = input_names(graph);
  if (names.size() == 1 && given.size() == 1 && given[0].name.empty()) return given;
  const auto refuse_unnamed = [&](const GivenInput& each) {
    throw bad_input("{}: name the input for the file, one of {}: --input {}={}", each.file, fmt::join(names, ", "),
                    names[0], each.file);
  };
  std::vector<GivenInput> ordered;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(given, name, [](const GivenInput& each) { return printable(each.name); });
    if (found == given.end()) {
      for (const GivenInput& each : given) {
        if (each.name.empty()) refuse_unnamed(each);
        if (std::ranges::find(names, printable(each.name)) == names.end())
          throw bad_input("{}: {} has {}", each.file, graph.name, no_such_input(each.name, names));
      }
      throw bad_input("{}: input '{}' is missing; inputs are {}: --input {}=X.npy", graph.name, name,
                      fmt::join(names, ", "), name);
    }
    ordered.push_back(std::move(*found));
    given.erase(found);
  }
  // Arrays that the model does not use are not an error.
  for (const GivenInput& each : given) {
    if (each.name.empty()) refuse_unnamed(each);
    note("{} does not use '{}'; its inputs are {}", graph.name, printable(each.name), fmt::join(names, ", "));
  }
  return ordered;
}

}  // namespace convlab::app
