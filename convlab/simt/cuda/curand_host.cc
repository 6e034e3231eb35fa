// Generates arrays of random numbers, in the order of cuRAND's host API.

#include "convlab/simt/cuda/curand_host.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/runtime.h"

namespace convlab::simt::cuda {
namespace {

// cuRAND's threads: each has a subsequence. They take turns, and each contributes this many values per turn.
template <class State>
struct Threads {
  size_t count = 4096;
  int together = 1;
  uint64_t seed = 0, offset = 0;
  uint64_t drawn = 0;              // values since the offset
  std::vector<State> states = {};  // of the threads that had a turn, or all below one that had
  State last_start = {};           // of the last of them, without the offset
  size_t turn = 0;
  int taken = 0;  // of the values of this turn

  // Continues where the sequence is, as cuRAND does when the seed or the ordering changes.
  void restart() {
    states.clear();
    offset += std::exchange(drawn, 0);
    const uint64_t in_round = offset % (count * static_cast<uint64_t>(together));
    turn = in_round / static_cast<uint64_t>(together);
    taken = static_cast<int>(in_round % static_cast<uint64_t>(together));
  }

  // Returns the state of the thread that has this turn.
  State& now() {
    const uint64_t rounds = offset / (count * static_cast<uint64_t>(together));
    const uint64_t in_round = offset % (count * static_cast<uint64_t>(together));
    const uint64_t first = in_round / static_cast<uint64_t>(together);
    while (states.size() <= turn) {
      const uint64_t thread = states.size();
      if (thread == 0) {
        last_start = {};
        runtime::start(last_start, seed);
      } else {
        runtime::skip(last_start, 1, runtime::subsequence_shift(&last_start));
      }
      states.push_back(last_start);
      uint64_t skipped = static_cast<uint64_t>(together) * (rounds + (thread < first ? 1 : 0));
      if (thread == first) skipped += in_round % static_cast<uint64_t>(together);
      if (skipped != 0) runtime::skip(states.back(), skipped, 0);
    }
    return states[turn];
  }

  // `per_turn`: how many of these values a thread produces before the next thread has its turn.
  template <class T, class Draw>
  void fill(std::vector<T>& values, int per_turn, const Draw& draw) {
    drawn += values.size();
    for (T& value : values) {
      value = draw(now());
      if (++taken < per_turn) continue;
      taken = 0;
      turn = (turn + 1) % count;
    }
  }
};

template <class State>
constexpr bool is_philox = std::is_same_v<State, curandStatePhilox4_32_10>;

constexpr size_t kPhiloxThreads = 65536, kMrgThreads = 81920, kLegacyThreads = 4096;
constexpr int kPhiloxTogether = 4;

using AnyThreads =
    std::variant<Threads<curandStateXORWOW>, Threads<curandStateMRG32k3a>, Threads<curandStatePhilox4_32_10>>;

}  // namespace

struct curandGenerator_st {
  AnyThreads threads;
  bool writes_to_host = false;
  cudaStream_t stream = nullptr;
};

namespace {

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool writes_to_host, const Where& where) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  auto made = std::make_unique<curandGenerator_st>();
  made->writes_to_host = writes_to_host;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      made->threads = Threads<curandStateMRG32k3a>{.count = kMrgThreads};
      break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      made->threads = Threads<curandStatePhilox4_32_10>{.count = kPhiloxThreads, .together = kPhiloxTogether};
      break;
    default:
      failed(cudaErrorInvalidValue, "curandCreateGenerator", where,
             "simt supports the generators XORWOW, MRG32K3A and PHILOX4_32_10");
      return CURAND_STATUS_TYPE_ERROR;
  }
  std::visit([](auto& threads) { threads.restart(); }, made->threads);
  *generator = made.release();
  return CURAND_STATUS_SUCCESS;
}

// Fills `values`, which are `single` per turn or, for normal values, at least a pair.
template <class T, class Draw>
curandStatus_t generate(curandGenerator_t generator, T* values, size_t count, int single, const Where& where,
                        const Draw& draw) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (count % static_cast<size_t>(single) != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  std::vector<T> drawn(count);
  std::visit([&](auto& threads) { threads.fill(drawn, threads.together > single ? threads.together : single, draw); },
             generator->threads);
  if (generator->writes_to_host) {
    std::memcpy(values, drawn.data(), count * sizeof(T));
    return CURAND_STATUS_SUCCESS;
  }
  runtime::on_stream(generator->stream);
  const cudaError_t error = cudaMemcpy(values, drawn.data(), count * sizeof(T), cudaMemcpyHostToDevice, where);
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

// Changes the sequence.
template <class Change>
curandStatus_t change(curandGenerator_t generator, const Change& change_threads) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  std::visit(
      [&](auto& threads) {
        change_threads(threads);
        threads.restart();
      },
      generator->threads);
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type, Where where) noexcept {
  return create(generator, type, false, where);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type, Where where) noexcept {
  return create(generator, type, true, where);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) noexcept {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) noexcept {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) noexcept {
  return change(generator, [seed](auto& threads) { threads.seed = seed; });
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) noexcept {
  return change(generator, [offset](auto& threads) {
    threads.offset = offset;
    threads.drawn = 0;
  });
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) noexcept {
  const bool is_legacy = ordering == CURAND_ORDERING_PSEUDO_LEGACY;
  if (!is_legacy && ordering != CURAND_ORDERING_PSEUDO_BEST && ordering != CURAND_ORDERING_PSEUDO_DEFAULT &&
      ordering != CURAND_ORDERING_PSEUDO_DYNAMIC) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  return change(generator, [is_legacy](auto& threads) {
    if constexpr (std::is_same_v<std::decay_t<decltype(threads)>, Threads<curandStateMRG32k3a>>) {
      threads.count = is_legacy ? kLegacyThreads : kMrgThreads;
    }
  });
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) noexcept {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* values, size_t count, Where where) noexcept {
  return generate(generator, values, count, 1, where, [](auto& state) { return curand(&state); });
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* values, size_t count, Where where) noexcept {
  return generate(generator, values, count, 1, where, [](auto& state) { return curand_uniform(&state); });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* values, size_t count,
                                           Where where) noexcept {
  return generate(generator, values, count, 1, where, [](auto& state) {
    if constexpr (is_philox<std::decay_t<decltype(state)>>) {
      const unsigned low = curand(&state), high = curand(&state);
      return runtime::uniform_of(low, high);
    } else {
      return curand_uniform_double(&state);
    }
  });
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* values, size_t count, float mean,
                                    float deviation, Where where) noexcept {
  return generate(generator, values, count, 2, where,
                  [=](auto& state) { return mean + deviation * curand_normal(&state); });
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* values, size_t count, double mean,
                                          double deviation, Where where) noexcept {
  return generate(generator, values, count, 2, where,
                  [=](auto& state) { return mean + deviation * curand_normal_double(&state); });
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* values, size_t count, float mean,
                                       float deviation, Where where) noexcept {
  return generate(generator, values, count, 2, where,
                  [=](auto& state) { return std::exp(mean + deviation * curand_normal(&state)); });
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* values, size_t count, double mean,
                                             double deviation, Where where) noexcept {
  return generate(generator, values, count, 2, where,
                  [=](auto& state) { return std::exp(mean + deviation * curand_normal_double(&state)); });
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* values, size_t count, double mean,
                                     Where where) noexcept {
  if (!(mean > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, values, count, 1, where, [=](auto& state) { return curand_poisson(&state, mean); });
}

}  // namespace convlab::simt::cuda
