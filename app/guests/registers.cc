// Finds out how many registers kernels need, and whether a GPU has enough of them.

#include "app/guests/registers.h"

#include <fmt/format.h>

#include <map>

#include "app/guests/guest_kernels.h"
#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernel_file/tokens.h"
#include "convlab/warps/trace.h"

namespace convlab::app {
namespace {

std::map<std::string, int> asked(const std::string& kernel, int compute_capability) {
  static bool noted = false;
  try {
    return registers_of(read_kernel_source(path_of_kernel(kernel)), compute_capability);
  } catch (const Error& error) {
    const std::string reason = error.what();
    if (!noted) note("register counts are unknown, so occupancy ignores them: {}", reason.substr(0, reason.find('\n')));
    noted = true;
    return {};
  }
}

/// Registers of a multiprocessor; they are allocated per warp, in steps of 8 per thread.
constexpr int kRegisters = 65536, kRegisterStep = 8;

int whole_warps(int threads) { return (threads + kLanes - 1) / kLanes * kLanes; }

/// Whether the file declares the kernel with __launch_bounds__, the number of threads per block.
bool has_launch_bounds(const std::vector<Token>& tokens, std::string_view kernel) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("__launch_bounds__") || !tokens[i + 1].is("(")) continue;
    size_t at = closing_bracket(tokens, i + 1);
    while (at < tokens.size() && !tokens[at].is("(") && !tokens[at].is(kernel)) ++at;
    if (at < tokens.size() && tokens[at].is(kernel)) return true;
  }
  return false;
}

}  // namespace

std::string register_note(const KernelSource& source, const std::map<std::string, int>& threads) {
  constexpr int kCapability = 90;
  const std::vector<Token> tokens = tokens_of(source.text);
  std::map<std::string, int> unbounded = threads;
  std::erase_if(unbounded, [&](const auto& each) {
    return has_launch_bounds(tokens, std::string_view(each.first).substr(0, each.first.find('<')));
  });
  if (unbounded.empty()) return "";
  std::map<std::string, int> registers;
  if (!found_tool("nvcc").empty()) {
    try {
      registers = registers_of(source, kCapability);
    } catch (const Error&) {  // then they are unknown, as without nvcc
    }
  }
  for (const auto& [kernel, count] : unbounded) {
    const int most = kRegisters / whole_warps(count) / kRegisterStep * kRegisterStep;
    const auto found = registers.find(kernel);
    if (found == registers.end()) {
      return fmt::format(
          "{} is launched with {} threads per block without __launch_bounds__; the launch fails on a GPU if the "
          "compiler "
          "uses more than {} registers per thread",
          kernel, count, most);
    }
    if (found->second <= most) continue;
    return fmt::format(
        "{} needs {} registers x {} threads > {}: this launch fails on a GPU (too many resources requested for launch; "
        "compiled with nvcc for compute capability 9.0). Declare it __launch_bounds__({})",
        kernel, found->second, count, kRegisters, count);
  }
  return "";
}

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
