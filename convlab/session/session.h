#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/engine/engine.h"
#include "convlab/engine/executor.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// What a program says of how a model is to be computed, in the words of the command line.
struct SessionOptions {
  std::string device = "auto";  ///< "cpu", "cuda", "cuda:1", "simt"
  std::string math = "fp32";    ///< "tf32", "bf16x2", "bf16", "fp16"
  std::string plan = "fused";   ///< "layers", "folded"
  int threads = 0;              ///< of host work; 0: as many as this process may use
};

/// An array in somebody else's memory on the host, dense and row-major.
struct ConstArray {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  Shape shape;
};
struct Array {
  void* data = nullptr;
  ElementType type = ElementType::f32;
  Shape shape;
};

/// A model on a device, ready for inputs of any shapes that it takes: what programs call. Any thread may use it at any time;
/// runs of several threads take turns.
///
/// What it computes for is made ready at the first run of a shape, and of the last few shapes kept.
class Session {
 public:
  /// `model`: as load_model() takes it. Errors of load_model(), open_device() and require_math().
  Session(const std::string& model, const SessionOptions& options);

  const DeviceCaps& device() const { return device_->caps(); }

  /// As the file has them; -1 for sizes that it leaves open.
  struct Value {
    std::string name;
    ElementType type;
    Shape shape;  ///< of outputs {}: it follows from the inputs'
  };
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }

  /// The outputs' shapes for inputs of these; their data is not looked at. Errors as run().
  std::vector<Shape> output_shapes(std::span<const ConstArray> inputs);

  /// Computes the outputs, which have the shapes that output_shapes() gives and the types of outputs(). Inputs are float32 or
  /// uint8 pixels, or converted to float32. Where the model has one input and one output, and they are float32, or the
  /// input uint8, nothing is copied on a host.
  /// Error(bad_input) where the number of arrays, a shape or a type is not what the model takes or gives; outputs are then
  /// as they were.
  void run(std::span<const ConstArray> inputs, std::span<const Array> outputs);

  /// One step of a plan: what computes which part of the model.
  struct Step {
    std::string name, op, kernel;
    double flops = 0;    ///< of convolutions (direct method) and matrix products
    double seconds = 0;  ///< of profile(); of plan() 0
  };

  /// How inputs of these shapes are computed.
  std::vector<Step> plan(std::span<const ConstArray> inputs);

  /// The same with seconds, medians of `repeat` runs after one that warms up.
  std::vector<Step> profile(std::span<const ConstArray> inputs, int repeat);

 private:
  /// The model, ready for one shape of its inputs, or for any number of images of one.
  struct Ready {
    std::vector<Shape> shapes;
    ElementType type;
    std::unique_ptr<Engine> engine;      ///< of one input and one output
    std::unique_ptr<Executor> executor;  ///< of others

    bool serves(const std::vector<Shape>& wanted, ElementType element) const;
    const Plan& plan() const { return engine ? engine->plan() : executor->plan(); }
  };

  /// Inputs as they are computed on: as given, or converted.
  struct Inputs {
    std::vector<const void*> data;
    std::vector<Tensor> converted;
    std::vector<Shape> shapes;
    ElementType type;

    int64_t images() const { return shapes[0].empty() ? 1 : shapes[0][0]; }
  };

  void require_inputs(std::span<const ConstArray> inputs) const;
  Inputs inputs_of(std::span<const ConstArray> inputs, bool with_data) const;
  Ready& ready_for(const Inputs& inputs);
  std::vector<Shape> output_shapes(const Ready& ready, int64_t images) const;
  std::vector<Tensor> run_executor(Ready& ready, const Inputs& inputs, std::vector<double>* seconds) const;

  std::unique_ptr<Device> device_;
  Graph model_;
  EngineOptions engine_options_;
  std::vector<Value> inputs_, outputs_;
  std::mutex mutex_;
  std::list<Ready> ready_;  ///< the latest used first
};

/// "[{"name": ..., "op": ..., "kernel": ..., "flops": ..., "seconds": ...}, ...]"
std::string to_json(const std::vector<Session::Step>& steps);

}  // namespace convlab
