// Tests Records: JSON conversion, plausibility checks, sampling and parameter sweeps.

#include "convlab/measure/conv_arrays.h"
#include "convlab/measure/record.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "convlab/base/file.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/contention.h"
#include "convlab/measure/json_members.h"
#include "convlab/measure/measure.h"
#include "convlab/measure/sweep.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

Record some_record() {
  return {.kernel = "cuda.coarsened",
          .problem = "n2_c3h9w9_k4r3s3",
          .math = "fp32",
          .device = DeviceKind::cuda,
          .rung = 11,
          .epilogue = "bias+max2x2/2+relu",
          .layout = "nchw16n",
          .tuning = {{"block_rows", 4}},
          .choice = "FFT, searched for 3 ms",
          .cold_ms = summarize({3, 4}),
          .hot_ms = summarize({1, 2, 3}),
          .graph_ms = summarize({0.5, 1}),
          .graph = 10,
          .op_ms = summarize({5}),
          .prepare_ms = 0.5,
          .layer_ms = summarize({6, 7}),
          .computes_in_prolog = true,
          .gflops = 7,
          .gbps = 8,
          .bound_ms = 0.25,
          .share = 0.125,
          .limit = "memory",
          .ceilings = {.fp32_flops = 60e12,
                       .tf32_flops = 300e12,
                       .fp16_flops = 600e12,
                       .bf16_flops = 3e12,
                       .memory_bytes = 4e12,
                       .cache_bytes = 8e12,
                       .upload_bytes = 5e10,
                       .cache_size = int64_t{50} << 20},
          .machine = {.device = "a GPU", .cpu = "a CPU", .threads = 1, .system = "Linux 6", .driver = "580"},
          .build = {.version = "0.1.0", .compiler = "g++ 12.2.0", .cuda = "13.0", .type = "Release"},
          .before = {.clock_mhz = 1980, .power_w = 100, .load = 0.5},
          .after = {.clock_mhz = 1700, .throttle = {"power"}},
          .waited_share = 0.25,
          .when = "2026-01-31T12:00:00Z"};
}

TEST(Record, SurvivesJson) {
  const Record record = some_record();
  Record again = record_from_json(nlohmann::ordered_json::parse(to_json(record).dump()), "here");
  EXPECT_DOUBLE_EQ(again.ceilings.fp32_flops, record.ceilings.fp32_flops);
  EXPECT_DOUBLE_EQ(again.ceilings.tf32_flops, record.ceilings.tf32_flops);
  EXPECT_DOUBLE_EQ(again.ceilings.fp16_flops, record.ceilings.fp16_flops);
  EXPECT_DOUBLE_EQ(again.ceilings.bf16_flops, record.ceilings.bf16_flops);
  EXPECT_DOUBLE_EQ(again.ceilings.memory_bytes, record.ceilings.memory_bytes);
  EXPECT_DOUBLE_EQ(again.ceilings.cache_bytes, record.ceilings.cache_bytes);
  EXPECT_DOUBLE_EQ(again.ceilings.upload_bytes, record.ceilings.upload_bytes);
  EXPECT_EQ(again.ceilings.cache_size, record.ceilings.cache_size);
  again.ceilings = record.ceilings;  // all other members are equal bit for bit
  EXPECT_EQ(again, record);
}

TEST(Record, WhatIsMissingOrOfAnotherTypeIsNamed) {
  nlohmann::ordered_json json = to_json(some_record());
  const auto message = [&] { return bad_input_message([&] { record_from_json(json, "x.json, entry 3"); }); };
  json["hot_ms"].erase("median");
  EXPECT_THAT(message(), testing::AllOf(HasSubstr("x.json, entry 3.hot_ms"), HasSubstr("median")));
  json = to_json(some_record());
  json["rung"] = "eleven";
  EXPECT_THAT(message(), HasSubstr("rung"));
  json = to_json(some_record());
  json["device"] = "toaster";
  EXPECT_THAT(message(), HasSubstr("toaster"));
  json = 5;
  EXPECT_THAT(message(), HasSubstr("entry 3"));
}

TEST(Record, NumbersThatNoIntegerHoldsAreErrors) {
  const auto message = [&](const char* member, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = to_json(some_record());
    json[nlohmann::ordered_json::json_pointer(member)] = value;
    return bad_input_message([&] { record_from_json(json, "x.json, entry 3"); });
  };
  for (const double number : {1e300, -1e300, 2147483648.0, 1.5}) {
    EXPECT_THAT(message("/rung", number),
                testing::AllOf(HasSubstr("x.json, entry 3: 'rung'"), HasSubstr("2147483647")));
  }
  EXPECT_THAT(message("/rung", 2147483648),
              HasSubstr("'rung' must be an integer between -2147483648 and 2147483647, got 2147483648"));
  EXPECT_THAT(message("/rung", std::numeric_limits<uint64_t>::max()), HasSubstr("rung"));
  EXPECT_THAT(message("/tuning/block_rows", 1e300), HasSubstr("block_rows"));
  EXPECT_THAT(message("/ceilings/cache_mib", 1e300), HasSubstr("cache_mib"));
}

