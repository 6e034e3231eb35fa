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
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// Every instruction set that the kernels are compiled for and this processor has, as Highway's bits.
inline std::vector<int64_t> simd_targets() { return hwy::SupportedAndGeneratedTargets(); }

}  // namespace convlab
