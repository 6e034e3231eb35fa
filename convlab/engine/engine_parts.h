#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/engine/engine.h"

namespace convlab {

// What an engine is made of, for engine.cc, which makes it, engine_launch.cc, which has plans on the device, and
// engine_run.cc, which runs them; and for engine_group.cc, which has several.

/// Whether kernels of this device may read and write the caller's arrays as they are.
inline bool reads_host_memory(const Device& device) { return device.caps().kind == DeviceKind::cpu; }

inline int64_t bytes_of(const Shape& shape, ElementType type) {
  return checked_mul(element_count(shape), static_cast<int64_t>(size_of(type)));
}

/// Whether steps of two plans compute the same, be it by other kernels.
inline bool same_operators(const Plan& a, const Plan& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const PlanStep& x, const PlanStep& y) { return x.name == y.name; });
}

struct Engine::Ready {
  int64_t n = 0;
  Plan plan;
  std::vector<Buffer> prepared;  ///< by step; empty where the full batch's serves
  const Ready* full = nullptr;   ///< whose prepared weights are used, if not its own
  std::vector<const float*> addresses;
  int64_t turn = 0;  ///< launches of this plan so far

  void* prepared_for(size_t step) const { return full != nullptr ? full->prepared_for(step) : prepared[step].data(); }
};

struct Engine::Batch {
  size_t index;  ///< the run's first is 0
  int64_t images;
  const unsigned char* from;  ///< on the host
  float* to;                  ///< on the host
  bool alone;                 ///< the run has no other
};

struct Engine::Piece {
  int64_t first = 0, images = 0;  ///< of the batch
  std::shared_ptr<Ready> ready;
  std::unique_ptr<Replay> replay;  ///< null where the device cannot record the launches
};

/// How batches of a size that come by one feed are run, once one of them was.
struct Engine::Schedule {
  int64_t images = 0;
  size_t feed = 0;
  Piece whole;                ///< all of the batch at once
  std::vector<Piece> pieces;  ///< as it crosses the bus; empty where that is at once, too
};

}  // namespace convlab
