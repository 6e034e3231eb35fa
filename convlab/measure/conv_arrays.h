#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/measure/bench_arrays.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// Returns the data on which convolution kernels are timed: real numbers as in `convlab verify`, with reference
/// outputs. It has as many different images as the reference computes in a second or two, 3 to 64; a batch repeats them
/// in any order.
std::shared_ptr<const OracleLayer> timed_layer(const ConvStep& step, Oracle& oracle);

/// The arrays of a convolution. Each batch index holds an image of the layer, and renew() chooses others. An image's
/// output depends on that image alone, so the layer has the expected value of every output element at the problem's own
/// size, however often the images change.
class ConvArrays final : public BenchArrays {
 public:
  /// `layer` is of this problem with any n. Throws Error(unavailable) if the device lacks memory for the arrays.
  ConvArrays(Device& device, const ConvStep& step, std::shared_ptr<const OracleLayer> layer);

  const Step& step() const override { return step_; }
  Args arguments() const override { return {.step = step_, .inputs = inputs_, .outputs = {&output_, 1}}; }
  void renew() override;
  Verdict check(const KernelInfo& kernel) override;
  std::string describe_wrong(const Verdict& verdict) const override { return describe(verdict); }

 private:
  void upload_images();
  void* x() const;
  void* y() const;
  ThreadPool& threads();

  ConvStep conv_;
  Step step_;
  std::shared_ptr<const OracleLayer> layer_;
  Rng random_{1};
  size_t place_ = 0;                              ///< index of the address in use
  std::array<std::vector<int64_t>, kPlaces> at_;  ///< per address: the layer's image at each batch index
  Buffer x_, w_, bias_, y_;
  std::vector<const void*> inputs_;
  void* output_ = nullptr;
  std::vector<float> staging_;               ///< chunk of the NCHW input or output, copied to or from the device
  Buffer staging_lock_;                      ///< page-locks staging_ for fast copies
  std::unique_ptr<ThreadPool> own_threads_;  ///< for comparing, if the device has no threads
};

}  // namespace convlab
