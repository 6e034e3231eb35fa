// The one file that knows that simt may be missing from a build.

#include "convlab/base/error.h"
#include "convlab/device/simt.h"

namespace convlab {

std::unique_ptr<Device> open_simt(const DeviceOptions&) {
  throw unavailable("--device simt: this build was configured with CONVLAB_SIMT=OFF; use --device cpu");
}

bool simt_present() { return false; }
void narrow_simt_memory(const void*, size_t, std::string_view, bool) {}
void set_simt_stuck_after(double) {}

}  // namespace convlab
