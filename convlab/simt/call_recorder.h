#pragma once

#include <cstddef>
#include <string_view>

#include "convlab/simt/kernel_call.h"
#include "convlab/simt/ranges.h"

namespace convlab::simt {

struct Product;

/// Records a program's calls to the device. While a recorder is set, nothing is executed and there is no device memory:
/// addresses are only names, and host code that accesses them crashes. Only allocate() and launch() may throw; the
/// other functions store errors for later.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// `name` is the program's name for the array.
  virtual void* allocate(size_t bytes, std::string_view name) = 0;
  virtual void release(void* memory) = 0;
  /// Returns the number of bytes from this address to the end of its array; 0 for an address outside all device arrays.
  virtual size_t room_at(const void* memory) const = 0;

  virtual void copy_to_device(void* to, const void* from, size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, size_t bytes) = 0;
  virtual void copy_on_device(void* to, const void* from, size_t bytes) = 0;
  virtual void fill(void* memory, int byte, size_t bytes) = 0;
  virtual void copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                              RangeAccess access) = 0;
  virtual void launch(const KernelCall& call, const LaunchShape& shape) = 0;
  /// A product that bytes_of() accepts: see product.h.
  virtual void multiply(const Product& product) = 0;

  /// Sets the stream, by its handle, of the calls that follow. The default stream, nullptr, applies if none is set.
  virtual void on_stream(const void* stream) = 0;
  virtual void record_event(const void* event, const void* stream) = 0;
  virtual void wait_for_event(const void* stream, const void* event) = 0;
  /// The host waits for all work submitted so far.
  virtual void synchronize() = 0;

  /// Reports an operation that can only be executed: "a copy from a variable of the device to the host".
  virtual void refuse(std::string_view what) = 0;
};

/// Sets the recorder for the whole process, before it uses the device. nullptr: everything is executed.
void set_recorder(Recorder* recorder);
Recorder* recorder();

}  // namespace convlab::simt
