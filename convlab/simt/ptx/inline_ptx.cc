// Executes asm statements with PTX.

#include "convlab/simt/ptx/inline_ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

#include "convlab/simt/ptx/ptx_run.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::ptx {
namespace {

using internal::HostScope;
using internal::Worker;

/// Returns the statement's program, which the first thread that gets here parses.
const Program& program_of(Place& place) {
  if (const Program* const known = place.program.load(std::memory_order_acquire)) return *known;
  const HostScope host;
  static std::mutex mutex;
  static std::deque<Program> programs;  // kept: a place may be of a library that is unloaded while others run
  const std::scoped_lock lock(mutex);
  if (const Program* const known = place.program.load(std::memory_order_acquire)) return *known;
  programs.push_back(parse(place.text, std::vector<std::string_view>(place.names, place.names + place.operands)));
  place.program.store(&programs.back(), std::memory_order_release);
  return programs.back();
}

}  // namespace

void fail(const Run& run, std::string&& why) {
  Worker& worker = *internal::active_worker;
  const HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::processor;
  fault.location = run.where;
  fault.headline = "inline PTX that simt cannot execute";
  fault.detail = std::move(why);
  worker.fail(std::move(fault));
}

void fail_unsupported(const Run& run, const Instruction& i) {
  fail(run, fmt::format("simt does not know this form of {}: {}", i.row->name, i.text));
}

void execute(Place& place, uint64_t* values, Where where) noexcept {
  if (internal::active_worker == nullptr) {
    std::fprintf(stderr, "inline PTX can only run in a kernel: %s\n", place.text);
    std::abort();
  }
  uint64_t registers[kMostRegisters];
  Run run{.registers = registers, .where = where, .code = __builtin_return_address(0)};
  const Program& program = program_of(place);
  if (!program.error.empty()) fail(run, std::string(program.error));
  std::copy_n(values, place.operands, registers);
  std::fill(registers + place.operands, registers + program.registers, 0);
  while (run.next < program.instructions.size()) {
    const Instruction& instruction = program.instructions[run.next++];
    const bool runs =
        instruction.guard == Instruction::kAlways || (registers[instruction.guard] != 0) != instruction.guard_negated;
    if (runs) instruction.row->execute(run, instruction);
  }
  std::copy_n(registers, place.operands, values);
}

void branch(Run& run, const Instruction& i) {
  Worker& worker = *internal::active_worker;
  if (i.target < run.next) worker.fail_if_stuck(run.code, run.where);
  run.next = i.target;
}

void trap(Run& run, const Instruction&) { simt::trap(run.where); }

void exit_thread(Run&, const Instruction&) {
  Worker& worker = *internal::active_worker;
  const HostScope host;
  worker.finish();
}

void no_effect(Run&, const Instruction&) {}

}  // namespace convlab::simt::ptx
