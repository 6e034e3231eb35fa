// Chooses the network of commands that run a kernel file.

#include "app/default_model.h"

#include "convlab/kernel_file/source.h"

namespace convlab::app {

std::string default_model(const std::vector<std::string>& kernels) {
  for (const std::string& each : kernels) {
    if (!names_kernel_file(each)) continue;
    const std::string semester = read_kernel_source(each).semester;
    if (!semester.empty()) return semester == "fa17" ? "fa17-high" : semester;
  }
  return "fa19";
}

}  // namespace convlab::app
