// Every model in tests/data/onnx, through import, plan and engine, in both plans and for each kernel, against the
// output of ONNX's own reference evaluator. tests/tools/make_onnx_cases.py writes the models, cases.txt and the
// tolerance of each: how far its sums may be off.

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
#include "convlab/model/onnx_import.h"
#include "convlab/tensor/npy.h"

namespace convlab {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(CONVLAB_SOURCE_DIR) / "tests/data/onnx";

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

/// |got - expected| <= tolerance * max(1, |expected|) for each element; "" or what is wrong.
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
  for (const ConvKernel& kernel : conv_kernels()) {
    if (kernel.info.device == DeviceKind::cpu && kernel.info.math == Math::fp32) {
      kernels.emplace_back(kernel.info.name);
    }
  }
  std::set<std::string> ran;  // the kernels that take at least one case
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
          // A kernel asked for may refuse a convolution; the planner's own choice may not fail.
          EXPECT_TRUE(!kernel.empty() && std::string(error.what()).find("does not fit") != std::string::npos)
              << error.what();
        }
      }
    }
  }
  EXPECT_THAT(ran, testing::UnorderedElementsAreArray(kernels));
}

}  // namespace
}  // namespace convlab
