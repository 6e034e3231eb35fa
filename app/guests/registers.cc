#include "app/guests/registers.h"

#include <map>

#include "app/guests/kernel_files.h"
#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/kernel_file/compiler.h"

namespace convlab::app {
namespace {

std::map<std::string, int> asked(const std::string& kernel, int compute_capability) {
  static bool noted = false;
  try {
    return registers_of(read_kernel_source(path_of_kernel(kernel)), compute_capability);
  } catch (const Error& error) {
    const std::string reason = error.what();
    if (!noted)
      note("registers are not known, so they do not limit occupancy: {}", reason.substr(0, reason.find('\n')));
    noted = true;
    return {};
  }
}

}  // namespace

void add_registers(const std::string& kernel, int compute_capability, std::vector<KernelCounts>& functions) {
  static std::map<std::pair<std::string, int>, std::map<std::string, int>> known;
  const auto [place, is_new] = known.try_emplace({kernel, compute_capability});
  if (is_new) place->second = asked(kernel, compute_capability);
  for (KernelCounts& function : functions) {
    const auto found = place->second.find(function.kernel);
    if (found != place->second.end()) function.registers = found->second;
  }
}

}  // namespace convlab::app
