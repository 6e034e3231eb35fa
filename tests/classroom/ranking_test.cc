// Tests ranks, points, aliases and the grades table for the registrar.

#include "convlab/classroom/ranking.h"

#include <gmock/gmock.h>

#include <set>

#include "convlab/classroom/aliases.h"
#include "convlab/classroom/grades.h"

namespace convlab::classroom {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

Passed passed(int64_t submission, int64_t student, double ratio, double low, double high, int order = 0) {
  return {.submission = submission,
          .student = student,
          .name = "student " + std::to_string(student),
          .math = order == 0 ? "fp32" : "fp16",
          .math_order = order,
          .bounds = RatioBounds{ratio, low, high}};
}

std::vector<std::pair<int64_t, int64_t>> ranks(const std::vector<RankingEntry>& entries) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const RankingEntry& each : entries) all.emplace_back(each.rank, each.best.student);
  return all;
}

TEST(Ranking, TheBestOfEachStudentAndOverlappingBoundsShareARank) {
  const auto entries =
      ranking({passed(1, 1, 0.50, 0.48, 0.52), passed(2, 1, 0.40, 0.39, 0.41), passed(3, 2, 0.42, 0.405, 0.43),
               passed(4, 3, 0.60, 0.59, 0.61), passed(5, 4, 0.43, 0.42, 0.44)},
              {});
  using P = std::pair<int64_t, int64_t>;
  EXPECT_THAT(ranks(entries), ElementsAre(P{1, 1}, P{1, 2}, P{3, 4}, P{4, 3}))
      << "4 overlaps with 2, but is surely slower than the first of that rank";
  EXPECT_EQ(entries[0].best.submission, 2);
}

TEST(Ranking, EachClassOfArithmeticHasRanksOfItsOwn) {
  using P = std::pair<int64_t, int64_t>;
  EXPECT_THAT(
      ranks(ranking({passed(1, 1, 0.1, 0.1, 0.1, 3), passed(2, 2, 0.5, 0.5, 0.5), passed(3, 3, 0.2, 0.2, 0.2, 3)}, {})),
      ElementsAre(P{1, 2}, P{1, 1}, P{2, 3}));
}

TEST(Ranking, WithoutAClockAllShareTheFirstRank) {
  std::vector<Passed> all{passed(2, 2, 0, 0, 0), passed(1, 1, 0, 0, 0)};
  for (Passed& each : all) each.bounds.reset();
  using P = std::pair<int64_t, int64_t>;
  EXPECT_THAT(ranks(ranking(all, {})), ElementsAre(P{1, 1}, P{1, 2}));
  EXPECT_EQ(ranking(all, {})[0].points, 100);
}

TEST(Points, AreOnALineBetweenTwoRatios) {
  const PointsRule rule{.formula = Formula::linear, .most = 90, .least = 10, .full = 0.2, .zero = 1.0};
  EXPECT_THAT(points_of(rule, {{0.1, 1}, {0.2, 2}, {0.6, 3}, {1.0, 4}, {3.0, 5}, {std::nullopt, 6}}),
              ElementsAre(90, 90, DoubleNear(50, 1e-9), 10, 10, 10));
}

TEST(Points, FollowStandardDeviationsFasterThanTheMedian) {
  const PointsRule rule{.formula = Formula::deviations, .most = 100, .least = 0, .full = 1, .zero = -1};
  const std::vector<double> points = points_of(rule, {{1, 1}, {2, 2}, {3, 3}});
  EXPECT_THAT(points, ElementsAre(100, DoubleNear(50, 1e-9), 0)) << "a deviation is 0.816";
  EXPECT_THAT(points_of(rule, {{2, 1}, {2, 1}}), ElementsAre(50, 50));
}

TEST(Points, OfRanks) {
  const PointsRule rule{.formula = Formula::top, .most = 30, .least = 3, .n = 3};
  EXPECT_THAT(points_of(rule, {{0.1, 1}, {0.2, 2}, {0.3, 3}, {0.4, 4}}),
              ElementsAre(30, DoubleNear(21, 1e-9), DoubleNear(12, 1e-9), 3));
}

TEST(Aliases, AreStableAndDifferent) {
  std::set<std::string> names;
  for (int64_t student = 1; student <= 5000; ++student) names.insert(alias_of(student, 0x1234567890abcdef));
  EXPECT_EQ(names.size(), 5000u);
  EXPECT_EQ(alias_of(17, 5), alias_of(17, 5));
  EXPECT_NE(alias_of(17, 5), alias_of(17, 0xfedcba9876543210));
}

// Knowing some aliases must not help to find others: each of the seed's 64 bits changes nearly all aliases.
TEST(Aliases, DependOnTheWholeSeed) {
  constexpr uint64_t kSeed = 0x1234567890abcdef;
  for (int bit = 0; bit < 64; ++bit) {
    int same = 0;
    for (int64_t student = 1; student <= 60; ++student) {
      same += alias_of(student, kSeed) == alias_of(student, kSeed ^ uint64_t{1} << bit) ? 1 : 0;
    }
    EXPECT_LT(same, 5) << "bit " << bit;
  }
}

TEST(Grades, AreQuotedAndNoFormulas) {
  EXPECT_EQ(csv_field("Anna"), "Anna");
  EXPECT_EQ(csv_field("Lovelace, Ada"), "\"Lovelace, Ada\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("@x,y"), "\"'@x,y\"");
  for (const char* each : {"+", "-", "\t", "\r"}) EXPECT_THAT(csv_field(each), HasSubstr("'"));
}

TEST(Grades, ComeInTheOrderOfNames) {
  const Grade second{"b", "fa19", "PASSED",
                     RankingEntry{.rank = 2, .best = passed(7, 1, 0.5, 0.4, 0.6), .points = 12.5}};
  EXPECT_EQ(grades_csv({second, {"a", "sp25", "WRONG", {}}, {"a", "fa19", "", {}}}),
            "name,assignment,submission,verdict,class,ratio,low,high,rank,points\r\n"
            "a,fa19,,,,,,,,0\r\n"
            "a,sp25,,WRONG,,,,,,0\r\n"
            "b,fa19,7,PASSED,fp32,0.5000,0.4000,0.6000,2,12.50\r\n");
}

}  // namespace
}  // namespace convlab::classroom
