// The one file that knows that simt may be missing from a build.

#include "convlab/base/error.h"
#include "convlab/device/simt.h"

namespace convlab {

std::unique_ptr<Device> open_simt(const DeviceOptions&) { throw unavailable("--device simt: {}", how_to_get_simt()); }

bool simt_present() { return false; }
std::string_view how_to_get_simt() {
  return "this build does not have what executes CUDA kernels on the CPU; in convlab's folder, "
         "'./run.sh --device simt -n 1' builds it, too";
}
void narrow_simt_memory(const void*, size_t, std::string_view, bool) {}
void set_simt_stuck_after(double) {}
std::vector<SimtFault> simt_faults() { return {}; }
void make_simt_lenient() {}
int64_t simt_blocks_begun() { return 0; }
std::vector<SimtFault> take_simt_notes() { return {}; }
std::string simt_writer(const void*) { return ""; }
void start_simt_counting() {}
std::vector<KernelCounts> stop_simt_counting() { return {}; }
int64_t simt_filled_bytes() { return 0; }
std::string take_simt_complaint() { return {}; }
std::string take_simt_leaks() { return {}; }

}  // namespace convlab
