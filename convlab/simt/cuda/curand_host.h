#pragma once

#include <cstddef>

#include "convlab/simt/cuda/random_distributions.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/where.h"

/// cuRAND's host API. The generators XORWOW, MRG32k3a and Philox4x32-10 produce cuRAND's values in cuRAND's order
/// (compared with the host generators of cuRAND 10): bits and uniform values bit for bit, normal and log-normal ones up
/// to rounding. curandGeneratePoisson has the right distribution and other values. Work is done immediately.
///
/// Not supported: MTGP32, MT19937, Sobol' sequences (curandCreateGenerator returns CURAND_STATUS_TYPE_ERROR) and the
/// ordering CURAND_ORDERING_PSEUDO_SEEDED.
namespace convlab::simt::cuda {

/// The include guard of cuRAND: helper_cuda.h of NVIDIA's samples asks for it.
#define CURAND_H_

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
enum curandRngType_t {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204,
};
enum curandOrdering_t {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201,
};
using curandStatus = curandStatus_t;
using curandRngType = curandRngType_t;
using curandOrdering = curandOrdering_t;

struct curandGenerator_st;
using curandGenerator_t = curandGenerator_st*;

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type,
                                     Where where = Where::current()) noexcept;
/// Writes to host memory.
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type,
                                         Where where = Where::current()) noexcept;
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) noexcept;
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) noexcept;
/// Does not change the position in the sequence; curandSetGeneratorOffset(generator, 0) starts it again.
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) noexcept;
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) noexcept;
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) noexcept;
/// Prepares a generator, which otherwise the first call that generates does.
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) noexcept;
inline curandStatus_t curandGetVersion(int* version) {
  *version = 10400;  // of CUDA 13.0
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* values, size_t count,
                              Where where = Where::current()) noexcept;
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* values, size_t count,
                                     Where where = Where::current()) noexcept;
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* values, size_t count,
                                           Where where = Where::current()) noexcept;
/// Normal and log-normal values come in pairs: the count must be even.
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* values, size_t count, float mean,
                                    float deviation, Where where = Where::current()) noexcept;
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* values, size_t count, double mean,
                                          double deviation, Where where = Where::current()) noexcept;
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* values, size_t count, float mean,
                                       float deviation, Where where = Where::current()) noexcept;
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* values, size_t count, double mean,
                                             double deviation, Where where = Where::current()) noexcept;
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* values, size_t count, double mean,
                                     Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
