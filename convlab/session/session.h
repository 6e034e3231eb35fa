#pragma once

#include <chrono>
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
#include "convlab/session/array.h"
#include "convlab/session/batcher.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// What a program says of how a model is to be computed, in the words of the command line.
struct SessionOptions {
  std::string device = "auto";  ///< "cpu", "cuda", "cuda:1", "simt"
  std::string math = "fp32";    ///< "tf32", "bf16x2", "bf16", "fp16"
  std::string plan = "fused";   ///< "layers", "folded"
  int threads = 0;              ///< of host work; 0: as many as this process may use

  /// Above 0, calls of several threads are computed together, and a call waits at most so long for others: see
  /// Batcher.
  std::chrono::microseconds batch_wait{0};
  int64_t batch_images = 64;  ///< the most that are computed together
};

/// A model on a device, ready for inputs of any shapes that it takes: what programs call. Any thread may use it at any
/// time; runs of several threads take turns, or are gathered.
///
/// What it computes for is made ready at the first run of a shape, and of the last few shapes kept. What kernels made
/// of the weights is in memory once for all shapes whose images are of one size, and for all sessions that clone()
/// has opened.
class Session {
 public:
  /// `model`: as load_model() takes it. Errors of load_model(), open_device() and require_math(); Error(bad_input)
  /// where batch_wait is negative, or batch_images below 1.
  Session(const std::string& model, const SessionOptions& options);

  /// A session of the same model, on any device, which shares with this one what both have in memory of its weights;
  /// this one may end before. Runs of the two do not take turns. Errors as Session(), and where is_forked_child().
  Session clone(const SessionOptions& options) const;

  /// As it was opened.
  const SessionOptions& options() const { return options_; }

  const DeviceCaps& device() const { return device_->caps(); }

  /// Whether this process is a child, made by fork(), of the one that opened the session. Threads and GPUs stay with
  /// the parent: all calls but this are Error(unavailable), and the session must not be destroyed.
  bool is_forked_child() const;

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

  /// Computes the outputs, which have the shapes that output_shapes() gives and the types of outputs(). Inputs are
  /// float32 or uint8 pixels, or converted to float32. Where the model has one input and one output, and they are
  /// float32, or the input uint8, nothing is copied on a host.
  ///
  /// Arrays may all be in the memory of the session's GPU instead, and then are of the types that are not converted.
  /// With `stream`, a cudaStream_t of theirs, the work begins after what that stream was given before, what it is given
  /// from now on waits for the work, and run() may return before; null: run() returns when the outputs are there.
  ///
  /// Error(bad_input) where the number of arrays, a shape or a type is not what the model takes or gives; outputs are
  /// then as they were.
  void run(std::span<const ConstArray> inputs, std::span<const Array> outputs, void* stream = nullptr);

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
  /// The model as its file has it, and what engines have made of its weights. One that computes from sizes that its
  /// file leaves open, other than linearly from the number of images, is read again for each shape of its inputs.
  struct Model {
    Graph graph;  ///< of one that is read again: its inputs and outputs alone
    std::shared_ptr<SharedWeights> weights;
    std::string again;  ///< the file to read again; "": it is read once for all

    static std::shared_ptr<const Model> load(const std::string& name);
    Graph graph_for(const std::vector<Shape>& inputs) const;
  };

  Session(std::shared_ptr<const Model> shared, const SessionOptions& options);

  /// The model, ready for one shape of its inputs, or for any number of images of one.
  struct Ready {
    std::vector<Shape> shapes;
    ElementType type;
    std::unique_ptr<Engine> engine;      ///< of one input and one output
    std::unique_ptr<Executor> executor;  ///< of others
    bool any_count = false;              ///< fewer images may be computed, too

    bool serves(const std::vector<Shape>& wanted, ElementType element) const;
    const Plan& plan() const { return engine ? engine->plan() : executor->plan(); }
  };

  /// Inputs as they are computed on: as given, or converted.
  struct Inputs {
    std::vector<const void*> data;
    std::vector<Tensor> converted;
    std::vector<Shape> shapes;
    ElementType type;
    bool on_device = false;

    int64_t images() const { return shapes.empty() || shapes[0].empty() ? 1 : shapes[0][0]; }
  };

  const Graph& model() const { return shared_->graph; }
  void require_own_process() const;
  std::unique_lock<std::mutex> turn() const;
  void require_inputs(std::span<const ConstArray> inputs) const;
  void require_on_device(const void* data, const std::string& name) const;
  void require_outputs(std::span<const Array> outputs, const std::vector<Shape>& shapes, bool on_device) const;
  Inputs inputs_of(std::span<const ConstArray> inputs, bool with_data) const;
  Ready& ready_for(const Inputs& inputs);
  std::vector<Shape> output_shapes(const Ready& ready, int64_t images) const;
  void learn(const ConstArray& input, const Array& output);
  void run_ready(Ready& ready, const Inputs& inputs, std::span<const Array> outputs) const;
  void run_on_device(Ready& ready, const Inputs& inputs, std::span<const Array> outputs, void* stream) const;

  SessionOptions options_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<const Model> shared_;
  EngineOptions engine_options_;
  std::vector<Value> inputs_, outputs_;
  int forks_;                 ///< of the process and those before it, when the session was opened
  mutable std::mutex mutex_;  ///< of what follows
  std::list<Ready> ready_;    ///< the latest used first
  std::unique_ptr<Batcher> batcher_;
};

/// "[{"name": ..., "op": ..., "kernel": ..., "flops": ..., "seconds": ...}, ...]"
std::string to_json(const std::vector<Session::Step>& steps);

}  // namespace convlab
