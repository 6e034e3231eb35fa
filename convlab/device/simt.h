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

/// Opens simt, CUDA's execution model on the host (convlab/simt): slow, with strict checks. Blocks run on
/// options.threads host threads. Throws Error(unavailable) in a build without simt.
std::unique_ptr<Device> open_simt(const DeviceOptions& options);

/// Whether this build includes simt.
bool simt_present();

/// Returns how to get a build with simt; "" if this build has it.
std::string_view how_to_get_simt();

// The functions below configure and query simt. They have no effect in a build without it.

/// Restricts kernels to these bytes of a simt buffer, an array between guard areas. Faults report `name`.
void narrow_simt_memory(const void* memory, size_t bytes, std::string_view name, bool writable);

/// An array of floats with four dimensions: see simt::ArrayShape.
struct SimtArrayShape {
  std::string name;
  std::array<std::string, 4> axes;
  std::array<int64_t, 4> extents;
};

/// Sets the array shapes with which faults describe elements: see simt::set_array_shapes().
void set_simt_array_shapes(const std::vector<SimtArrayShape>& shapes);

/// Sets how long a kernel may run without progress before that is a fault: see simt::set_stuck_after().
void set_simt_stuck_after(double seconds);

/// Ends running launches as if they were stuck: see simt::end_launches().
void end_simt_launches();

/// Returns this thread's source line in a library's code: see simt::place_in_library().
std::string simt_place_in(const std::string& library);

/// How simt reacts to questionable behavior of kernels that a GPU tolerates: with a fault (strict), or, for some or all
/// of it, by continuing with a note. See simt::Strictness.
enum class SimtStrictness : uint8_t { strict, usual, lenient };
void set_simt_strictness(SimtStrictness strictness);

/// What kernels that are compiled over a prime field compute: see simt::FieldMode.
enum class SimtField : uint8_t { values, degrees };
void set_simt_field(SimtField field);

/// Returns a number that changes as long as kernels make progress: see simt::blocks_begun().
int64_t simt_blocks_begun();

/// The kinds of findings for a kernel that makes no progress, for racing stores of the same value, for a barrier that
/// some threads do not reach, and for a __constant__ variable that the host never set.
inline constexpr std::string_view kNoProgress = "no progress", kRedundantWrite = "redundant write",
                                  kDivergentBarrier = "barrier not reached by all threads",
                                  kUnsetConstant = "uninitialized constant memory";

/// Returns the faults of the exception being handled; none if it is not simt's.
std::vector<Finding> simt_faults();

/// Throws Error(wrong_result), with faults, if host code of kernel files has accessed device memory since the last
/// call: see simt::throw_host_faults().
void check_simt_host_code();

/// Returns the findings noted since the last call.
std::vector<Finding> take_simt_notes();

/// Kinds of findings in host code: see simt::FailedCall.
using simt::kBrokenHostArray;
using simt::kFailedCall;
using simt::kHarmlessCall;
using simt::kRefusedLaunch;

/// Returns the first launch since the last call that a device would reject, or the first CUDA runtime call that failed;
/// otherwise the first questionable but harmless call.
std::optional<Finding> take_simt_failed_call();

/// From now on, calls `listener` immediately for each of these that is not harmless.
void on_simt_failed_call(std::function<void(const Finding&)> listener);

/// Registers a host array that is passed to a kernel file, while this object lives, so that simt knows its bounds.
class SimtHostArray {
 public:
  SimtHostArray(const void* array, size_t bytes);
  ~SimtHostArray();
  SimtHostArray(const SimtHostArray&) = delete;
  SimtHostArray& operator=(const SimtHostArray&) = delete;

 private:
  const void* array_;
};

/// Returns why the GPU's compiler (ptxas) would reject a kernel of the loaded library that contains this address; "" if
/// it would not.
std::string simt_refusal(const void* in_library);

/// Reports device memory that kernel files did not free: see simt::take_runtime_leaks().
std::string take_simt_leaks();

/// Whether the bytes at this host address were copied from simt's memory, as far as is known.
bool came_from_simt(const void* host);

/// Returns the thread that wrote the float at this host address before it was copied from simt's memory: a label
/// "thread (3,1,0) of block (0,2,0) writes it" at the store's line, or one with the text kNoWriter; nullopt if that is
/// unknown.
std::optional<Label> simt_writer(const void* host);
inline constexpr std::string_view kNoWriter = "no thread writes it";

/// Returns the kernels launched since the last call with more than 512 threads per block, with the number of threads:
/// on a GPU their registers may not fit.
std::map<std::string, int> take_simt_large_blocks();

/// Start and stop counting operations in launches of kernels that are compiled for it: see simt::start_counting().
void start_simt_counting();
std::vector<KernelCounts> stop_simt_counting();

/// Returns the bytes that were filled between start_simt_counting() and stop_simt_counting(): see simt::filled_bytes().
int64_t simt_filled_bytes();

}  // namespace convlab
