#pragma once

#include <cstdint>
#include <vector>

#include "convlab/kernels/cpu/simd.h"
#include "hwy/highway.h"

namespace convlab {

/// Makes run-time dispatch choose one instruction set, until the value goes.
class ForcedTarget {
 public:
  explicit ForcedTarget(int64_t target) { force(target); }
  ~ForcedTarget() { force(0); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;

 private:
  static void force(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    // Highway before 1.0 asks by itself.
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

/// Every instruction set that the kernels are compiled for and this processor has, as Highway's bits.
inline std::vector<int64_t> simd_targets() {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  return {targets.begin(), targets.end()};
}

/// Whether sums may differ in the last bit from those of the other instruction sets.
inline bool may_lack_fused_multiply_add(int64_t target) { return target == HWY_SSE4 || target == HWY_SCALAR; }

}  // namespace convlab
