#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/kernel_file/translation.h"

namespace convlab {

/// Static instruction counts of a compiled file: each instruction counts once, however often it executes.
struct MachineCode {
  /// On a GPU: instructions, global, shared and constant loads, stores, atomics, multiply-adds, integer multiply-adds,
  /// integer divisions, spills (local loads and stores), and registers (the maximum over kernels). On a CPU:
  /// instructions, vector instructions, memory operands, multiply-adds and integer divisions.
  std::vector<std::pair<std::string, int64_t>> counts;
  std::string fingerprint;  ///< hash of the instructions; independent of function names and order

  bool operator==(const MachineCode&) const = default;
};

/// Throws Error(unavailable) if a program that machine_code_of() runs is missing: cuobjdump and nvdisasm, or objdump.
void require_disassembler(Toolchain toolchain);

/// Reads the output of compile_kernel_file(); for nvcc a cubin or a library. On a GPU, counts only the kernels in
/// `launched`, named as in KernelCounts, or all kernels if none of those is found. Throws Error(unavailable) if the
/// disassembler fails.
MachineCode machine_code_of(const std::filesystem::path& compiled, Toolchain toolchain,
                            const std::vector<std::string>& launched = {});

/// Parses the output of `cuobjdump -sass -res-usage`.
MachineCode parse_sass(std::string_view text, const std::vector<std::string>& launched = {});

/// Parses the output of `objdump -d --no-show-raw-insn --no-addresses` for x86-64 and arm64.
MachineCode parse_objdump(std::string_view text);

}  // namespace convlab
