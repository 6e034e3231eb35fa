// Tests launch lists: serialization, validation, and comparison of two recordings.

#include "convlab/judge/launch_list.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "convlab/base/json.h"
#include "convlab/judge/recording.h"
#include "tests/support/thrown_errors.h"

namespace convlab::judge {
namespace {

using testing::HasSubstr;
using Kind = Operation::Kind;

const ConvProblem kProblem = parse_problem("n2_c1h4w4_k3r3s3");  // bytes: x 128, w 108, y 96
constexpr int64_t kMemory = 1 << 20;

Operation operation(Kind kind, int array, int64_t bytes) {
  Operation op;
  op.kind = kind;
  op.array = array;
  op.bytes = bytes;
  return op;
}

/// Copies x to the device, launches a kernel and copies y back.
LaunchList some_list() {
  LaunchList list;
  list.operations = {operation(Kind::allocate, 3, 128), operation(Kind::allocate, 4, 96),
                     operation(Kind::upload, 3, 128)};
  list.operations.back().source.kind = HostBytes::Kind::x;
  Operation launch = operation(Kind::launch, -1, 0);
  launch.symbol = "_Z6kernelPf";
  launch.invoke = "_Z6invokePKv";
  launch.argument_bytes = 24;
  launch.arguments = {{.place = 8, .bytes = std::string(8, '\0'), .pointers = {{.at = 0, .array = 4, .offset = 16}}},
                      {.place = 16, .bytes = "\x01\xff\x7f\x20", .pointers = {}}};
  launch.stream = 1;
  list.operations.push_back(launch);
  list.operations.push_back(operation(Kind::download, 4, 96));
  list.operations.push_back(operation(Kind::release, 4, 0));
  list.output = {{.download = 0, .offset = 0, .bytes = 96}};
  return list;
}

/// y = w * x, twice: two 3 x 3 matrices times two 3 x 4 matrices.
LaunchList list_with_product() {
  LaunchList list;
  list.on_device = true;
  Operation op;
  op.kind = Kind::multiply;
  op.product = {.m = 4,
                .n = 3,
                .k = 3,
                .count = 2,
                .alpha = 0.1f,
                .beta = -0.0f,
                .a = {.leading = 4, .stride = 16},
                .b = {.leading = 3, .stride = 9, .transposed = true},
                .c = {.leading = 4, .stride = 12}};
  op.a = {kArrayX, 16};
  op.b = {kArrayW, 0};
  op.c = {kArrayY, 0};
  list.operations = {op};
  return list;
}

int64_t peak_memory_kb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string refusal(const std::function<void(LaunchList&)>& change) {
  LaunchList list = some_list();
  change(list);
  return bad_input_message([&] { read_list(list_text(list), kProblem, kMemory); });
}

TEST(LaunchList, ComesBackFromJson) { EXPECT_EQ(read_list(list_text(some_list()), kProblem, kMemory), some_list()); }

TEST(LaunchList, ComesBackFromJsonWithAProduct) {
  const LaunchList list = list_with_product();
  EXPECT_EQ(read_list(list_text(list), kProblem, kMemory), list);
  LaunchList other = list;
  other.operations[0].product.alpha = 0.2f;
  EXPECT_THAT(difference(list, other), HasSubstr("a cuBLAS matrix product is different"));
}

TEST(LaunchList, IsRefusedWhereAProductMakesNoSense) {
  const auto refusal = [](const std::function<void(Operation&)>& change) {
    LaunchList list = list_with_product();
    change(list.operations[0]);
    return bad_input_message([&] { read_list(list_text(list), kProblem, kMemory); });
  };
  constexpr int kHuge = std::numeric_limits<int>::max();
  for (int simt::Product::*size : {&simt::Product::m, &simt::Product::n, &simt::Product::k, &simt::Product::count}) {
    for (const int wild : {0, -1, -kHuge - 1}) {
      EXPECT_THAT(refusal([&](Operation& op) { op.product.*size = wild; }), HasSubstr(std::to_string(wild)));
    }
    EXPECT_NE(refusal([&](Operation& op) { op.product.*size = kHuge; }), "");
  }
  for (simt::ProductMatrix simt::Product::*matrix : {&simt::Product::a, &simt::Product::b, &simt::Product::c}) {
    EXPECT_THAT(refusal([&](Operation& op) { (op.product.*matrix).leading = 2; }), HasSubstr("leading dimension is 2"));
    EXPECT_THAT(refusal([&](Operation& op) { (op.product.*matrix).leading = -kHuge; }), HasSubstr("leading dimension"));
    EXPECT_THAT(refusal([&](Operation& op) { (op.product.*matrix).leading = kHuge; }), HasSubstr("end of an array"));
    EXPECT_THAT(refusal([&](Operation& op) { (op.product.*matrix).stride = -1; }), HasSubstr("stride"));
    EXPECT_THAT(refusal([&](Operation& op) { (op.product.*matrix).stride = INT64_MAX; }), HasSubstr("64 bits"));
  }
  for (MatrixPlace Operation::*place : {&Operation::a, &Operation::b, &Operation::c}) {
    EXPECT_THAT(refusal([&](Operation& op) { (op.*place).array = -1; }), HasSubstr("array does not exist"));
    EXPECT_THAT(refusal([&](Operation& op) { (op.*place).array = kFirstArray; }), HasSubstr("array does not exist"));
    for (const int64_t wild : {int64_t{-4}, int64_t{128}, INT64_MAX, INT64_MIN}) {
      EXPECT_THAT(refusal([&](Operation& op) { (op.*place).offset = wild; }), HasSubstr("end of an array"));
    }
  }
  EXPECT_THAT(refusal([](Operation& op) { op.a.offset = 2; }), HasSubstr("aligned"));
  EXPECT_THAT(refusal([](Operation& op) { op.product.c.stride = 0; }), HasSubstr("results overlap"));
  EXPECT_THAT(refusal([](Operation& op) { op.product.c.transposed = true; }), HasSubstr("transposed"));
  EXPECT_THAT(refusal([](Operation& op) { op.c.array = kArrayX; }), HasSubstr("its input x"));
  Json json = parse_json(list_text(list_with_product()), "list");
  json["operations"][0]["product"]["alpha"] = 1e300;
  EXPECT_THAT(bad_input_message([&] { read_list(json_text(json, -1), kProblem, kMemory); }),
              HasSubstr("must be a finite float"));
  json["operations"][0].erase("product");
  EXPECT_THAT(bad_input_message([&] { read_list(json_text(json, -1), kProblem, kMemory); }), HasSubstr("product"));
}

TEST(LaunchList, IsRefusedWhereItMakesNoSense) {
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[2].bytes = 129; }), HasSubstr("end of an array"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[2].offset = -1; }), HasSubstr("end of an array"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[2].offset = INT64_MAX; }), HasSubstr("end of an array"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[2].source.offset = 4; }), HasSubstr("end of x"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[2].array = 5; }), HasSubstr("array does not exist"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[2].array = kArrayX; }), HasSubstr("array does not exist"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[0].array = 9; }), HasSubstr("numbered consecutively"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[0].bytes = kMemory; }), HasSubstr("more memory"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].block = {1025, 1, 1}; }), HasSubstr("1025"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].grid = {0, 1, 1}; }), HasSubstr("grid"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].shared_bytes = -1; }), HasSubstr("shared"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].argument_bytes = 12; }), HasSubstr("argument"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].arguments[0].pointers[0].at = 1; }), HasSubstr("pointer"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].arguments[0].pointers[0].offset = 97; }),
              HasSubstr("end of an array"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.operations[3].symbol = ""; }), HasSubstr("without a kernel"));
  EXPECT_THAT(refusal([](LaunchList& l) { std::swap(l.operations[4], l.operations[5]); }), HasSubstr("was freed"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.output[0].download = 1; }), HasSubstr("copied to the host"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.output[0].bytes = 92; }), HasSubstr("all of y"));
  EXPECT_THAT(refusal([](LaunchList& l) { l.output.push_back({.bytes = 4}); }), HasSubstr("all of y"));
  Json json = parse_json(list_text(some_list()), "list");
  json["operations"][0]["kind"] = "run";
  EXPECT_THAT(bad_input_message([&] { read_list(json_text(json, -1), kProblem, kMemory); }), HasSubstr("'run'"));
  json = parse_json(list_text(some_list()), "list");
  json["operations"][3]["arguments"][0]["bytes"] = "0x";
  EXPECT_THAT(bad_input_message([&] { read_list(json_text(json, -1), kProblem, kMemory); }), HasSubstr("hexadecimal"));
}

