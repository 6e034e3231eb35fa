// Tests plan files: parse_plan_file() accepts what to_text() writes, and nothing else.

#include "convlab/plan/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convlab/base/error.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

PlanFile small_file() {
  const KernelChoice first{.step = "conv1 of two+relu",
                           .problem = "c3h9w7_k16r3s3",
                           .kernel = "cpu.nchw8c_first",
                           .ms = 0.25,
                           .why = "only"};
  const KernelChoice second{.step = "",
                            .problem = "c16h9w7_k16r3s3_p1",
                            .kernel = "cpu.nchw8c_winograd",
                            .ms = 1.5,
                            .next = "cpu.nchw8c_direct",
                            .next_ms = 2,
                            .why = "first"};
  const KernelChoice dense{.step = "fc",
                           .problem = "gemm_m8n10k16_bias",
                           .kernel = "cpu.dense",
                           .ms = 0.5,
                           .next = "cpu.gemm",
                           .next_ms = 1,
                           .why = "faster"};
  return {
      .version = "0.1.0",
      .model = "small",
      .fingerprint = "0123",
      .processor = "AMD EPYC, AVX3_DL",
      .threads = 2,
      .math = Math::bf16x2,
      .mode = PlanMode::folded,
      .input = ElementType::u8,
      .batch = 8,
      .choices = {
          .place = "plan.txt",
          .plans = {{.inputs = {{8, 3, 9, 7}}, .channel_lanes = true, .kernels = {first, second}, .others = {dense}},
                    {.inputs = {{1, 3, 9, 7}, {}}, .kernels = {first}}}}};
}

std::string refusal(const std::string& text) {
  return bad_input_message([&] { parse_plan_file(text, "plan.txt"); });
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PlanFiles, AreReadAsWritten) {
  const std::string text = to_text(small_file());
  const PlanFile plain = parse_plan_file(text, "plan.txt"),
                 commented = parse_plan_file(to_text(small_file(), {"for", "readers"}), "plan.txt");
  EXPECT_EQ(to_text(plain), text);
  EXPECT_EQ(to_text(commented), text);
  const KernelChoice& second = plain.choices.plans[0].kernels[1];
  EXPECT_EQ(second.step, "");
  EXPECT_EQ(second.kernel, "cpu.nchw8c_winograd");
  EXPECT_EQ(second.next_ms, 2);
  ASSERT_EQ(plain.choices.plans[0].others.size(), 1U);
  EXPECT_EQ(plain.choices.plans[0].others[0].problem, "gemm_m8n10k16_bias");
  EXPECT_THAT(plain.choices.plans[1].others, testing::IsEmpty());
  EXPECT_THAT(plain.choices.plans[1].inputs, ElementsAre(Shape{1, 3, 9, 7}, Shape{}));
}

TEST(PlanFiles, TellTheLineOfEverything) {
  const std::string text = to_text(small_file(), {"for readers"});
  const PlanChoices choices = parse_plan_file(text, "plan.txt").choices;
  EXPECT_EQ(header_line(text, "version"), 3);
  EXPECT_EQ(header_line(text, "batch"), 12);
  EXPECT_EQ(choices.plans[0].line, 14);
  EXPECT_EQ(choices.plans[0].kernels[1].line, 16);
  EXPECT_EQ(choices.at(16), "plan.txt: line 16");
}

TEST(PlanFiles, CutAnywhereAreRefused) {
  const std::string text = to_text(small_file());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(refusal(text.substr(0, size)), AllOf(HasSubstr("plan.txt: line "), HasSubstr("tune again"))) << size;
  }
}

TEST(PlanFiles, WithoutALineAreRefused) {
  const std::string text = to_text(small_file(), {"for readers"});
  for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    std::string without = text;
    without.erase(begin, text.find('\n', begin) + 1 - begin);
    EXPECT_THAT(refusal(without), HasSubstr("plan.txt: line ")) << begin;
  }
}

TEST(PlanFiles, WithAFlippedByteAreRefused) {
  const std::string text = to_text(small_file(), {"for readers"});
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0, 1, 4, 7}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_THAT(refusal(flipped), HasSubstr("plan.txt: line ")) << at;
    }
  }
}

TEST(PlanFiles, RefusalsNameTheLine) {
  const std::string text = to_text(small_file());
  EXPECT_THAT(refusal(""), HasSubstr("line 1: unexpected end of file"));
  EXPECT_THAT(refusal("ply\n"), HasSubstr("line 1: expected 'convlab plan, format 1' as the first line"));
  EXPECT_THAT(refusal(changed(text, "device cpu", "device tpu")), HasSubstr("line 5: unknown device 'tpu'"));
  EXPECT_THAT(refusal(changed(text, "threads 2", "threads 0")), HasSubstr("line 7: "));
  EXPECT_THAT(refusal(changed(text, "threads 2", "threads 99999")), HasSubstr("line 7: "));
  EXPECT_THAT(refusal(changed(text, "small", "sm\tall")), HasSubstr("line 3: 'sm?all' has invalid characters"));
  EXPECT_THAT(refusal(changed(text, "batch 8\n", "batch 8\nconv x\n")),
              HasSubstr("line 12: expected 'plan ...', 'conv ...', 'op ...' or 'end ...', got 'conv x'"));
  EXPECT_THAT(refusal(changed(text, " channels", " rows")),
              HasSubstr("line 13: expected channels or images, got 'rows'"));
  EXPECT_THAT(refusal(changed(text, " channels", "")), HasSubstr("expected 'plan SHAPES FAMILY'"));
  EXPECT_THAT(refusal(changed(text, "next -", "after -")), HasSubstr("line 14: expected 'conv|op KERNEL"));
  EXPECT_THAT(refusal(changed(text, "cpu.nchw8c_direct", "-")), HasSubstr("line 15: next kernel or its time"));
  EXPECT_THAT(refusal(changed(text, "math bf16x2", "math int8")), HasSubstr("line 8: unknown math 'int8'"));
  EXPECT_THAT(refusal(changed(text, "mode folded", "mood folded")),
              HasSubstr("expected 'mode ...', got 'mood folded'"));
  EXPECT_THAT(refusal(changed(text, "8x3x9x7", "8x3x-9x7")), HasSubstr("line 13: "));
  EXPECT_THAT(refusal(changed(text, "only", "best")),
              HasSubstr("reason must be one of only, first, close, faster, got 'best'"));
  EXPECT_THAT(refusal(changed(text, "0.2500 ms", "nan ms")), HasSubstr("line 14: "));
  EXPECT_THAT(refusal(changed(text, "0.2500 ms", "0.2600 ms")), HasSubstr("the file was edited"));
  EXPECT_THAT(refusal(text + "more\n"), HasSubstr("text follows"));
}

TEST(Fingerprints, TellGraphsApartButNotWeights) {
  const auto fingerprint = [](int64_t maps, uint64_t seed, ActivationKind kind, const std::string& name) {
    GraphBuilder graph({-1, 1, 9, 9}, seed);
    graph.activation(graph.conv(graph.input(), maps, 1, 3, false, name), kind);
    return fingerprint_of(graph.graph());
  };
  const std::string one = fingerprint(4, 1, ActivationKind::relu, "conv");
  EXPECT_EQ(fingerprint(4, 2, ActivationKind::relu, "conv"), one);
  EXPECT_NE(fingerprint(5, 1, ActivationKind::relu, "conv"), one);
  EXPECT_NE(fingerprint(4, 1, ActivationKind::relu, "other"), one);
}

}  // namespace
}  // namespace convlab
