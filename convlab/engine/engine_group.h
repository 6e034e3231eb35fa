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

/// Returns how many of a run's images each device computes, in the order of the images: equal shares in multiples of
/// 16, with the remaining images in the last share; or equal shares if there are fewer than 16 images per device. No
/// share is empty: with fewer images than devices, there are fewer shares.
std::vector<int64_t> shares_of(int64_t images, size_t devices);

/// The engines of several devices, each with a contiguous share of a run's images and its own weights, and one thread
/// per device that lives as long as the group. The results are those of one engine for all images, provided that
/// kernels compute the same for any number of images. With one device, it is just that device's engine. Any thread may
/// use a group, but only one at a time.
///
/// An error on one device is thrown after all devices have finished. If several fail, the first error is thrown. The
/// message begins with the device's name, except for Error(bad_input), which any device would throw.
class EngineGroup {
 public:
  /// As Engine(), for one or more devices; the first size of `input` counts the images of all devices. All engines get
  /// the options (options.batch is per device), but only the first gets the observer. Throws Error(bad_input) if there
  /// are several images and devices, but the model does not compute each image independently. With fewer images than
  /// devices, the last devices stay unused.
  EngineGroup(Graph graph, const Shape& input, const std::vector<std::unique_ptr<Device>>& devices,
              const EngineOptions& options);

  /// The first device's engine, whose plan and shapes represent the group. Running it uses that device only.
  Engine& first() { return *members_.front().engine; }

  /// Returns the images that each device computes in a run of n.
  std::vector<int64_t> shares(int64_t n) const { return shares_of(n, members_.size()); }

  /// Same as Engine::run(). Each device copies directly from and to page-locked arrays. Then calls finish(first, count)
  /// for each device's images, on that device's thread.
  void run(const void* images, int64_t n, float* output, const std::function<void(int64_t, int64_t)>& finish = {});

  /// Same as Engine::run_timed(). Returns the seconds of each step on the slowest device. Throws Error(unavailable) if
  /// the devices' plans have different steps.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// Same as Engine::time_on_device(), for the slowest device.
  double time_on_device(const void* images, int64_t n, float* output);

 private:
  struct Member {
    std::string name;  ///< the device's
    std::unique_ptr<Engine> engine;
  };

  /// The range of a run's images that a device computes.
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
