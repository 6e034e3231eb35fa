#pragma once

#include <atomic>

#include "convlab/judge/judgement.h"
#include "convlab/kernel_file/compiler.h"

namespace convlab::judge {

/// Runs compilers in jails, for CompileOptions::runner: they see the system's programs and headers, convlab's, and the
/// file. The folder of what they make is theirs alone. `late` becomes true if one took longer than its limit. All must
/// outlive it.
CompilerRunner jailed_compiler(const KernelSource& source, const JudgeLimits& limits, bool in_jail,
                               std::atomic<bool>& late);

}  // namespace convlab::judge
