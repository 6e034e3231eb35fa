#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// The devices whose properties simt can report. The choice changes what programs read and the limit of shared memory
/// per block. It does not change how kernels run.
namespace convlab::simt {

struct DeviceModel {
  std::string_view key;  ///< of --as: "h100"
  const char* name;      ///< as cudaGetDeviceProperties() returns it: "NVIDIA H100 80GB HBM3"
  int major, minor;      ///< compute capability
  int multiprocessors;   ///< enabled
  int clock_mhz;         ///< highest
  int memory_clock_mhz;  ///< half the data rate
  int memory_bits;       ///< width of the memory bus
  int memory_mib;        ///< 0: what this process may use
  int l2_kib;
  int shared_kib;        ///< of a multiprocessor
  int block_shared_kib;  ///< highest limit per block that cudaFuncSetAttribute() accepts
  int threads, blocks;   ///< resident on a multiprocessor
  int single_to_double;  ///< ratio of fp32 to fp64 rates
  int pci_device;        ///< PCI device and vendor
};

/// Returns the model of this key; nullptr if there is none.
const DeviceModel* find_device_model(std::string_view key);

/// Returns all keys: "a10, a40, ...".
std::string device_model_keys();

/// Returns the model that the environment variable CONVLAB_AS names; simt's own if it is not set or unknown.
const DeviceModel& played_device() noexcept;

/// Returns the memory of the played device in bytes, or the limit if that is less.
size_t device_memory_bytes() noexcept;
void limit_device_memory(size_t bytes) noexcept;

}  // namespace convlab::simt
