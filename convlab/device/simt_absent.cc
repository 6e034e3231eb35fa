// Replaces simt.cc in a build without simt.

#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/device/simt_launches.h"

namespace convlab {

std::unique_ptr<Device> open_simt(const DeviceOptions&) { throw unavailable("device simt: {}", how_to_get_simt()); }

bool simt_present() { return false; }
std::string_view how_to_get_simt() {
  return "this build does not include simt, which executes CUDA kernels on the CPU; build it with './run.sh --device "
         "simt -n 1' in convlab's folder";
}
void narrow_simt_memory(const void*, size_t, std::string_view, bool) {}
std::map<std::string, int> take_simt_large_blocks() { return {}; }
std::vector<SimtLaunches> take_simt_launches() { return {}; }
void end_simt_launches() {}
std::string simt_place_in(const std::string&) { return {}; }
void set_simt_array_shapes(const std::vector<SimtArrayShape>&) {}
void set_simt_stuck_after(double) {}
std::vector<Finding> simt_faults() { return {}; }
void set_simt_field(SimtField) {}
void set_simt_strictness(SimtStrictness) {}
int64_t simt_blocks_begun() { return 0; }
void check_simt_host_code() {}
std::vector<Finding> take_simt_notes() { return {}; }
std::optional<Label> simt_writer(const void*) { return std::nullopt; }
void start_simt_counting() {}
std::vector<KernelCounts> stop_simt_counting() { return {}; }
int64_t simt_filled_bytes() { return 0; }
std::optional<Finding> take_simt_failed_call() { return {}; }
void on_simt_failed_call(std::function<void(const Finding&)>) {}
SimtHostArray::SimtHostArray(const void*, size_t) : array_(nullptr) {}
SimtHostArray::~SimtHostArray() = default;
bool came_from_simt(const void*) { return false; }
std::string take_simt_leaks() { return {}; }
std::string simt_refusal(const void*) { return {}; }

}  // namespace convlab
