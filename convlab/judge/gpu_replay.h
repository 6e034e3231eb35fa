#pragma once

#include <filesystem>

#include "convlab/judge/judgement.h"

/// Lists carried out on a GPU, by a process in which no line of a submission's host code runs: of a submission it takes
/// the machine code of its kernels, and a list.
namespace convlab::judge {

/// The compute capability of the GPU with this number, 90 for 9.0. Error(unavailable) where there is none.
int compute_capability_of(int gpu);

/// Does what a request, a file of JSON, asks for, and writes an answer to the file that it names as "answer". "gpu" is
/// the GPU's number, "cubin" a file of machine code, and "zeros" whether y holds zeros before, and not poison.
///
///   {"work": "verify", "runs": [{"list", "problem", "inputs", "output"}]}
///       carries each list out, after the module has been loaded anew; `inputs` holds x and then w, `output` gets y.
///       The answer is {"done": N}, or {"done": how many came before it, "fault": what CUDA says}.
///   {"work": "time", "layers": [{"list", "problem", "reference"}], "math", "reference_cubin", "seed", "limit_s"}
///       samples all layers in turns with the reference, each with fresh data in other places, until the ratio is known
///       well enough. The answer is {"samples": [{"seconds": [...], "reference": [...]}], "least_s": [...],
///       "bound_s": [...]}, of each layer the least time that is possible and what direct convolution takes at best, or
///       {"layer": I, "fault"} or {"layer": I, "wrong": in words}.
///
/// Error(unavailable) where the GPU cannot do it.
void replay_on_gpu(const std::filesystem::path& request);

}  // namespace convlab::judge
