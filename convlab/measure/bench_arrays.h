#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/verify/compare.h"

namespace convlab {

/// The arrays of one step on one device, in the step's formats, shared by all kernels that are timed on it, with
/// expected outputs.
class BenchArrays {
 public:
  explicit BenchArrays(Device& device);
  virtual ~BenchArrays();

  Device& device() const { return device_; }
  Stream& stream() const { return *stream_; }
  virtual const Step& step() const = 0;

  /// Returns the arrays at their current addresses; see renew().
  virtual Args arguments() const = 0;

  /// Moves to the next of three addresses. Fills the inputs that are not constant with values that differ from those of
  /// the previous launch and from the last ones at this address, and the output with uninitialized markers. A kernel
  /// cannot profit from state of an earlier launch, and outputs that it never writes are found.
  virtual void renew() = 0;

  /// Compares all elements of the output with the expected output of the inputs.
  virtual Verdict check(const KernelInfo& kernel) = 0;

  /// Returns what is wrong, for a verdict that did not pass.
  virtual std::string describe_wrong(const Verdict& verdict) const = 0;

  /// Fills memory larger than any cache, which evicts all arrays.
  void flush_caches();

 protected:
  /// Fills an output with uninitialized markers, and waits.
  void mark_uninitialized(const Buffer& output);

  static constexpr size_t kPlaces = 3;

  /// Distance between the addresses of an array: a whole page, so that the alignment within a page stays the same.
  static constexpr size_t kShift = 4096;

 private:
  Device& device_;
  std::unique_ptr<Stream> stream_;
  Buffer flush_;
};

/// Returns a device copy of the tensor.
Buffer uploaded(Device& device, Stream& stream, const Tensor& tensor);

}  // namespace convlab
