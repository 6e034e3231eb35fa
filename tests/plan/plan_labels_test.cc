// Tests class labels from scores: ties, infinities and NaN.

#include "convlab/session/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/base/error.h"

namespace convlab {
namespace {

TEST(Labels, AreTheClassesOfTheLargestScores) {
  const float scores[] = {0, 2, 1, -1, -3, -2};
  EXPECT_THAT(labels_of(scores, 3), testing::ElementsAre(1, 0));
  EXPECT_THAT(labels_of(scores, 2), testing::ElementsAre(1, 0, 1));
}

TEST(Labels, TiesGoToTheLowest) {
  const float scores[] = {1, 5, 5, 5, 0, 0, 0, 0};
  EXPECT_THAT(labels_of(scores, 4), testing::ElementsAre(1, 0));
}

TEST(Labels, InfinitiesCompareAsNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float scores[] = {-infinity, -infinity, 3, infinity};
  EXPECT_THAT(labels_of(scores, 2), testing::ElementsAre(0, 1));
}

TEST(Labels, NanIsAWrongResultThatNamesTheImage) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int place = 0; place < 2; ++place) {
    float scores[] = {1, 2, 3, 4};
    scores[2 + place] = nan;
    try {
      labels_of(scores, 2);
      FAIL() << "NaN in place " << place << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::wrong_result);
      EXPECT_THAT(error.what(), testing::HasSubstr("image 1 "));
    }
    try {
      labels_of(scores, 2, 500);
      FAIL() << "NaN in place " << place << " was taken";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("image 501 "));
    }
  }
}

TEST(Labels, CountMustFit) {
  const float scores[] = {1, 2, 3};
  EXPECT_THROW(labels_of(scores, 2), Error);
  EXPECT_THROW(labels_of(scores, 0), Error);
}

}  // namespace
}  // namespace convlab
