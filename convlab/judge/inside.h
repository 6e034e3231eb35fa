#pragma once

#include <string>

#include "convlab/judge/judgement.h"

/// What the program convlab-jail does inside of jails, beside somebody else's code. Requests come from the judge and are
/// right; answers may come from anybody who has taken the process over.
namespace convlab::judge {

/// Records what a file asks of the device for one problem. {"source", "library", "problem", "seed", "answer"}: paths, but for
/// problem and seed. The answer is {"list": see to_json(LaunchList)}, {"refused": why no list can say it}, {"misfit": why the
/// kernel does not take the problem} or {"threw": what the file throws}.
void record_inside(const Json& request);

/// Carries a list out on simt, in a process that calls nothing of the file but its kernels. {"library", "list", "problem",
/// "lenient", "zeros", "counted", "threads", "inputs", "output", "answer"}: `inputs` holds x and then w, `output` gets y,
/// which was filled with zeros or poison. The answer is {"counts": [...]}, {"fault": kind, "text"} or {"threw"}.
void replay_inside(const Json& request);

/// Calls a kernel of the CPU again and again. {"source", "library", "problem", "processes", "answer"}. It waits for a byte
/// from the file with number 3, computes y in the memory of file 5, which holds x, w and y, and writes a byte to 4. The answer
/// is {"misfit"} or {"threw"} where it does not come to that.
void run_inside(const Json& request);

/// The libraries of this program, and those that files may want, one a line: what a jail must show.
std::string libraries_of_program();

}  // namespace convlab::judge
