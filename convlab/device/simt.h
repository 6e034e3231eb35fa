#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/simt/failed_call.h"
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

/// An array of floats with four dimensions: see simt::ArrayShape.
struct SimtArrayShape {
  std::string name;
  std::array<std::string, 4> axes;
  std::array<int64_t, 4> extents;
};

/// What faults call the elements of arrays: see simt::set_array_shapes().
void set_simt_array_shapes(const std::vector<SimtArrayShape>& shapes);

/// How long a kernel may run without progress before that is a fault: see simt::set_stuck_after().
void set_simt_stuck_after(double seconds);

/// Ends running launches as if they were stuck: see simt::end_launches().
void end_simt_launches();

/// Where this thread is in a library's code: see simt::place_in_library().
std::string simt_place_in(const std::string& library);

/// From now on simt goes on, as a GPU does, where a kernel does what is doubtful, and notes it: see simt::Strictness.
enum class SimtStrictness : uint8_t { strict, usual, lenient };
void set_simt_strictness(SimtStrictness strictness);

/// Changes as long as kernels make progress: see simt::blocks_begun().
int64_t simt_blocks_begun();

/// The kind of a kernel that makes no progress, and of stores that race and all store the same value.
inline constexpr std::string_view kNoProgress = "no progress", kRedundantWrite = "redundant write";

/// The faults of the exception that is being handled; none if it is another.
std::vector<Finding> simt_faults();

/// Error(wrong_result), with faults, if host code of kernel files has touched the device's memory since the last
/// question: see simt::throw_host_faults().
void check_simt_host_code();

/// What was noted since the last question.
std::vector<Finding> take_simt_notes();

/// Kinds of findings in the host's code: see simt::FailedCall.
using simt::kBrokenHostArray;
using simt::kFailedCall;
using simt::kHarmlessCall;
using simt::kRefusedLaunch;

/// The first launch since the last question that a device refuses, or call of CUDA's run-time interface that failed;
/// otherwise the first call that is not as it should be, but harmless.
std::optional<Finding> take_simt_failed_call();

/// From now on `listener` is called at once with each of them that is not harmless.
void on_simt_failed_call(std::function<void(const Finding&)> listener);

/// An array of the host that a kernel file is given, while the value lives: simt knows its end.
class SimtHostArray {
 public:
  SimtHostArray(const void* array, size_t bytes);
  ~SimtHostArray();
  SimtHostArray(const SimtHostArray&) = delete;
  SimtHostArray& operator=(const SimtHostArray&) = delete;

 private:
  const void* array_;
};

/// Why a GPU's compiler would refuse a kernel of the loaded library that holds the address; "" if it would not.
std::string simt_refusal(const void* in_library);

/// What kernel files did not give back of the device's memory: see simt::take_runtime_leaks().
std::string take_simt_leaks();

/// Whether the bytes at this address of the host came from simt's memory, as far as we know.
bool came_from_simt(const void* host);

/// Who wrote the float at this address of the host, which came from simt's memory: a label "thread (3,1,0) of block
/// (0,2,0) writes it" at the store's line, or one with the text kNoWriter; nullopt if that is unknown.
std::optional<Label> simt_writer(const void* host);
inline constexpr std::string_view kNoWriter = "no thread writes it";

/// The launched kernels whose blocks have more than 512 threads, with the number of threads, since the last question:
/// on a GPU their registers may not fit.
std::map<std::string, int> take_simt_large_blocks();

/// Between the two, launches of kernels that are compiled for it are counted: see simt::start_counting().
void start_simt_counting();
std::vector<KernelCounts> stop_simt_counting();

/// Bytes that were filled between the two: see simt::filled_bytes().
int64_t simt_filled_bytes();

}  // namespace convlab
