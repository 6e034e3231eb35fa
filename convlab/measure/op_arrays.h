#pragma once

#include <array>
#include <string>
#include <vector>

#include "convlab/measure/bench_arrays.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// The arrays of an operator other than a convolution: three sets of real numbers as in `convlab verify` with reference
/// outputs, which share their constants.
class OpArrays final : public BenchArrays {
 public:
  /// Throws Error(unavailable) if the device lacks memory for the arrays.
  OpArrays(Device& device, const Step& step);

  const Step& step() const override { return step_; }
  Args arguments() const override { return {.step = step_, .inputs = inputs_, .outputs = {&output_, 1}}; }
  void renew() override;
  Verdict check(const KernelInfo& kernel) override;
  std::string describe_wrong(const Verdict& verdict) const override;

 private:
  struct InputSet {
    std::vector<Tensor> plain, packed;  ///< nchw, only while they are made; in the step's formats
    Expected expected;
  };

  Step step_;
  std::array<InputSet, kPlaces> sets_;
  size_t place_ = 0;                     ///< index of the address in use
  std::array<size_t, kPlaces> at_ = {};  ///< per address: the index of its set
  std::vector<Buffer> buffers_;          ///< of the inputs
  Buffer y_;
  std::vector<const void*> inputs_;
  void* output_ = nullptr;
};

}  // namespace convlab
