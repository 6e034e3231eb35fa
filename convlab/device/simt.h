#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// CUDA's execution model on the host (convlab/simt): slow, and strict. Blocks run on options.threads host threads.
/// Error(unavailable) in a build without it.
std::unique_ptr<Device> open_simt(const DeviceOptions& options);

/// Whether this build can open it.
bool simt_present();

/// How to get a build that can; "" where this one is.
std::string_view how_to_get_simt();

// What else simt can be told. No effect in a build without it.

/// From now on kernels may touch only these bytes of a buffer of simt's: an array between guards. Faults say `name`.
void narrow_simt_memory(const void* memory, size_t bytes, std::string_view name, bool writable);

/// How long a kernel may run without progress before that is a fault: see simt::set_stuck_after().
void set_simt_stuck_after(double seconds);

/// From now on simt goes on, as a GPU does, where a kernel does what is doubtful, and notes it: see simt::Strictness.
void make_simt_lenient();

/// Changes as long as kernels make progress: see simt::blocks_begun().
int64_t simt_blocks_begun();

/// What a kernel did wrong, in words: see simt::Fault.
struct SimtFault {
  std::string kind, kernel, block, thread, where, array, text;  ///< "race on shared memory", "tile<16>", "(3,0,1)", ...
};

/// The faults of the exception that is being handled; none if it is another.
std::vector<SimtFault> simt_faults();

/// What was noted since the last question.
std::vector<SimtFault> take_simt_notes();

/// The first call of CUDA's run-time interface that failed since the last question: see simt::take_runtime_complaint().
std::string take_simt_complaint();

/// What kernel files did not give back of the device's memory: see simt::take_runtime_leaks().
std::string take_simt_leaks();

/// Who wrote the float at this address of the host, which came from simt's memory: "thread (3,1,0) of block (0,2,0) of
/// convolve wrote it, at conv.cu:31", or "no thread wrote it"; "" if we do not know.
std::string simt_writer(const void* host);

/// Between the two, launches of kernels that are compiled for it are counted: see simt::start_counting().
void start_simt_counting();
std::vector<KernelCounts> stop_simt_counting();

/// Bytes that were filled between the two: see simt::filled_bytes().
int64_t simt_filled_bytes();

}  // namespace convlab
