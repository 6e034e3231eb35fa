// Counts the instructions that a compiler produced, from the output of disassemblers.

#include "convlab/kernel_file/instruction_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>

#include "convlab/base/error.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/process.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/kernel_file/host_command.h"

namespace convlab {
namespace {

/// An instruction class: instructions whose names begin with one of these.
struct Sort {
  std::string_view name;
  std::vector<std::string_view> beginnings;

  bool has(std::string_view instruction) const {
    return std::ranges::any_of(beginnings, [&](std::string_view each) { return instruction.starts_with(each); });
  }
};

// NVIDIA's "CUDA Binary Utilities" lists the instructions. An integer division begins with the fp32 reciprocal of its
// divisor, rounded up: I2F.RP.
const std::array kOfGpu{
    Sort{"global loads", {"LDG", "LD."}},
    Sort{"shared loads", {"LDS"}},
    Sort{"constant loads", {"LDC", "ULDC"}},
    Sort{"stores", {"STG", "STS", "ST."}},
    Sort{"atomics", {"ATOM", "RED."}},
    Sort{"multiply-adds", {"FFMA", "HFMA2", "HMMA", "DFMA"}},
    Sort{"integer multiply-adds", {"IMAD", "UIMAD"}},
    Sort{"divisions", {"I2F.RP", "I2F.U32.RP", "I2F.U64.RP", "I2F.S64.RP"}},
    Sort{"spills", {"LDL", "STL"}},
};
const std::array kOfCpu{
    Sort{"multiply-adds", {"vfmadd", "vfnmadd", "vfmsub", "fmadd", "fmla"}},
    Sort{"divisions", {"idiv", "div ", "divl", "divq", "sdiv", "udiv"}},
};

/// A function's instructions, one per line.
struct FunctionCode {
  std::string name;
  std::string instructions = {};
  int64_t registers = 0;
};

/// Counts the instructions of functions. Their order and names do not matter.
MachineCode counted(std::vector<FunctionCode> functions, std::span<const Sort> sorts) {
  std::ranges::sort(functions, {}, &FunctionCode::instructions);
  int64_t instructions = 0;
  std::vector<int64_t> counts(sorts.size());
  Fingerprint fingerprint;
  for (const FunctionCode& function : functions) {
    fingerprint.add(function.instructions);
    for (const std::string& line : split(function.instructions, '\n')) {
      if (line.empty()) continue;
      ++instructions;
      for (size_t i = 0; i < sorts.size(); ++i) counts[i] += sorts[i].has(line);
    }
  }
  MachineCode code{.counts = {{"instructions", instructions}}, .fingerprint = fingerprint.hex()};
  for (size_t i = 0; i < sorts.size(); ++i) code.counts.emplace_back(sorts[i].name, counts[i]);
  return code;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Returns the number after `name` in the line, or 0 if there is none.
int64_t number_after(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = line.substr(at + name.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits == 0 ? 0 : parse_int(rest.substr(0, digits), name, 0, INT64_MAX);
}

/// Returns "LDG.E R2, [R2.64]" for "        /*0040*/              @P0 LDG.E R2, [R2.64] ;    /* 0x... */"; "" for other
/// lines.
std::string_view instruction_of_sass(std::string_view line) {
  line = trimmed(line);
  const size_t comment = line.find("*/"), end = line.find(';');
  if (!line.starts_with("/*") || comment == std::string_view::npos || end == std::string_view::npos) return "";
  return trimmed(line.substr(comment + 2, end - comment - 2));
}

std::string_view without_predicate(std::string_view instruction) {
  return instruction.starts_with('@') ? trimmed(instruction.substr(std::min(instruction.find(' '), instruction.size())))
                                      : instruction;
}

/// Returns whether this instruction only pads a function's end.
bool is_filler(std::string_view instruction) { return instruction == "NOP" || instruction.starts_with("nop"); }

/// Returns whether a function with a mangled name has this short name: "convolve<5>".
bool is_called(const FunctionCode& function, const std::string& name) {
  const std::string whole = demangled(function.name);
  const size_t at = whole.find(name + "(");
  return whole == name || (at != std::string::npos && (at == 0 || whole[at - 1] == ' ' || whole[at - 1] == ':'));
}

/// Runs a program and returns its standard output.
std::string output_of(const std::string& program, std::vector<std::string> arguments) {
  constexpr double kMostSeconds = 120;
  const ProcessRun run = run_process(program, std::move(arguments), kMostSeconds);
  if (run.status == 0) return run.output;
  throw unavailable("{}: {}", program, printable(split(run.complaint + "\n", '\n').front()));
}

}  // namespace

MachineCode parse_sass(std::string_view text, const std::vector<std::string>& launched) {
  std::vector<FunctionCode> functions;
  // cuobjdump prints register counts in a separate table.
  std::map<std::string, int64_t, std::less<>> registers;
  std::string of;
  for (const std::string& line : split(text, '\n')) {
    if (const size_t at = line.find("Function : "); at != std::string::npos) {
      functions.push_back({.name = std::string(trimmed(line.substr(line.find(':') + 1)))});
    } else if (const size_t before = line.find(" Function "); before != std::string::npos && line.ends_with(':')) {
      of = trimmed(line.substr(before + 10, line.size() - before - 11));
    } else if (line.find(" REG:") != std::string::npos) {
      registers[of] = number_after(line, "REG:");
    } else if (!functions.empty()) {
      const std::string_view instruction = without_predicate(instruction_of_sass(line));
      if (!instruction.empty() && !is_filler(instruction))
        functions.back().instructions += fmt::format("{}\n", instruction);
    }
  }
  const auto is_launched = [&](const FunctionCode& each) {
    return std::ranges::any_of(launched, [&](const std::string& name) { return is_called(each, name); });
  };
  if (std::ranges::any_of(functions, is_launched)) std::erase_if(functions, std::not_fn(is_launched));
  int64_t most = 0;
  for (const FunctionCode& each : functions) {
    if (const auto found = registers.find(each.name); found != registers.end()) most = std::max(most, found->second);
  }
  MachineCode code = counted(std::move(functions), kOfGpu);
  code.counts.emplace_back("registers", most);
  return code;
}

MachineCode parse_objdump(std::string_view text) {
  std::vector<FunctionCode> functions;
  int64_t vectors = 0, memory = 0;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with('<')) functions.push_back({.name = line});
    if (functions.empty() || (!line.starts_with('\t') && !line.starts_with(' '))) continue;
    const std::string_view instruction = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (instruction.empty() || is_filler(instruction)) continue;
    // Packed single precision; scalar instructions on the same registers end with ss or sd.
    vectors += instruction.find("ps ") != std::string_view::npos || instruction.find(".4s") != std::string_view::npos;
    memory += instruction.find('(') != std::string_view::npos || instruction.find('[') != std::string_view::npos;
    functions.back().instructions += fmt::format("{}\n", instruction);
  }
  MachineCode code = counted(std::move(functions), kOfCpu);
  code.counts.emplace_back("vector instructions", vectors);
  code.counts.emplace_back("memory operands", memory);
  return code;
}

void require_disassembler(Toolchain toolchain) {
  const bool gpu = toolchain == Toolchain::nvcc;
  for (const char* name : gpu ? std::vector{"cuobjdump", "nvdisasm"} : std::vector{"objdump"}) {
    if (found_tool(name).empty()) {
      throw unavailable("{} not found; install {}", name, gpu ? "the CUDA toolkit" : "binutils");
    }
  }
}

MachineCode machine_code_of(const std::filesystem::path& compiled, Toolchain toolchain,
                            const std::vector<std::string>& launched) {
  require_disassembler(toolchain);
  if (toolchain == Toolchain::nvcc) {
    const std::string tool = found_tool("cuobjdump");
    return parse_sass(output_of(tool, {tool, "-sass", "-res-usage", compiled.string()}), launched);
  }
  return parse_objdump(
      output_of("objdump", {"objdump", "-d", "--no-show-raw-insn", "--no-addresses", compiled.string()}));
}

}  // namespace convlab
