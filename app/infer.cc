// convlab infer: any supported model on any input, from .npy to .npy.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/kernel_files.h"
#include "app/results/results_json.h"
#include "convlab/base/file.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine.h"
#include "convlab/model/zoo.h"
#include "convlab/tensor/npy.h"

namespace convlab::app {
namespace {

struct InferOptions {
  std::string model, input, output;
  ComputeOptions compute;
};

void infer(const InferOptions& options, Output& output) {
  require_writable("--output", options.output);
  const std::unique_ptr<Device> device = options.compute.open();
  Graph graph = load_model(options.model);
  const Tensor input = parse_npy(read_file(options.input), options.input);
  const ElementType type = input.type() == ElementType::u8 ? ElementType::u8 : ElementType::f32;
  const EngineOptions engine_options{.plan = options.compute.plan_options(PlanMode::fused, type),
                                     .pipelined = false};  // it runs once
  Engine engine(std::move(graph), input.shape(), *device, engine_options);
  const Tensor result = engine.run(input);
  write_file(options.output, to_npy(result));
  output.print("{}: {} -> {}: {}\n", options.input, to_text(input.shape()), options.output, to_text(result.shape()));
  write_json(output, InferResult{.model = options.model,
                                 .input = options.input,
                                 .output = options.output,
                                 .input_shape = input.shape(),
                                 .output_shape = result.shape(),
                                 .device = device->caps().kind,
                                 .math = options.compute.math()});
}

}  // namespace

Action declare_infer(CLI::App& parser) {
  auto options = std::make_shared<InferOptions>();
  require(
      add_text(parser, "MODEL", options->model, "", "a shipped model's name, an .onnx file or an MXNet .params file"));
  require(add_text(parser, "--input", options->input, "X.npy", "what the model computes on: float32, or uint8 pixels"));
  require(add_text(parser, "--output", options->output, "Y.npy", "where its float32 output goes"));
  add_compute(parser, options->compute);
  return [options](Output& output) {
    if (!run_in_guest({options->compute.kernel}, options->compute.device)) infer(*options, output);
  };
}

}  // namespace convlab::app
