#pragma once

#include <filesystem>

#include "convlab/judge/judgement.h"

/// Replays launch lists on a GPU, in a process that runs no host code of a submission. It uses only the cubin of the
/// submission's kernels, and a list.
namespace convlab::judge {

/// Returns the compute capability of a GPU, 90 for 9.0. Throws Error(unavailable) if there is no such GPU.
int compute_capability_of(int gpu);

/// Handles a request, a JSON file, and writes the answer to the file that the request names as "answer". "gpu" is the
/// GPU's number, "cubin" a path, and "zeros" whether y is filled with zeros before a run instead of NaN.
///
///   {"work": "verify", "runs": [{"list", "problem", "inputs", "output"}]}
///       replays each list after reloading the module. File `inputs` holds x and then w; y is written to `output`.
///       The answer is {"done": N}, or {"done": number of runs before the fault, "fault": CUDA's message}.
///   {"work": "time", "layers": [{"list", "problem", "reference"}], "math", "reference_cubin", "key", "limit_s"}
///       samples all layers, interleaved with the reference, each with fresh data at other addresses, until the ratio
///       is known precisely enough. The answer is {"samples": [{"seconds": [...], "reference": [...]}], "least_s":
///       [...], "bound_s": [...]}, with the physical lower bound and the direct convolution's bound per layer, or
///       {"layer": I, "fault"} or {"layer": I, "wrong": description}.
///
/// Throws Error(unavailable) if the GPU cannot do it.
void replay_on_gpu(const std::filesystem::path& request);

}  // namespace convlab::judge
