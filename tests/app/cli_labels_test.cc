// Tests that all CPU kernels and all plans find the same classes in real images, network by network.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convlab/kernels/registry.h"
#include "convlab/model/formats/zoo.h"
#include "tests/support/program_run.h"

namespace convlab {
namespace {

using nlohmann::json;

json classify(const std::string& model, const std::vector<std::string>& options) {
  std::vector<std::string> arguments{"run", model, "--device", "cpu", "-n", "200", "--json", "-"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 0) << run.complaint;
  return run.status == 0 ? json::parse(run.output) : json{{"labels", json::array()}};
}

class Labels : public testing::TestWithParam<std::string> {};

TEST_P(Labels, AreThoseOfTheReferenceWhateverTheKernel) {
  const json expected = classify(GetParam(), {"--kernel", "cpu.reference", "--plan", "layers"});
  ASSERT_EQ(expected["labels"].size(), 200U);
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device != DeviceKind::cpu || kernel.info.math != Math::fp32) continue;
    // Skipped: transform kernels do not support every convolution, and nchw8c kernels support none in these networks.
    // The plans below use those that pay off.
    if (kernel.info.name == "cpu.reference" || kernel.info.sum == Sum::transform) continue;
    if (kernel.format == kNchw8c) continue;
    for (const char* plan : {"layers", "fused"}) {
      const json result = classify(GetParam(), {"--kernel", std::string(kernel.info.name), "--plan", plan});
      EXPECT_EQ(result["labels"], expected["labels"]) << kernel.info.name << " " << plan;
    }
  }
  for (const char* plan : {"layers", "fused", "folded"}) {
    EXPECT_EQ(classify(GetParam(), {"--plan", plan})["labels"], expected["labels"]) << plan;
  }
}

#if CONVLAB_SIMT
TEST(LabelsOfCudaKernels, AreThoseOfTheCpu) {
  const auto labels = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"run", "fa19", "-n", "1", "--json", "-"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 0) << run.complaint;
    return run.status == 0 ? json::parse(run.output)["labels"] : json::array();
  };
  const json expected = labels({"--device", "cpu"});
  ASSERT_EQ(expected.size(), 1U);
  // Each run takes seconds, and `convlab verify` tests all kernels. These five use different parts of the engine.
  for (const char* kernel : {"cuda.basic", "cuda.unroll_gemm", "cuda.winograd", "cuda.half2", "cuda.cublas_gemm"}) {
    EXPECT_EQ(labels({"--device", "simt", "--kernel", kernel}), expected) << kernel;
  }
  for (const char* math : {"fp32", "tf32", "fp16"}) {
    EXPECT_EQ(labels({"--device", "simt", "--math", math}), expected) << math;
  }
}
#endif

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const ShippedModel& model : shipped_models()) names.emplace_back(model.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& model) {
  std::string name = model.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Labels, testing::ValuesIn(models()), test_name);

}  // namespace
}  // namespace convlab
