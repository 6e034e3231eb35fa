#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/kernel_file/translation.h"

namespace convlab {

/// What a compiler made of a file: each instruction that stands in it counts once, however often it runs.
struct MachineCode {
  /// Of a GPU: instructions, global, shared and constant loads, stores, atomics, multiply-adds, integer multiply-adds,
  /// divisions of integers, spills (loads and stores of what registers did not hold); and registers, the most of one
  /// kernel. Of a CPU: instructions, those on vectors, memory operands, multiply-adds and divisions of integers.
  std::vector<std::pair<std::string, int64_t>> counts;
  std::string fingerprint;  ///< the same where the instructions are, whatever the functions' names

  bool operator==(const MachineCode&) const = default;
};

/// Error(unavailable) where a program is not there that machine_code_of() runs: cuobjdump and nvdisasm, or objdump.
void require_disassembler(Toolchain toolchain);

/// Of what compile_kernel_file() gave: for nvcc of a cubin or a library. `launched`: of a GPU's the kernels that count,
/// as KernelCounts names them; all where none of them is there. Error(unavailable) where it cannot be read.
MachineCode machine_code_of(const std::filesystem::path& compiled, Toolchain toolchain,
                            const std::vector<std::string>& launched = {});

/// Of the text that `cuobjdump -sass -res-usage` prints.
MachineCode parse_sass(std::string_view text, const std::vector<std::string>& launched = {});

/// Of the text that `objdump -d --no-show-raw-insn --no-addresses` prints on x86-64 and arm64.
MachineCode parse_objdump(std::string_view text);

}  // namespace convlab
