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
#include "convlab/model/graph.h"
#include "convlab/session/array.h"
#include "convlab/session/batcher.h"
#include "convlab/session/ready_model.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// Options of a session, with the same values as on the command line.
struct SessionOptions {
  std::string device = "auto";  ///< or "cpu", "cuda", "cuda:1", "simt"
  std::string math = "fp32";    ///< or "tf32", "bf16x2", "bf16", "fp16"
  std::string plan = "fused";   ///< or "layers", "folded"
  int threads = 0;              ///< host threads; 0: all that this process may use

  /// If above 0, calls from several threads are batched, and a call waits at most this long for others: see Batcher.
  std::chrono::microseconds batch_wait{0};
  int64_t batch_images = 64;  ///< the maximum number of images in such a batch
};

/// A model on a device, for inputs of any shapes that the model accepts: the API that programs call. Any thread may use
/// it at any time; runs from several threads are serialized or batched.
///
/// The first run with a new shape prepares the model for it; the last few shapes stay prepared. Packed weights are in
/// memory once for all shapes with the same image size, and for all sessions opened by clone().
class Session {
 public:
  /// `model`: as in load_model(). Throws the errors of load_model(), open_device() and require_math(), and
  /// Error(bad_input) if batch_wait is negative or batch_images is below 1.
  Session(const std::string& model, const SessionOptions& options);

  /// Returns another session of the same model, on any device. Weights that both use in the same form are in memory
  /// once; either may be destroyed first. Runs of the two are not serialized with each other. Throws the errors of
  /// Session(), and Error(unavailable) if is_forked_child().
  Session clone(const SessionOptions& options) const;

  const SessionOptions& options() const { return options_; }

  const DeviceCaps& device() const { return device_->caps(); }

  /// Returns whether this process is a child, created by fork(), of the one that opened the session. Threads and GPU
  /// state stay with the parent: clone(), output_shapes(), run(), plan() and profile() throw Error(unavailable), and
  /// the session must not be destroyed.
  bool is_forked_child() const;

  /// An input or output as the model's file declares it.
  struct Value {
    std::string name;
    ElementType type;
    Shape shape;  ///< -1 for a size that the file leaves open; {} for outputs, whose shapes depend on the inputs
  };
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }

  /// Returns the outputs' shapes for inputs of these shapes and types; does not read their data. Errors as in run().
  std::vector<Shape> output_shapes(std::span<const ConstArray> inputs);

  /// Computes the outputs. Their shapes must be those of output_shapes(), their types those of outputs(). Inputs that
  /// are not all float32 or all uint8 are converted to float32. On a CPU, nothing is copied if the model has one
  /// float32 or uint8 input and one float32 output.
  ///
  /// Alternatively, all arrays may be in the memory of the session's GPU; then inputs and outputs must have types that
  /// need no conversion. With `stream`, a cudaStream_t of that GPU, the run is ordered after all earlier and before all
  /// later work of the stream, and run() may return before it completes. Otherwise run() returns when the outputs are
  /// complete.
  ///
  /// Throws Error(bad_input) if the number of arrays, a shape or a type does not fit the model; outputs are then
  /// unchanged.
  void run(std::span<const ConstArray> inputs, std::span<const Array> outputs, void* stream = nullptr);

  /// One step of a plan: the kernel that computes a part of the model.
  struct Step {
    std::string name, op, kernel;
    double flops = 0;    ///< of convolutions (direct method) and matrix products; 0 for other operators
    double seconds = 0;  ///< set by profile(); 0 in plan()
  };

  /// Returns the steps that compute inputs of these shapes.
  std::vector<Step> plan(std::span<const ConstArray> inputs);

  /// Same as plan(), with measured seconds: the median of `repeat` runs after one warm-up run. Throws Error(bad_input)
  /// if `repeat` is below 1 or the inputs are in GPU memory.
  std::vector<Step> profile(std::span<const ConstArray> inputs, int repeat);

 private:
  /// The model as loaded from its file, and the weights that its engines share. If the model computes with sizes that
  /// its file leaves open, and not linearly in the number of images, the file is read again for each set of input
  /// shapes.
  struct Model {
    Graph graph;  ///< only inputs and outputs if the file is read again
    std::shared_ptr<SharedWeights> weights;
    std::string again;  ///< the file to read again for each set of input shapes; "": not needed

    static std::shared_ptr<const Model> load(const std::string& name);
    Graph graph_for(const std::vector<Shape>& inputs) const;
  };

  Session(std::shared_ptr<const Model> shared, const SessionOptions& options);

  /// The model prepared for one set of input shapes, or for up to that many images of one shape.
  struct Ready {
    std::vector<Shape> shapes;
    ElementType type;
    std::unique_ptr<ReadyModel> model;
    bool any_count = false;  ///< also computes fewer images

    bool serves(const std::vector<Shape>& wanted, ElementType element) const;
  };

  /// Inputs as the model reads them: the caller's arrays, or converted copies.
  struct Inputs {
    std::vector<const void*> data;
    std::vector<Tensor> converted;
    std::vector<Shape> shapes;
    ElementType type;
    bool on_device = false;

    int64_t images() const { return images_of(shapes); }
  };

  const Graph& model() const { return shared_->graph; }
  void require_own_process() const;
  std::unique_lock<std::mutex> turn() const;
  void require_inputs(std::span<const ConstArray> inputs) const;
  void require_on_device(const void* data, const std::string& name) const;
  void require_outputs(std::span<const Array> outputs, const std::vector<Shape>& shapes, bool on_device) const;
  Inputs inputs_of(std::span<const ConstArray> inputs, bool with_data) const;
  Ready& ready_for(const Inputs& inputs);
  void learn(const ConstArray& input, const Array& output);
  void run_ready(Ready& ready, const Inputs& inputs, std::span<const Array> outputs) const;
  void run_on_device(Ready& ready, const Inputs& inputs, std::span<const Array> outputs, void* stream) const;

  SessionOptions options_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<const Model> shared_;
  EngineOptions engine_options_;
  std::vector<Value> inputs_, outputs_;
  int forks_;                 ///< forks() when the session was opened
  mutable std::mutex mutex_;  ///< guards the members below
  std::list<Ready> ready_;    ///< most recently used first
  std::unique_ptr<Batcher> batcher_;
};

/// Returns "[{"name": ..., "op": ..., "kernel": ..., "flops": ..., "seconds": ...}, ...]".
std::string to_json(const std::vector<Session::Step>& steps);

}  // namespace convlab
