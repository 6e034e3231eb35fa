#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/thread_pool.h"
#include "convlab/engine/engine.h"

namespace convlab {

/// How many of a run's images each device computes, in the order of the images: even shares of whole sixteens, the last
/// also takes the images beyond these; even shares where there are fewer than sixteen images for each. No share is
/// empty: fewer images than devices give fewer shares.
std::vector<int64_t> shares_of(int64_t images, size_t devices);

/// The engines of several devices, each with a contiguous share of a run's images and its own weights, and one thread
/// per device, which lasts as long as the group. The results are those of one engine for all images, as far as kernels
/// give the same for any number of images. With one device, it is just that device's engine. Any thread may use a
/// group, but only one at a time.
///
/// A failure on one device is thrown when all others have ended their work. Of several failures the first is thrown:
/// the Error of the device's engine, its message beginning with the device's name, unless it is Error(bad_input), which
/// any device would have thrown.
class EngineGroup {
 public:
  /// As Engine(), for one device or more; the first size of `input` counts the images of all. Each engine gets the
  /// options, so that a batch is one device's, but only the first gets the observer. Error(bad_input) where there are
  /// several images and devices, and the model does not compute each image by itself. With fewer images than devices,
  /// the last devices stay unused.
  EngineGroup(Graph graph, const Shape& input, const std::vector<std::unique_ptr<Device>>& devices,
              const EngineOptions& options);

  /// The first device's engine, whose plan and shapes stand for all. To run it alone is to run one device.
  Engine& first() { return *members_.front().engine; }

  /// Images of a run of n, by device.
  std::vector<int64_t> shares(int64_t n) const { return shares_of(n, members_.size()); }

  /// As Engine::run(): page-locked arrays are copied from and to directly. Then calls finish(first, count) for each
  /// device's images, on the device's thread.
  void run(const void* images, int64_t n, float* output, const std::function<void(int64_t, int64_t)>& finish = {});

  /// As Engine::run_timed(); for each step the seconds on the slowest device. Error(unavailable) where devices differ
  /// so much that their plans have other steps.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// As Engine::time_on_device(); of the slowest device.
  double time_on_device(const void* images, int64_t n, float* output);

 private:
  struct Member {
    std::string name;  ///< the device's
    std::unique_ptr<Engine> engine;
  };

  /// Images of a run that a device computes.
  struct Share {
    int64_t first, count;
  };

  void on_each(size_t count, const std::function<void(size_t)>& work);
  template <class Work>
  void for_each_share(const void* images, int64_t n, float* output, Work work);

  std::vector<Member> members_;
  ThreadPool threads_;
};

}  // namespace convlab
