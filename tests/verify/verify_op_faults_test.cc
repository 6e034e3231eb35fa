// Tests that verification finds faults planted in kernels of each family of operators.

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "convlab/device/cpu.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/select.h"
#include "convlab/kernels/step_text.h"
#include "convlab/verify/ops/verify_op.h"
#include "convlab/verify/pitched.h"

namespace convlab {
namespace {

using testing::HasSubstr;

const Kernel* right = nullptr;  ///< the kernel that the faulty ones change

float* last_of(const Args& args) { return args.output() + element_count(args.step.outputs[0].shape) - 1; }

/// Returns the kernel of the step with another launch.
Kernel faulty(const Step& step, void (*launch)(const Args&, Stream&)) {
  right = &choose_kernel(step, {});
  Kernel kernel = *right;
  kernel.launch = launch;
  return kernel;
}

CaseResult verified(const Kernel& kernel, const Step& step) {
  return verify_op(kernel, step, *open_cpu({.threads = 1}));
}

class EachFamily : public testing::TestWithParam<const char*> {
 protected:
  void expect_found(void (*launch)(const Args&, Stream&), const std::string& reason) {
    const CaseResult result = verified(faulty(step_, launch), step_);
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_THAT(result.reason, HasSubstr(reason));
  }

  const Step step_ = parse_step(GetParam());
};

TEST_P(EachFamily, RightKernelPasses) {
  const CaseResult result = verified(choose_kernel(step_, {}), step_);
  EXPECT_EQ(result.outcome, Outcome::passed) << result.reason;
}

TEST_P(EachFamily, AWrongElement) {
  expect_found(
      [](const Args& args, Stream& stream) {
        right->launch(args, stream);
        float& last = *last_of(args);
        last = last == 1 ? 2 : 1;
      },
      "wrong");
}

TEST_P(EachFamily, AnElementThatIsNotWritten) {
  expect_found(
      [](const Args& args, Stream& stream) {
        const float before = *last_of(args);
        right->launch(args, stream);
        *last_of(args) = before;
      },
      "never written");
}

TEST_P(EachFamily, OverrunOfTheOutput) {
  expect_found(
      [](const Args& args, Stream& stream) {
        right->launch(args, stream);
        last_of(args)[1] = 0;
      },
      "launch wrote past the end of y");
}

TEST_P(EachFamily, AChangedInput) {
  expect_found(
      [](const Args& args, Stream& stream) {
        right->launch(args, stream);
        auto* x = static_cast<float*>(const_cast<void*>(args.inputs[0]));
        *x = std::isnan(*x) ? 0 : *x + 1;
      },
      "launch changed its input");
}

TEST_P(EachFamily, TheAnswerOfTheFirstLaunch) {
  static std::vector<float> answer;
  answer.clear();
  expect_found(
      [](const Args& args, Stream& stream) {
        right->launch(args, stream);
        float* const y = args.output();
        if (answer.empty()) answer.assign(y, last_of(args) + 1);
        std::copy(answer.begin(), answer.end(), y);
      },
      "wrong");
}

INSTANTIATE_TEST_SUITE_P(, EachFamily,
                         testing::Values("matmul_m5n7k6", "maxpool_c3h8w9_r2s2_st2", "softmax_r4c9", "layernorm_r4c9",
                                         "add_2x3x5", "reducesum_4x9_axes1", "transpose_3x4_perm1x0",
                                         "convtranspose_c2h3w3_k4r2s2_st2", "resize_c2h3w3_scales1x1x2x2",
                                         "quantizelinear_2x3x4_scalar_scalar"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           const std::string_view text = info.param;
                           return std::string(text.substr(0, text.find('_')));
                         });

TEST(OpFaults, ANaNThatIsDropped) {
  const Step step = parse_step("relu_2x3x5");
  const Kernel kernel = faulty(step, [](const Args& args, Stream&) {
    for (int64_t i = 0; i < 30; ++i) args.output()[i] = args.input()[i] > 0 ? args.input()[i] : 0;
  });
  const CaseResult result = verified(kernel, step);
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_THAT(result.reason, HasSubstr("wrong"));
  EXPECT_THAT(result.reason, HasSubstr("with one NaN among the inputs"));
}

TEST(OpFaults, LessPreciseThanFp32) {
  const Step step = parse_step("matmul_m5n7k6");
  const Kernel kernel = faulty(step, [](const Args& args, Stream& stream) {
    right->launch(args, stream);
    for (float* y = args.output(); y <= last_of(args); ++y) *y *= 1 + 0x1p-17f;
  });
  EXPECT_EQ(verified(kernel, step).outcome, Outcome::failed);
}

/// A kernel on nchw8c images that are parts of larger arrays: two images of 8 x 9 elements each, 16 x 9 apart.
Step relu_in_larger_arrays() { return with_pitches(in_formats(parse_step("relu_2x8x3x3"), kNchw8c, kNchw8c)); }

TEST(OpFaults, RightInLargerArrays) {
  const Step step = relu_in_larger_arrays();
  EXPECT_EQ(step.inputs[0].pitch, 144);
  EXPECT_EQ(describe(step), "relu_2x8x3x3 from nchw8c to nchw8c with a pitch");
  const CaseResult result = verified(choose_kernel(step, {}), step);
  EXPECT_EQ(result.outcome, Outcome::passed) << result.reason;
}

TEST(OpFaults, AWriteToAnotherPartOfALargerArray) {
  const Step step = relu_in_larger_arrays();
  const Kernel kernel = faulty(step, [](const Args& args, Stream& stream) {
    right->launch(args, stream);
    args.output()[72] = 0;
  });
  const CaseResult result = verified(kernel, step);
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_THAT(result.reason,
              HasSubstr("writes element 72 of row 0 of y, whose rows have 72 elements and are 144 apart"));
}

TEST(OpFaults, AReadOfAnotherPartOfALargerArray) {
  const Step step = relu_in_larger_arrays();
  const Kernel kernel = faulty(step, [](const Args& args, Stream& stream) {
    Step dense = args.step;
    dense.inputs[0].pitch = 0;
    right->launch({.step = dense, .inputs = args.inputs, .outputs = args.outputs}, stream);
  });
  const CaseResult result = verified(kernel, step);
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_THAT(result.reason, HasSubstr("wrong"));
}

TEST(OpFaults, ARefusalIsSkippedInItsWords) {
  const CaseResult result = verified(choose_kernel(parse_step("softmax_r4c9"), {}), parse_step("relu_2x3x5"));
  EXPECT_EQ(result.outcome, Outcome::skipped);
  EXPECT_THAT(result.reason, HasSubstr("only Softmax and LogSoftmax are supported"));
}

}  // namespace
}  // namespace convlab
