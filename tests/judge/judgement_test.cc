// Tests that judgments and assignments survive conversion to JSON and back.

#include "convlab/judge/judgement.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_errors.h"

namespace convlab::judge {
namespace {

using testing::HasSubstr;

Judgement some_judgement() {
  return {.nonce = std::string(64, '7'),
          .verdict = Verdict::wrong,
          .failed_at = Stage::verifying,
          .reason = "3 outputs are wrong",
          .what_to_do = "look at the border",
          .math = Math::fp16,
          .ratio = Ratio{0.5, 0.4, 0.6, 30},
          .times = {{"n1000_c1h9w9_k1r3s3", 0.002, 0.004, 0.001}, {"n1000_c1h7w7_k1r3s3", 0.003, 0.002, 0.001}},
          .counters = {{.layer = "n1_c1h9w9_k1r3s3",
                        .kernel = "conv<16>",
                        .launches = 2,
                        .flops = 1234567890123,
                        .occupancy = 0.75}},
          .stages = {{Stage::compiling, 2.5, "a warning"}, {Stage::recording, 0.1, ""}}};
}

Assignment some_assignment() {
  return {.name = "fa19",
          .layers = {parse_problem("n10_c1h70w70_k12r5s5"), parse_problem("n10_c12h33w33_k24r5s5")},
          .secret = {parse_problem("n3_c2h35w35_k7r5s5")},
          .nonce = std::string(64, 'a'),
          .libraries_allowed = true,
          .limits = {.compile_s = 1.5, .processes = 3},
          .trust = Trust::students};
}

TEST(Judgement, ComesBackFromJson) {
  EXPECT_EQ(judgement_from(to_json(some_judgement()), "x"), some_judgement());
  EXPECT_EQ(judgement_from(to_json(Judgement{}), "x"), Judgement{});
}

TEST(Judgement, IsPublicWithoutItsNonce) {
  EXPECT_FALSE(public_json(some_judgement()).contains("nonce"));
  Judgement shown = some_judgement();
  shown.nonce.clear();
  EXPECT_EQ(judgement_from(public_json(some_judgement()), "x"), shown);
}

TEST(Judgement, FromBeforeTimesWereKeptHasNone) {
  Json json = to_json(some_judgement());
  json.erase("times");
  Judgement old = some_judgement();
  old.times.clear();
  EXPECT_EQ(judgement_from(json, "x"), old);
}

TEST(Judgement, OfAnotherFormIsAnErrorThatNamesTheMember) {
  Json json = to_json(some_judgement());
  json["verdict"] = "MAYBE";
  EXPECT_THAT(bad_input_message([&] { judgement_from(json, "jobs/7/judgement.json"); }),
              AllOf(HasSubstr("jobs/7/judgement.json"), HasSubstr("MAYBE")));
  json = to_json(some_judgement());
  json.erase("reason");
  EXPECT_THAT(bad_input_message([&] { judgement_from(json, "x"); }), HasSubstr("reason"));
  json = to_json(some_judgement());
  json["times"][1].erase("bound_s");
  EXPECT_THAT(bad_input_message([&] { judgement_from(json, "x"); }), HasSubstr("bound_s"));
}

TEST(Assignment, ComesBackFromJson) { EXPECT_EQ(assignment_from(to_json(some_assignment()), "x"), some_assignment()); }

TEST(Assignment, OfAnotherFormIsAnErrorThatNamesTheMember) {
  Json json = to_json(some_assignment());
  json["nonce"] = "-1";
  EXPECT_THAT(bad_input_message([&] { assignment_from(json, "x"); }),
              HasSubstr("expected 64 hexadecimal digits, got '-1'"));
  json = to_json(some_assignment());
  json["layers"] = {"n1_c1"};
  EXPECT_FALSE(bad_input_message([&] { assignment_from(json, "x"); }).empty());
}

}  // namespace
}  // namespace convlab::judge
