#pragma once

/// What convlab calls in a compiled kernel file that does not register itself: plain functions, whose addresses the
/// library exports as `convlab_kernel_file`. Every compiler for kernel files reads this header: C++14, no includes.
namespace convlab {

/// A convolution without padding and dilation, in one group: y[images, maps, P, Q] of x[images, channels, height,
/// width] and w[maps, channels, filter_h, filter_w], all float32; P = (height - filter_h) / stride + 1, Q alike.
struct FileProblem {
  int images, channels, height, width, maps, filter_h, filter_w, stride;
};

struct FileEntry {
  /// One call, of arrays in the device's memory, or of the host's where `on_host`.
  void (*forward)(float* y, float* x, float* w, const FileProblem& problem);
  bool on_host;
  /// Or three: from the host's arrays to the device's, the convolution, and back.
  void (*prolog)(float* y, float* x, float* w, float** device_y, float** device_x, float** device_w,
                 const FileProblem& problem);
  void (*call)(float* device_y, float* device_x, float* device_w, const FileProblem& problem);
  void (*epilog)(float* y, float* device_y, float* device_x, float* device_w, const FileProblem& problem);
  /// Waits for what the file has given to the device. Returns the device's error in words, or a null pointer.
  const char* (*finish)();
  /// Forgets that the file has registered this array of the host's with the device. Many leave that to the end of the
  /// process, but arrays come and go.
  void (*release)(float* array);
};

}  // namespace convlab
