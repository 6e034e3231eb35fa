#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/thread_pool.h"
#include "convlab/engine/engine.h"

namespace convlab {

/// Returns how many of a run's images each device computes, in the order of the images: equal shares in multiples of
/// 16, with the remaining images in the last share; or equal shares if there are fewer than 16 images per device. No
/// share is empty: with fewer images than devices, there are fewer shares.
std::vector<int64_t> shares_of(int64_t images, size_t devices);

/// A model that is ready to run inputs of given shapes on one or several devices. It is what Session keeps for each
/// shape, and what a program uses that loads and changes graphs, opens devices or measures times itself.
///
/// Each device has its own engine with a contiguous share of a run's images, its own weights, and a thread that lives
/// as long as the model. The results are those of one device for all images, provided that kernels compute the same for
/// any number of images. Any thread may use the model, but only one at a time.
///
/// An error on one device is thrown after all devices have finished. If several fail, the first error is thrown. The
/// message begins with the device's name if there are several, except for Error(bad_input), which any would throw.
class ReadyModel {
 public:
  /// As Engine(), for one or more devices; the first size of the first input counts the images of all devices. All
  /// engines get the options (options.batch is per device), but only the first gets the observer. Throws
  /// Error(bad_input) if there are several images and devices, but the model does not compute each image independently.
  /// With fewer images than devices, the last devices stay unused.
  ReadyModel(Graph graph, InputShapes inputs, std::span<const std::unique_ptr<Device>> devices,
             const EngineOptions& options);

  /// Same, for one device.
  ReadyModel(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options);

  // What the first device's engine returns represents all; see Engine.
  const Plan& plan() const { return first().plan(); }
  int64_t batch() const { return first().batch(); }
  std::vector<int64_t> batches(int64_t n) const { return first().batches(n); }
  bool splits() const { return first().splits(); }
  const std::vector<Folding>& foldings() const { return first().foldings(); }
  Shape scores_shape(int64_t n) const { return first().scores_shape(n); }
  std::vector<Shape> output_shapes(int64_t n) const { return first().output_shapes(n); }
  void observe(StageObserver* observer) { first().observe(observer); }
  const DeviceCaps& caps() const { return members_.front().device->caps(); }

  /// Returns the images that each device computes in a run of n.
  std::vector<int64_t> shares(int64_t n) const { return shares_of(n, members_.size()); }

  /// Same as Engine::run(). Each device copies directly from and to page-locked arrays. Then calls finish(first, count)
  /// for each device's images, on that device's thread.
  void run(InputArrays inputs, int64_t n, OutputArrays outputs,
           const std::function<void(int64_t, int64_t)>& finish = {});

  /// Same as Engine::run_timed(). Returns the seconds of each step on the slowest device. Throws Error(unavailable) if
  /// the devices' plans have different steps.
  std::vector<double> run_timed(InputArrays inputs, int64_t n, OutputArrays outputs);

  /// Same as Engine::time_on_device(), for the slowest device.
  double time_on_device(InputArrays inputs, int64_t n, OutputArrays outputs);

  /// The outputs' types in run(tensors): integers as the model declares them, otherwise float32.
  const std::vector<ElementType>& output_types() const { return output_types_; }

  // For a model on one device: as in Engine, but run() also converts outputs to output_types().
  std::vector<Tensor> run(std::span<const Tensor> inputs);
  void run_in_memory(InputArrays inputs, int64_t n, OutputArrays outputs) { first().run_in_memory(inputs, n, outputs); }
  Stream& stream() { return first().stream(); }

  /// Returns float32 arrays for the outputs of n images.
  std::vector<Tensor> make_outputs(int64_t n) const;

  /// Page-locks host memory for transfers to and from the devices; see Device.
  Buffer page_lock(const void* memory, size_t bytes) const;

 private:
  ReadyModel(Graph graph, InputShapes inputs, const std::vector<Device*>& devices, const EngineOptions& options);

  struct Member {
    Device* device;
    std::unique_ptr<Engine> engine;
  };

  /// The range of a run's images that a device computes.
  struct Share {
    int64_t first, count;
  };

  Engine& first() { return *members_.front().engine; }
  const Engine& first() const { return *members_.front().engine; }
  void on_each(size_t count, const std::function<void(size_t)>& work);
  template <class Work>
  void for_each_share(InputArrays inputs, int64_t n, OutputArrays outputs, Work work);

  std::vector<ElementType> output_types_;
  std::vector<Member> members_;
  ThreadPool threads_;
};

}  // namespace convlab
