#pragma once

/// The interface that convlab calls in a compiled kernel file that does not register itself: plain functions whose
/// addresses the library exports as `convlab_kernel_file`. Every compiler for kernel files reads this header, so it is
/// C++14 without includes.
namespace convlab {

/// A convolution without padding, dilation or groups. Computes y[images, maps, P, Q] from x[images, channels, height,
/// width] and w[maps, channels, filter_h, filter_w], all fp32; `maps` are output channels, P = (height - filter_h) /
/// stride + 1, and Q = (width - filter_w) / stride + 1.
struct FileProblem {
  int images, channels, height, width, maps, filter_h, filter_w, stride;
};

struct FileEntry {
  /// Runs the whole convolution in one call. Arrays are in device memory, or in host memory if `on_host`.
  void (*forward)(float* y, float* x, float* w, const FileProblem& problem);
  bool on_host;
  /// Or three phases: host-to-device copies, the convolution, and device-to-host copies.
  void (*prolog)(float* y, float* x, float* w, float** device_y, float** device_x, float** device_w,
                 const FileProblem& problem);
  void (*call)(float* device_y, float* device_x, float* device_w, const FileProblem& problem);
  void (*epilog)(float* y, float* device_y, float* device_x, float* device_w, const FileProblem& problem);
  /// Waits for all device work of the file. Returns the device's error message, or a null pointer.
  const char* (*finish)();
  /// Unregisters this host array from the device if the file has registered it. Many files rely on process exit for
  /// that, but convlab frees and reuses arrays.
  void (*release)(float* array);
};

}  // namespace convlab
