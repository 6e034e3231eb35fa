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
#include "convlab/base/text.h"
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

std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts) {
  constexpr int64_t kMostSize = int64_t{1} << 30;
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string sizes = equals == std::string::npos ? text : text.substr(equals + 1);
    Shape shape;
    for (const std::string& size : split(sizes, 'x')) shape.push_back(parse_int(size, "--shape", 1, kMostSize));
    shapes.emplace(equals == std::string::npos ? "" : text.substr(0, equals), std::move(shape));
  }
  return shapes;
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
      throw bad_input("{}: input '{}' has dynamic sizes, {}; set them, for example --shape {}=1x3x224x224", graph.name,
                      name, to_text(shape), name);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<GivenInput> in_order(const Graph& graph, std::vector<GivenInput> given) {
  std::vector<std::string> names;
  for (const GraphInput& input : graph.inputs) names.push_back(graph.name_of(input));
  if (names.size() == 1 && given.size() == 1 && given[0].name.empty()) return given;
  std::vector<GivenInput> ordered;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(given, name, [](const GivenInput& each) { return printable(each.name); });
    if (found == given.end()) {
      throw bad_input("{}: input '{}' is missing; inputs are {}: --input {}=X.npy", graph.name, name,
                      fmt::join(names, ", "), name);
    }
    ordered.push_back(std::move(*found));
    given.erase(found);
  }
  // Arrays that the model does not use are not an error.
  for (const GivenInput& each : given) {
    if (each.name.empty()) {
      throw bad_input("{}: name the input for the file, one of {}: --input {}={}", each.file, fmt::join(names, ", "),
                      names[0], each.file);
    }
    note("{} does not use input '{}'", graph.name, printable(each.name));
  }
  return ordered;
}

}  // namespace convlab::app
