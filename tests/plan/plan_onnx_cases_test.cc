// Tests every model in tests/data/onnx through import, plan and engine, in both plans and with each kernel, against the
// output of ONNX's reference evaluator. tests/tools/make_onnx_cases.py writes the models, and cases.txt with the
// tolerance of each. Tests every network in tests/data/onnx_networks, written by tests/tools/make_onnx_networks.py,
// against ONNX Runtime.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "convlab/base/file.h"
#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "convlab/model/onnx/writing/onnx_export.h"
#include "convlab/tensor/npy.h"
#include "tests/support/paths.h"

namespace convlab {
namespace {

const std::filesystem::path kFolder = source_folder() / "tests/data/onnx";

struct Case {
  std::string name;
  int opset = 0;
  double tolerance = 0;
  std::string operators;
};

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::ifstream file(kFolder / "cases.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Case each;
    words >> each.name >> each.opset >> each.tolerance >> each.operators;
    EXPECT_FALSE(words.fail()) << "cases.txt: " << line;
    cases.push_back(each);
  }
  return cases;
}

Tensor read_tensor(const std::string& name) { return parse_npy(read_file(kFolder / name), name); }

/// Checks |got - expected| <= tolerance * max(1, |expected|) for each element. Returns "" or the first violation.
std::string difference(const Tensor& got, const Tensor& expected, double tolerance) {
  if (got.shape() != expected.shape()) return to_text(got.shape()) + " instead of " + to_text(expected.shape());
  for (size_t i = 0; i < static_cast<size_t>(got.count()); ++i) {
    const double value = got.values<float>()[i], wanted = expected.values<float>()[i];
    if (!(std::fabs(value - wanted) <= tolerance * std::fmax(1, std::fabs(wanted)))) {
      return fmt::format("element {} is {}, expected {} (tolerance {})", i, value, wanted, tolerance);
    }
  }
  return "";
}

TEST(OnnxCases, GiveWhatOnnxDefines) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GE(cases.size(), 50u) << "where have the cases gone? " << kFolder;
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  std::vector<std::string> kernels{""};
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device == DeviceKind::cpu && kernel.info.math == Math::fp32) {
      kernels.emplace_back(kernel.info.name);
    }
  }
  std::set<std::string> ran;  // the kernels that support at least one case
  for (const Case& each : cases) {
    const Tensor input = read_tensor(each.name + ".input.npy");
    const Tensor expected = read_tensor(each.name + ".expected.npy");
    const std::vector<uint8_t> bytes = read_file(kFolder / (each.name + ".onnx"));
    for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
      for (const std::string& kernel : kernels) {
        SCOPED_TRACE(fmt::format("{} (opset {}: {}) {} {}", each.name, each.opset, each.operators, name_of(mode),
                                 kernel.empty() ? "auto" : kernel));
        try {
          Engine engine(import_onnx(bytes, each.name), input.shape(), *device,
                        {.plan = {.mode = mode, .kernel = kernel}});
          EXPECT_EQ(difference(engine.run(input), expected, each.tolerance), "");
          ran.insert(kernel);
        } catch (const Error& error) {
          // A requested kernel may not support a convolution. The planner's own choice must not fail.
          EXPECT_TRUE(!kernel.empty() &&
                      std::string(error.what()).find("not supported by the requested kernel") != std::string::npos)
              << error.what();
        }
      }
    }
  }
  EXPECT_THAT(ran, testing::UnorderedElementsAreArray(kernels));
}

// ---- Networks ----

const std::filesystem::path kNetworks = source_folder() / "tests/data/onnx_networks";

struct Network {
  std::string name, blocks;
  std::vector<double> tolerances;  ///< of each output: the L2 norm of the error, relative to the output's
  std::vector<Tensor> inputs, outputs;
};

std::vector<Tensor> read_tensors(const std::string& stem) {
  std::vector<Tensor> tensors;
  for (int i = 0; std::filesystem::exists(kNetworks / fmt::format("{}_{}.npy", stem, i)); ++i) {
    const std::string name = fmt::format("{}_{}.npy", stem, i);
    tensors.push_back(parse_npy(read_file(kNetworks / name), name));
  }
  return tensors;
}

std::vector<Network> read_networks() {
  std::vector<Network> networks;
  std::ifstream file(kNetworks / "networks.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Network each;
    int opset = 0;
    words >> each.name >> opset >> each.blocks;
    for (double tolerance = 0; words >> tolerance;) each.tolerances.push_back(tolerance);
    each.inputs = read_tensors(each.name + ".input");
    each.outputs = read_tensors(each.name + ".output");
    EXPECT_EQ(each.tolerances.size(), each.outputs.size()) << "networks.txt: " << line;
    networks.push_back(std::move(each));
  }
  return networks;
}

/// The L2 norm of the error relative to the expected output's. For outputs near 0, relative to a small constant.
double relative_error(const Tensor& got, const Tensor& expected) {
  if (got.shape() != expected.shape()) return INFINITY;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < static_cast<size_t>(got.count()); ++i) {
    const double value = got.values<float>()[i], wanted = expected.values<float>()[i];
    difference += (value - wanted) * (value - wanted);
    norm += wanted * wanted;
  }
  constexpr double kSmall = 1e-3;
  return std::sqrt(difference) / std::fmax(std::sqrt(norm), kSmall * std::sqrt(static_cast<double>(got.count())));
}

void expect_right(const Network& network, Graph graph, PlanMode mode, Device& device) {
  std::vector<Shape> shapes;
  for (const Tensor& input : network.inputs) shapes.push_back(input.shape());
  Engine engine(std::move(graph), shapes, device, {.plan = {.mode = mode}, .at_once = true});
  const std::vector<Tensor> got = engine.run(network.inputs);
  ASSERT_EQ(got.size(), network.outputs.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_LE(relative_error(got[i], network.outputs[i]), network.tolerances[i]) << "output " << i;
  }
}

TEST(OnnxNetworks, GiveWhatOnnxRuntimeGivesAlsoAfterTheyAreWrittenAgain) {
  const std::vector<Network> networks = read_networks();
  ASSERT_EQ(networks.size(), 20u) << "where have the networks gone? " << kNetworks;
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  for (const Network& each : networks) {
    const std::vector<uint8_t> bytes = read_file(kNetworks / (each.name + ".onnx"));
    for (const PlanMode mode : {PlanMode::layers, PlanMode::fused, PlanMode::folded}) {
      SCOPED_TRACE(fmt::format("{} ({}) {}", each.name, each.blocks, name_of(mode)));
      const Graph graph = import_onnx(bytes, each.name);
      expect_right(each, graph.clone(), mode, *device);
      expect_right(each, import_onnx(export_onnx(graph), "again"), mode, *device);
    }
  }
}

}  // namespace
}  // namespace convlab
