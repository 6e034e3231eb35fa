#pragma once

/// Replaces <cuda_runtime.h>, <cuda_fp16.h> and <mma.h> when a host compiler reads a kernel's file. Compile the file
/// with the flags of convlab_simt_kernel_options: without them it runs but nothing is checked.

// These declare the overloads for float of abs(), exp() and the like in the global namespace, as nvcc does. C++20 also
// has lerp(), which programs define themselves (helper_math.h of NVIDIA's samples): it stays in std, unless the file
// has included <cmath> before.
#ifdef _GLIBCXX_CMATH
#include <math.h>
#else
#define lerp convlab_lerp
#include <math.h>
#undef lerp
namespace std {
constexpr float lerp(float a, float b, float t) noexcept { return convlab_lerp(a, b, t); }
constexpr double lerp(double a, double b, double t) noexcept { return convlab_lerp(a, b, t); }
}  // namespace std
#endif
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "convlab/simt/async_copy.h"
#include "convlab/simt/cuda/atomics.h"
#include "convlab/simt/cuda/cache_hints.h"
#include "convlab/simt/cuda/conversions.h"
#include "convlab/simt/cuda/cooperative_launch.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/cuda/device_clock.h"
#include "convlab/simt/cuda/dpx.h"
#include "convlab/simt/cuda/function_attributes.h"
#include "convlab/simt/cuda/graph_nodes.h"
#include "convlab/simt/cuda/header_guards.h"
#include "convlab/simt/cuda/integers.h"
#include "convlab/simt/cuda/interprocess.h"
#include "convlab/simt/cuda/keywords.h"
#include "convlab/simt/cuda/launch_calls.h"
#include "convlab/simt/cuda/managed_memory.h"
#include "convlab/simt/cuda/math.h"
#include "convlab/simt/cuda/memory_pools.h"
#include "convlab/simt/cuda/memory_spaces.h"
#include "convlab/simt/cuda/nv_atomics.h"
#include "convlab/simt/cuda/pitched_calls.h"
#include "convlab/simt/cuda/removed_functions.h"
#include "convlab/simt/cuda/resident_blocks.h"
#include "convlab/simt/cuda/rounded.h"
#include "convlab/simt/cuda/runtime.h"
#include "convlab/simt/cuda/special_functions.h"
#include "convlab/simt/cuda/surfaces.h"
#include "convlab/simt/cuda/texture_reads.h"
#include "convlab/simt/cuda/video.h"
#include "convlab/simt/cuda/wmma.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/warp.h"

using namespace convlab::simt::cuda;

namespace nvcuda {
namespace wmma = convlab::simt::wmma;
}

// glibc reserves these names. A GPU's versions are faster and less accurate.
#define __expf(x) (::expf(x))
#define __exp10f(x) (::powf(10.0f, x))
#define __logf(x) (::logf(x))
#define __log2f(x) (::log2f(x))
#define __log10f(x) (::log10f(x))
#define __powf(x, y) (::powf(x, y))
#define __sinf(x) (::sinf(x))
#define __cosf(x) (::cosf(x))
#define __tanf(x) (::tanf(x))
#define __tanhf(x) (::tanhf(x))
#define __sincosf(x, sine, cosine) (::sincosf(x, sine, cosine))
