#pragma once

#include <cstddef>
#include <string_view>

#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/product.h"

namespace convlab::simt {

/// Takes note of what a program asks of the device. While one is set nothing is executed and no device memory is there:
/// addresses are names, and a host that touches them crashes. Only allocate() and launch() may throw; what cannot be
/// recorded is remembered otherwise.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// `name` is what the program calls it.
  virtual void* allocate(size_t bytes, std::string_view name) = 0;
  virtual void release(void* memory) = 0;
  /// How many bytes there are from this address to the end of its array; 0 for an address in no array of the device.
  virtual size_t room_at(const void* memory) const = 0;

  virtual void copy_to_device(void* to, const void* from, size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, size_t bytes) = 0;
  virtual void copy_on_device(void* to, const void* from, size_t bytes) = 0;
  virtual void fill(void* memory, int byte, size_t bytes) = 0;
  virtual void copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                              RangeAccess access) = 0;
  virtual void launch(const KernelCall& call, const LaunchShape& shape) = 0;
  /// One that bytes_of() takes.
  virtual void multiply(const Product& product) = 0;

  /// The stream, by its handle, of what is given next; the default stream, a null pointer, is meant wherever nobody
  /// says another one.
  virtual void on_stream(const void* stream) = 0;
  virtual void record_event(const void* event, const void* stream) = 0;
  virtual void wait_for_event(const void* stream, const void* event) = 0;
  /// The host waits for everything that it has given so far.
  virtual void synchronize() = 0;

  /// Something that only executing can do: "a copy from a variable of the device to the host".
  virtual void refuse(std::string_view what) = 0;
};

/// For the whole process, before it gives anything to the device. A null pointer: everything is executed.
void set_recorder(Recorder* recorder);
Recorder* recorder();

}  // namespace convlab::simt
