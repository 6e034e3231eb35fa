#pragma once

#include <atomic>

#include "convlab/judge/judgement.h"
#include "convlab/kernel_file/compiler.h"

namespace convlab::judge {

/// Returns a runner for CompileOptions::runner that runs compilers in jails. They see the system's programs and
/// headers, convlab's headers, and the file; only the output folder is writable. Sets `late` if a compiler exceeded its
/// time limit. The arguments must outlive the runner.
CompilerRunner jailed_compiler(const KernelSource& source, const JudgeLimits& limits, bool in_jail,
                               std::atomic<bool>& late);

}  // namespace convlab::judge