TEST(JsonMembers, WholeNumbersAreReadInAnyForm) {
  const auto json = nlohmann::ordered_json::parse(
      R"({"plain": -7, "real": 3.0, "most": 9223372036854775807, "least": -9223372036854775808,
          "beyond": 9223372036854775808, "real_least": -9223372036854775808.0, "real_beyond": 9223372036854775808.0})");
  const JsonMembers members(json, "here");
  int64_t value = 0;
  const auto read = [&](const char* name) { return members.read(name, value), value; };
  EXPECT_EQ(read("plain"), -7);
  EXPECT_EQ(read("real"), 3);
  EXPECT_EQ(read("most"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(read("least"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(read("real_least"), std::numeric_limits<int64_t>::min());
  for (const char* name : {"beyond", "real_beyond"}) {
    EXPECT_THAT(bad_input_message([&] { read(name); }), HasSubstr(name));
  }
  int few = 0;
  EXPECT_THAT(bad_input_message([&] { members.read("most", few); }), HasSubstr("between -2147483648 and 2147483647"));
}

TEST(Record, FilesThatHoldNoneAreErrors) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "records.json").string();
  for (const char* text : {"", "{}", "[1]", "[{\"kernel\": 5}]", "[[[[", "\xff\xfe"}) {
    write_file(path, std::string_view(text));
    EXPECT_THAT(bad_input_message([&] { read_records(path); }), HasSubstr(path)) << text;
  }
  write_file(path, "[" + to_json(some_record()).dump() + "]");
  EXPECT_EQ(read_records(path).size(), 1U);
}

TEST(Measure, TellsWhatAKernelTook) {
  const auto device = open_device("cpu", {.threads = 1});
  const ConvStep step{parse_problem("n2_c3h12w12_k4r3s3")};
  Oracle oracle(1);
  ConvArrays arrays(*device, step, timed_layer(step, oracle));
  const Kernel& kernel = require_conv_kernel("cpu.direct", DeviceKind::cpu);
  const Ceilings fast{.fp32_flops = 1e15, .memory_bytes = 1e15, .cache_bytes = 1e15, .cache_size = 1};
  const Effort effort{.seconds = 0.01, .least = 5, .most = 20};
  const Record record = measure(kernel, arrays, fast, effort);
  EXPECT_EQ(record.kernel, "cpu.direct");
  EXPECT_EQ(record.problem, "n2_c3h12w12_k4r3s3");
  EXPECT_GE(record.hot_ms.samples.size(), 5U);
  EXPECT_EQ(record.op_ms.samples.size(), record.hot_ms.samples.size());
  for (size_t i = 0; i < record.hot_ms.samples.size(); ++i) {
    EXPECT_LE(record.hot_ms.samples[i], record.op_ms.samples[i]) << "the device's time is part of the Op Time";
  }
  EXPECT_GT(record.gflops, 0);
  EXPECT_NEAR(record.share * record.hot_ms.median, record.bound_ms, 1e-12);
}

TEST(Measure, RefusesWhatThisMachineCannotDo) {
  const auto device = open_device("cpu", {.threads = 1});
  const ConvStep step{parse_problem("n2_c3h12w12_k4r3s3")};
  Oracle oracle(1);
  ConvArrays arrays(*device, step, timed_layer(step, oracle));
  const Kernel& kernel = require_conv_kernel("cpu.direct", DeviceKind::cpu);
  const Ceilings slow{.fp32_flops = 1e6, .memory_bytes = 1e6, .cache_bytes = 1e6, .cache_size = 1};
  constexpr int kMostAttempts = 20;  // on a busy machine nothing is rejected
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    try {
      const Record record = measure(kernel, arrays, slow, {.seconds = 0.01, .least = 5, .most = 20});
      ASSERT_TRUE(record.waited_share && *record.waited_share > kBusy) << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
      EXPECT_THAT(error.what(), HasSubstr("below the bound"));
      return;
    }
  }
  GTEST_SKIP() << "the machine is busy";
}

TEST(Measure, SamplesUntilItIsEnough) {
  int calls = 0;
  const auto constant = [&](bool) { return ++calls, 1.0; };
  EXPECT_EQ(sample({.spread = 0.1, .seconds = 10, .least = 10, .most = 100}, constant).samples.size(), 10U);
  const auto noisy = [&](bool) { return ++calls % 2 == 0 ? 1.0 : 100.0; };
  EXPECT_EQ(sample({.spread = 0.001, .seconds = 10, .least = 10, .most = 37}, noisy).samples.size(), 37U);
  EXPECT_EQ(sample({.spread = 0, .seconds = 0, .least = 3, .most = 37}, noisy).samples.size(), 1U)
      << "no patience at all";
  std::vector<bool> ends;
  const auto recorded = [&](bool end) { return ends.push_back(end), 1.0; };
  sample({.spread = 0.1, .seconds = 10, .least = 4, .most = 5}, recorded);
  EXPECT_EQ(ends, (std::vector<bool>{true, false, false, false, true}));
  ends.clear();
  sample({.spread = 0.1, .seconds = 10, .least = 10, .most = 1}, recorded);
  EXPECT_EQ(ends, (std::vector<bool>{true}));
}

TEST(Sweep, GridHasEveryCombination) {
  constexpr int kRows[] = {1, 2}, kColumns[] = {3, 4, 5};
  const Tunable tunables[] = {{"rows", kRows, 1}, {"columns", kColumns, 4}};
  const std::vector<std::vector<int>> grid = tuning_grid(tunables);
  ASSERT_EQ(grid.size(), 6U);
  EXPECT_EQ(grid.front(), (std::vector<int>{1, 3}));
  EXPECT_EQ(grid[1], (std::vector<int>{1, 4}));
  EXPECT_EQ(grid.back(), (std::vector<int>{2, 5}));
  EXPECT_EQ(tuning_grid({}).size(), 1U);
}

}  // namespace
}  // namespace convlab
