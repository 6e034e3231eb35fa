#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/networks/top_classes.h"
#include "app/results/output.h"
#include "app/runs/layer_result.h"
#include "app/shards/share.h"
#include "convlab/device/device.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/report/report.h"
#include "convlab/verify/verify.h"

namespace convlab::app {

// The results of commands, and how `--json` writes them. In this folder, only files whose names end in _json.cc or
// _results.cc build JSON, because the JSON header takes seconds to compile.

struct VerifiedCase {
  const Kernel* kernel;
  Step step;
  CaseResult result;
};
/// `counts`: numbers of passed, failed and skipped cases.
void write_json(Output& output, const std::string& device, const std::vector<VerifiedCase>& cases,
                const std::array<int64_t, 3>& counts);

/// Empty members were not asked for.
struct Listing {
  std::vector<KernelInfo> kernels;
  std::vector<ShippedModel> models;
  std::vector<DeviceListing> devices;
};
void write_json(Output& output, const Listing& listing);

/// An input or output of a model. `file`: its path, "" if it was not written.
struct NamedArray {
  std::string name, file;
  Shape shape;
};
struct InferResult {
  std::string model;
  std::vector<NamedArray> inputs, outputs;
  DeviceCaps device;
  Math math;
  PlanMode plan;
  std::vector<LayerResult> layers;
  double network_seconds, device_network_seconds, load_seconds;
  int64_t memory_before_kb, memory_most_kb;  ///< resident before the model was loaded, and peak until its last pass
  std::vector<std::vector<TopClass>> top;    ///< of each image
};
/// `all_images`: number of images of all shares.
void write_json(Output& output, const InferResult& result, const Share& share, int64_t all_images);

struct ConvertResult {
  std::string model, output, layers;
  size_t bytes = 0;
};
void write_json(Output& output, const ConvertResult& result);

/// `path`: of the page.
void write_json(Output& output, const std::string& path, const ReportInput& input, const Report& page);

}  // namespace convlab::app
