#pragma once

// The last header before a kernel file that is compiled over a prime field: from here on, `float` is Field. Standard
// headers that the file may include come first, because they need the real one.

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "convlab/simt/cuda/copies.h"
#include "convlab/simt/cuda/cuda_on_host.h"
#include "convlab/simt/field_element.h"

namespace convlab::simt::cuda {

struct FieldPair {
  Field x, y;
};
struct FieldTriple {
  Field x, y, z;
};
struct alignas(16) FieldQuad {
  Field x, y, z, w;
};
inline FieldPair make_field_pair(Field x, Field y) { return {x, y}; }
inline FieldTriple make_field_triple(Field x, Field y, Field z) { return {x, y, z}; }
inline FieldQuad make_field_quad(Field x, Field y, Field z, Field w) { return {x, y, z, w}; }

inline Field fma(Field a, Field b, Field c) { return a * b + c; }
inline Field fmaf(Field a, Field b, Field c) { return a * b + c; }
inline Field __fmaf_rn(Field a, Field b, Field c) { return a * b + c; }
inline Field __fmul_rn(Field a, Field b) { return a * b; }
inline Field __fadd_rn(Field a, Field b) { return a + b; }
inline Field __fsub_rn(Field a, Field b) { return a - b; }

/// Of numbers that do not depend on inputs, such as extents.
inline double ceil(Field a) { return std::ceil(a.real("rounds a value that depends on the inputs")); }
inline double floor(Field a) { return std::floor(a.real("rounds a value that depends on the inputs")); }
inline double round(Field a) { return std::round(a.real("rounds a value that depends on the inputs")); }
inline double ceilf(Field a) { return ceil(a); }
inline double floorf(Field a) { return floor(a); }

/// Functions that are not polynomials: of numbers that do not depend on inputs only.
#define CONVLAB_FIELD_FUNCTION(name, of_reals) \
  inline Field name(Field a) { return of_reals(a.real("calls " #name "() with a value that depends on the inputs")); }
#define CONVLAB_FIELD_FUNCTIONS(name)     \
  CONVLAB_FIELD_FUNCTION(name, std::name) \
  CONVLAB_FIELD_FUNCTION(name##f, std::name)
CONVLAB_FIELD_FUNCTIONS(sqrt)
CONVLAB_FIELD_FUNCTIONS(exp)
CONVLAB_FIELD_FUNCTIONS(log)
CONVLAB_FIELD_FUNCTIONS(tanh)
CONVLAB_FIELD_FUNCTIONS(sin)
CONVLAB_FIELD_FUNCTIONS(cos)
CONVLAB_FIELD_FUNCTIONS(fabs)
#undef CONVLAB_FIELD_FUNCTIONS
#undef CONVLAB_FIELD_FUNCTION

#define CONVLAB_FIELD_CHOICE(name, sign) \
  inline Field name(Field a, Field b) { return a sign b ? a : b; }
CONVLAB_FIELD_CHOICE(max, >)
CONVLAB_FIELD_CHOICE(min, <)
CONVLAB_FIELD_CHOICE(fmax, >)
CONVLAB_FIELD_CHOICE(fmin, <)
CONVLAB_FIELD_CHOICE(fmaxf, >)
CONVLAB_FIELD_CHOICE(fminf, <)
#undef CONVLAB_FIELD_CHOICE

inline Field atomicAdd(Field* address, Field value, Where where = Where::current()) {
  auto* const bits = reinterpret_cast<unsigned*>(address);
  unsigned old = atomicOr(bits, 0u, where);
  while (true) {
    const unsigned seen = atomicCAS(bits, old, (Field::of_bits(old) + value).bits(), where);
    if (seen == old) return Field::of_bits(old);
    old = seen;
  }
}

inline cudaError_t cudaEventElapsedTime(Field* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  float time = 0;
  const cudaError_t error = cudaEventElapsedTime(&time, begin, end);
  *milliseconds = 0;
  return error;
}

}  // namespace convlab::simt::cuda

#define float ::convlab::simt::Field
#define float2 ::convlab::simt::cuda::FieldPair
#define float3 ::convlab::simt::cuda::FieldTriple
#define float4 ::convlab::simt::cuda::FieldQuad
#define make_float2 ::convlab::simt::cuda::make_field_pair
#define make_float3 ::convlab::simt::cuda::make_field_triple
#define make_float4 ::convlab::simt::cuda::make_field_quad