TEST(LaunchList, OfOtherFormsIsRefusedBeforeItTakesMemory) {
  const auto refusal = [](const std::string& text) {
    return bad_input_message([&] { read_list(text, kProblem, kMemory); });
  };
  const auto many = [](std::string_view what) {
    std::string text;
    for (int i = 0; i < 500'000; ++i) text += what;
    return text + "{}]}";
  };
  const int64_t before_kb = peak_memory_kb();
  EXPECT_THAT(refusal(R"({"on_device":true,"operations":[)" + many("[],")),
              HasSubstr("elements of 'operations' must be JSON objects"));
  EXPECT_THAT(refusal(R"({"on_device":true,"operations":[)" + many("{},")), HasSubstr("member 'kind' is missing"));
  EXPECT_THAT(refusal(R"({"on_device":true,"operations":[{"kind":[)" + many("[],")),
              HasSubstr("more than 1000 values"));
  EXPECT_THAT(refusal(R"({"on_device":true,"else":[)" + many("{},")), HasSubstr("more than 1000 values"));
  EXPECT_THAT(refusal(many("[")), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refusal(R"({"else":)" + many("[")), HasSubstr("nested deeper than"));
  EXPECT_LT(peak_memory_kb() - before_kb, 15'000) << "the texts themselves are of 1.5 MB";
  std::string members;
  for (int i = 0; i < 200; ++i) members += std::to_string(i).insert(0, "\"").append("\":1,");
  EXPECT_THAT(refusal("{" + members + "\"operations\":[]}"), HasSubstr("more than 100 members"));
  EXPECT_THAT(refusal(R"({"on_device":true})"), HasSubstr("member 'operations' is missing"));
  EXPECT_THAT(refusal(R"({"on_device":1e999})"), HasSubstr("invalid JSON"));
}

TEST(LaunchList, HoldsNoTableInPlaceOfY) {
  const Operation allocate = operation(Kind::allocate, kFirstArray, 1 << 20);
  Operation upload = operation(Kind::upload, kFirstArray, 1 << 20);
  upload.source = {.kind = HostBytes::Kind::literal, .literal = std::string(1 << 20, '\0')};
  LaunchList list{.on_device = true, .operations = {allocate, upload}};
  EXPECT_EQ(read_list(list_text(list), kProblem, 1 << 24).operations.size(), 2u) << "zeros";
  std::ranges::fill_n(list.operations[1].source.literal.begin(), kMostOwnBytes, '\1');
  EXPECT_EQ(read_list(list_text(list), kProblem, 1 << 24).operations.size(), 2u);
  list.operations[1].source.literal.back() = '\1';
  EXPECT_THAT(bad_input_message([&] { read_list(list_text(list), kProblem, 1 << 24); }),
              HasSubstr("64 KiB of its own data"));
}

TEST(LaunchList, MayNotWriteToItsInput) {
  LaunchList list;
  list.on_device = true;
  list.operations = {operation(Kind::fill, kArrayW, 4)};
  EXPECT_THAT(bad_input_message([&] { read_list(list_text(list), kProblem, kMemory); }), HasSubstr("its input w"));
}

TEST(LaunchList, DifferencesAreToldInWords) {
  LaunchList other = some_list();
  EXPECT_EQ(difference(some_list(), other), "");
  other.operations[2].source = {.kind = HostBytes::Kind::literal, .literal = std::string(128, 'x')};
  EXPECT_THAT(difference(some_list(), other), HasSubstr("the host copies values to the device that it computed"));
  other = some_list();
  other.operations[3].grid = {2, 1, 1};
  EXPECT_THAT(difference(some_list(), other), HasSubstr("a different grid, block or shared memory size"));
  other = some_list();
  other.operations.pop_back();
  EXPECT_THAT(difference(some_list(), other), HasSubstr("different numbers of operations"));
}

TEST(TellingWords, TellTheirNumbers) {
  for (const uint32_t key : {0u, 1u, 0xdeadbeefu}) {
    const TellingWords words(key);
    for (const uint32_t number : {0u, 1u, 2u, 77777u, 0x80000000u, 0xffffffffu}) {
      EXPECT_EQ(words.number(words.word(number)), number);
    }
  }
  EXPECT_NE(TellingWords(1).word(5), TellingWords(2).word(5));
}

TEST(ListRecorder, KnowsWhereBytesComeFrom) {
  ListRecorder recorder(kProblem, 1);
  std::vector<float> x(32), w(27), y(24, 0.0f);
  recorder.fill_x(x);
  recorder.fill_w(w);
  void* const array = recorder.allocate(128, "device_x");
  recorder.copy_to_device(array, x.data() + 2, 100);
  recorder.copy_to_device(array, w.data(), 8);
  const int constants[2] = {3, 4};
  recorder.copy_to_device(static_cast<char*>(array) + 64, constants, sizeof(constants));
  recorder.copy_to_host(y.data(), array, 96);
  const LaunchList list = recorder.finish(y, 0);
  ASSERT_EQ(list.operations.size(), 5u);
  EXPECT_EQ(list.operations[1].source, (HostBytes{.kind = HostBytes::Kind::x, .offset = 8}));
  EXPECT_EQ(list.operations[2].source.kind, HostBytes::Kind::w);
  EXPECT_EQ(list.operations[3].source.literal.size(), 8u);
  EXPECT_EQ(list.operations[3].offset, 64);
  EXPECT_EQ(list.output, std::vector({OutputPiece{.download = 0, .offset = 0, .bytes = 96}}));
  EXPECT_EQ(read_list(list_text(list), kProblem, kMemory), list);
}

TEST(ListRecorder, KnowsWhereMatricesLie) {
  ListRecorder recorder(kProblem, 1);
  recorder.put_arrays_on_device();
  simt::Product product = list_with_product().operations[0].product;
  product.a.data = recorder.device_x() + 4;
  product.b.data = recorder.device_w();
  product.c.data = recorder.device_y();
  recorder.multiply(product);
  EXPECT_EQ(recorder.finish({}, 0), list_with_product());
  product.b.data = &product;
  recorder.multiply(product);
  EXPECT_THAT(bad_input_message([&] { recorder.finish({}, 0); }), HasSubstr("not in allocated device memory"));
}

TEST(ListRecorder, RefusesAnOutputThatTheHostWrites) {
  ListRecorder recorder(kProblem, 1);
  const std::vector<float> y(24, 1.5f);
  EXPECT_THAT(bad_input_message([&] { recorder.finish(y, 0); }), HasSubstr("the host writes y[0] itself"));
}

}  // namespace
}  // namespace convlab::judge
