// Tests epilogues: pooling sizes, activations and the text form.

#include "convlab/conv/epilogue.h"

#include <gtest/gtest.h>

#include <string>

#include "convlab/base/error.h"
#include "convlab/conv/epilogue_text.h"

namespace convlab {
namespace {

/// Counts pooling windows one by one, by ONNX's definition: every window inside the padded image; with ceil_mode also
/// one that begins in the image or its leading padding and extends past the trailing padding.
int64_t counted(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t before, int64_t after,
                bool ceil_mode) {
  const int64_t padded = size + before + after, reach = (kernel - 1) * dilation + 1;
  int64_t count = 0, at = 0;
  for (; at + reach <= padded; at += stride) ++count;
  const bool covered = count == 0 || at - stride + reach == padded;
  if (ceil_mode && count > 0 && !covered && at < size + before) ++count;
  return count;
}

TEST(Pool, SizesFollowTheDefinition) {
  int cases = 0;
  for (int64_t size = 1; size <= 9; ++size) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t stride = 1; stride <= 4; ++stride) {
        for (int64_t dilation = 1; dilation <= 2; ++dilation) {
          for (int64_t before = 0; before < kernel; ++before) {
            for (int64_t after = 0; after < kernel; ++after) {
              for (bool ceil_mode : {false, true}) {
                const Pool pool{.kernel_h = kernel,
                                .kernel_w = 1,
                                .stride_h = stride,
                                .dilation_h = dilation,
                                .pad_top = before,
                                .pad_bottom = after,
                                .ceil_mode = ceil_mode};
                const Pool turned{.kernel_h = 1,
                                  .kernel_w = kernel,
                                  .stride_w = stride,
                                  .dilation_w = dilation,
                                  .pad_left = before,
                                  .pad_right = after,
                                  .ceil_mode = ceil_mode};
                const int64_t wanted = counted(size, kernel, stride, dilation, before, after, ceil_mode);
                ASSERT_EQ(pool.output_h(size), wanted)
                    << size << " " << to_text(pool) << " dilation " << dilation << " pads " << before << "," << after
                    << (ceil_mode ? " ceil" : "");
                ASSERT_EQ(turned.output_w(size), wanted);
                ++cases;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(cases, 1000);
}

TEST(Pool, TheCoursesPoolingDropsAnOddRow) {
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  EXPECT_TRUE(pool.is_max_2x2());
  EXPECT_EQ(pool.output_h(66), 33);
  EXPECT_EQ(pool.output_w(29), 14);
  EXPECT_EQ(pool.output_w(1), 0);
}

TEST(Pool, OnlyDisjointMaximaOfTwoByTwoAreTheCourses) {
  const Pool course{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  Pool other = course;
  other.kind = PoolKind::average;
  EXPECT_FALSE(other.is_max_2x2());
  other = course, other.stride_w = 1;
  EXPECT_FALSE(other.is_max_2x2());
  other = course, other.pad_right = 1;
  EXPECT_FALSE(other.is_max_2x2());
  other = course, other.ceil_mode = true;
  EXPECT_FALSE(other.is_max_2x2());
}

TEST(Activation, OnlyALeakyReluThatRisesToTheLeftIsNotMonotonic) {
  for (ActivationKind kind : {ActivationKind::none, ActivationKind::relu, ActivationKind::leaky_relu,
                              ActivationKind::clip, ActivationKind::sigmoid, ActivationKind::tanh}) {
    EXPECT_TRUE((Activation{.kind = kind, .alpha = 0.1f, .beta = 1}.monotonic())) << to_text(Activation{.kind = kind});
  }
  EXPECT_FALSE((Activation{.kind = ActivationKind::leaky_relu, .alpha = -0.1f}.monotonic()));
}

TEST(Epilogue, TextSaysWhatHappensInOrder) {
  EXPECT_EQ(to_text(Epilogue{}), "");
  EXPECT_TRUE(Epilogue{}.empty());
  const Epilogue all{.bias = true,
                     .pool = Pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
                     .activation = {.kind = ActivationKind::tanh}};
  EXPECT_EQ(to_text(all), "bias+max2x2/2+tanh");
  EXPECT_FALSE(all.empty());
  EXPECT_EQ(to_text(Epilogue{.activation = {.kind = ActivationKind::clip, .alpha = 0, .beta = 6}}), "clip(0,6)");
  EXPECT_EQ(to_text(Epilogue{.activation = {.kind = ActivationKind::leaky_relu, .alpha = 0.5f}}), "leaky_relu(0.5)");
  EXPECT_EQ(to_text(Pool{.kind = PoolKind::average, .kernel_h = 3, .kernel_w = 2, .stride_h = 2}), "average3x2/2x1");
}

TEST(Epilogue, TextsAreReadAsTheyAreWritten) {
  for (const char* text : {"", "bias", "max2x2/2", "bias+relu", "bias+max2x2/2+tanh", "average3x2/2x1+sigmoid",
                           "bias+leaky_relu(0.1)", "bias+clip(0,6)", "swish", "max3x3/1+hard_swish"}) {
    EXPECT_EQ(to_text(parse_epilogue(text, "--epilogue")), text);
  }
  const Epilogue read = parse_epilogue("bias+max3x2/2x1+clip(-1,0.5)", "--epilogue");
  EXPECT_TRUE(read.bias);
  EXPECT_EQ(read.pool, (Pool{.kernel_h = 3, .kernel_w = 2, .stride_h = 2, .stride_w = 1}));
  EXPECT_EQ(read.activation, (Activation{ActivationKind::clip, -1.0f, 0.5f}));
}

TEST(Epilogue, TextsThatAreNoneAreRefused) {
  for (const char* text :
       {"relu+bias", "bias+bias", "relu+tanh", "max2x2/2+max2x2/2", "+",        "bias+",         "gelu",
        "max2x2",    "max0x2/2",  "max2x2/0",  "max2x2x2/2",        "maxx/1",   "max/1",         "max2x2/",
        "max",       "clip(1)",   "clip",      "relu(1)",           "clip(0,6", "leaky_relu(x)", "bias relu"}) {
    try {
      parse_epilogue(text, "--epilogue");
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input) << text;
      EXPECT_EQ(std::string(error.what()).rfind("--epilogue", 0), 0U) << error.what();
    }
  }
}

}  // namespace
}  // namespace convlab
