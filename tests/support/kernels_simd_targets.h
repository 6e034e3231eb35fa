#pragma once

#include <cstdint>
#include <vector>

#include "convlab/kernels/cpu/simd/simd.h"
#include "hwy/highway.h"

namespace convlab {

/// Forces run-time dispatch to one instruction set for the lifetime of this object.
class ForcedTarget {
 public:
  explicit ForcedTarget(int64_t target) { force(target); }
  ~ForcedTarget() { force(0); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;

 private:
  static void force(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    // Before Highway 1.0, Update() has no parameter.
    const auto update = [](auto& chosen) {
      if constexpr (requires { chosen.Update(hwy::SupportedTargets()); }) {
        chosen.Update(hwy::SupportedTargets());
      } else {
        chosen.Update();
      }
    };
    update(hwy::GetChosenTarget());
  }
};

/// Returns the instruction sets that the kernels are compiled for and that this processor supports, as Highway's target
/// bits.
inline std::vector<int64_t> simd_targets() {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  return {targets.begin(), targets.end()};
}

/// Whether a target may lack fused multiply-add, so that sums may differ in the last bit from other instruction sets.
inline bool may_lack_fused_multiply_add(int64_t target) { return target == HWY_SSE4 || target == HWY_SCALAR; }

}  // namespace convlab
