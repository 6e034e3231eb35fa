// Tests the library as programs use it: only its public headers and its one exported symbol.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <convlab/convlab.hpp>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/paths.h"

namespace {

using convlab::Float16;
using convlab::MutableView;
using convlab::Options;
using convlab::Session;
using convlab::Shape;
using convlab::Tensor;
using convlab::View;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kModel = convlab::source_folder() / "models/fa19.onnx";

const convlab_api& api() { return *convlab_get_api(CONVLAB_API_VERSION); }

/// Returns `n` images for fa19 with pixels that all differ.
Tensor images(int64_t n) {
  Tensor x = Tensor::of<float>({n, 1, 70, 70});
  uint32_t state = 1;
  for (float& pixel : x.values<float>()) {
    state = state * 1664525u + 1013904223u;
    pixel = static_cast<float>(state >> 8) / (1 << 24);
  }
  return x;
}

std::vector<float> numbers(const Tensor& tensor) {
  const std::span<const float> values = tensor.values<float>();
  return {values.begin(), values.end()};
}

/// Returns the message of the Error that `work` throws, or "no error".
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const convlab::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Library, Float16IsBinary16) {
  EXPECT_EQ(Float16(1).bits, 0x3c00);
  EXPECT_EQ(Float16(-2).bits, 0xc000);
  EXPECT_EQ(Float16(65504).bits, 0x7bff);
  EXPECT_EQ(Float16(65520).bits, 0x7c00) << "rounds to infinity";
  EXPECT_EQ(Float16(1 + 0x1p-11f).bits, 0x3c00) << "a tie, to even";
  EXPECT_EQ(Float16(1 + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);
  EXPECT_EQ(Float16(0x1p-26f).bits, 0);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::numeric_limits<float>::quiet_NaN()))));
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(Float16(value).bits, bits) << value;
  }
}

TEST(Library, ConvertsFloat16) {
  Session session(kModel, {.device = "cpu"});
  const Tensor x = images(2);
  Tensor half = Tensor::of<Float16>(x.shape()), rounded = Tensor::of<float>(x.shape());
  EXPECT_EQ(half.type(), CONVLAB_FLOAT16);
  for (size_t i = 0; i < x.count(); ++i) {
    half.values<Float16>()[i] = Float16(x.values<float>()[i]);
    rounded.values<float>()[i] = static_cast<float>(half.values<Float16>()[i]);
  }
  EXPECT_EQ(numbers(session.run(half)), numbers(session.run(rounded)));
}

TEST(Library, DescribesAModel) {
  const Session session(kModel, {.device = "cpu"});
  ASSERT_THAT(session.inputs(), SizeIs(1));
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(-1, 1, 70, 70));
  EXPECT_EQ(session.inputs()[0].type, CONVLAB_FLOAT32);
  ASSERT_THAT(session.outputs(), SizeIs(1));
  EXPECT_THAT(session.device(), HasSubstr("thread"));
}

TEST(Library, ComputesImagesTogetherAsEachByItself) {
  Session session(kModel, {.device = "cpu"});
  const Tensor x = images(5);
  const Tensor together = session.run(x);
  ASSERT_THAT(together.shape(), ElementsAre(5, 10));
  for (int64_t image = 0; image < 5; ++image) {
    const Shape shape{1, 1, 70, 70};
    const Tensor alone = session.run(View(x.values<float>().subspan(static_cast<size_t>(image * 4900), 4900), shape));
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(alone.values<float>()[i], together.values<float>()[static_cast<size_t>(image) * 10 + i], 1e-5);
    }
  }
}

TEST(Library, TakesBytesAsTheirValues) {
  Session session(kModel, {.device = "cpu"});
  Tensor bytes = Tensor::of<uint8_t>({3, 1, 70, 70}), floats = Tensor::of<float>({3, 1, 70, 70});
  Tensor doubles = Tensor::of<double>({3, 1, 70, 70});
  for (size_t i = 0; i < bytes.count(); ++i) {
    bytes.values<uint8_t>()[i] = static_cast<uint8_t>(i * 37 % 251);
    floats.values<float>()[i] = bytes.values<uint8_t>()[i];
    doubles.values<double>()[i] = bytes.values<uint8_t>()[i];
  }
  const std::vector<float> wanted = numbers(session.run(floats));
  EXPECT_EQ(numbers(session.run(doubles)), wanted);
  EXPECT_THAT(numbers(session.run(bytes)), testing::Pointwise(testing::FloatNear(1e-5f), wanted));
}

TEST(Library, WritesToAProgramsOwnArray) {
  Session session(kModel, {.device = "cpu"});
  const Tensor x = images(4), wanted = session.run(x);
  std::vector<float> y(41, -1);
  const Shape shape{4, 10};
  session.run(x, MutableView(std::span(y).first(40), shape));
  EXPECT_EQ(std::vector(y.begin(), y.end() - 1), numbers(wanted));
  EXPECT_EQ(y.back(), -1) << "the library writes behind the array";
}

TEST(Library, MovedTensorsAreEmpty) {
  Tensor x = images(1);
  const Tensor taken = std::move(x), none;
  EXPECT_EQ(taken.count(), 4900u);
  EXPECT_THAT(x.values<float>(), SizeIs(0));  // NOLINT: that it may be used is what is tested
  EXPECT_THAT(none.values<float>(), SizeIs(0));
}

TEST(Library, TellsAPlanAndWhatItTakes) {
  Session session(kModel, {.device = "cpu"});
  const Tensor x = images(2);
  EXPECT_THAT(session.plan(x), HasSubstr("\"kernel\""));
  EXPECT_THAT(session.profile(x, 2), HasSubstr("\"seconds\""));
}

TEST(Library, SaysWhatIsWrong) {
  EXPECT_THAT(error_of([] { Session("nothing.onnx", {.device = "cpu"}); }), HasSubstr("nothing.onnx"));
  EXPECT_THAT(error_of([] { Session(kModel, {.device = "gpu"}); }), HasSubstr("gpu"));
  Session session(kModel, {.device = "cpu"});
  EXPECT_THAT(error_of([&] { session.run(Tensor::of<float>({1, 1, 7, 7})); }), HasSubstr("1x1x7x7"));
  EXPECT_THAT(error_of([&] { session.run(Tensor::of<float>({1, 3, 70, 70})); }), HasSubstr("1x3x70x70"));
  EXPECT_THAT(error_of([&] { session.run(std::span<const View>()); }), HasSubstr("wrong number of inputs: expected 1"));
  const Tensor x = images(2);
  Tensor small = Tensor::of<float>({1, 10}), whole = Tensor::of<int64_t>({2, 10});
  EXPECT_THAT(error_of([&] { session.run(x, small); }), HasSubstr("must be float32 2x10, got float32 1x10"));
  EXPECT_THAT(error_of([&] { session.run(x, whole); }), HasSubstr("must be float32 2x10, got int64 2x10"));
  EXPECT_THAT(error_of([&] { static_cast<void>(View(std::span<const float>(), Shape{2, 2})); }), HasSubstr("0 values"));
  EXPECT_THAT(error_of([] { Tensor::of<float>({1, -1}); }), HasSubstr("below 0"));
  EXPECT_THAT(error_of([] { Tensor::of<float>({int64_t{1} << 40, int64_t{1} << 40}); }), HasSubstr("more elements"));
  EXPECT_THAT(error_of([&] {
                session.run(Tensor::of<float>({0, 1, 70, 70}));
              }),
              HasSubstr("number of images must be at least 1"));
  EXPECT_THAT(numbers(session.run(x)), SizeIs(20)) << "a session serves on after errors";
}

TEST(Library, TellsAGpusArraysFromTheHosts) {
  Session session(kModel, {.device = "cpu"});
  EXPECT_EQ(session.device_name(), "cpu");
  Tensor x = images(2), y = session.run(x);
  const Shape given{2, 1, 70, 70}, wanted{2, 10};
  const View there = View::on_device(x.values<float>().data(), given);
  const MutableView result = MutableView::on_device(y.values<float>().data(), wanted);
  EXPECT_THAT(error_of([&] { session.run(there, result); }), HasSubstr("in GPU memory, but the session runs on cpu"));
  EXPECT_THAT(error_of([&] { session.run(x, result); }), HasSubstr("all in host memory or all in GPU memory"));
  int stream = 0;
  EXPECT_THAT(error_of([&] { session.run(x, y, &stream); }), HasSubstr("with a stream"));
}

// After fork(), a child has neither its parent's threads nor its GPU context. It must get an error and must not wait
// for them.
TEST(Library, TellsAForkedChildThatTheSessionIsItsParents) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer ends a forked child that starts threads";
#endif
  auto session = std::make_unique<Session>(kModel, Options{.device = "cpu", .threads = 2});
  const Tensor x = images(2);
  session->run(x);
  EXPECT_EXIT(
      {
        const std::string text = error_of([&] { session->run(x); });
        const std::string of_another = error_of([&] { session->clone({.device = "cpu"}); });
        session.reset();
        Session own(kModel, {.device = "cpu", .threads = 2});
        own.run(x);
        const bool got_errors = text.find("before this process was forked") != std::string::npos && of_another == text;
        std::_Exit(got_errors ? 0 : 1);  // not a leak: the remaining objects belong to the parent
      },
      testing::ExitedWithCode(0), "");
  session->run(x);
}

// Concurrent calls, some with images that can be batched and some that cannot.
TEST(Library, GathersCallsOfThreads) {
  using std::chrono::microseconds;
  Session alone(kModel, {.device = "cpu"});
  Session together(kModel, {.device = "cpu", .threads = 2, .batch_wait = microseconds(2000), .batch_images = 8});
  std::vector<Tensor> inputs, wanted;
  for (const int64_t n : {1, 2, 3, 4, 5, 9}) {
    Tensor& x = inputs.emplace_back(images(n));
    for (float& value : x.values<float>()) value += static_cast<float>(n);
    wanted.push_back(alone.run(x));
  }
  std::atomic<int> wrong = 0, refused = 0;
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 24; ++i) {
        const size_t which = (thread + i) % inputs.size();
        const std::vector<float> y = numbers(together.run(inputs[which])), right = numbers(wanted[which]);
        for (size_t value = 0; value < right.size(); ++value) wrong += !(std::abs(y[value] - right[value]) <= 1e-5f);
        if (i % 5 == 0) refused += !error_of([&] { together.run(Tensor::of<float>({1, 1, 7, 7})); }).empty();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, 8 * 5);
  EXPECT_THAT(error_of([] { Session(kModel, {.device = "cpu", .batch_wait = microseconds(-1)}); }),
              HasSubstr("got -1 and"));
}

// A single call waits exactly the given time. A call with a full batch does not wait.
TEST(Library, GathersNoLongerThanSaid) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kWait{300};
  Session session(kModel, {.device = "cpu", .batch_wait = kWait, .batch_images = 4});
  const Tensor one = images(1), four = images(4);
  session.run(one);  // the session learns its images' shape from the first call
  const auto seconds = [&](const Tensor& x) {
    const auto begin = Clock::now();
    session.run(x);
    return Clock::now() - begin;
  };
  EXPECT_GE(seconds(one), kWait);
  EXPECT_LT(seconds(four), kWait);
}

// A NaN is not an error. It propagates as the network's arithmetic defines.
TEST(Library, PassesNaNOn) {
  Session session(kModel, {.device = "cpu"});
  Tensor x = images(2);
  x.values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const Tensor y = session.run(x);
  EXPECT_THAT(numbers(y), testing::Contains(testing::IsNan()));
  EXPECT_FALSE(std::isnan(y.values<float>()[10])) << "of the other image";
}

TEST(Library, ServesThreadsAtOnce) {
  Session session(kModel, {.device = "cpu", .threads = 2});
  std::vector<Tensor> inputs, wanted;
  for (const int64_t n : {1, 2, 3, 17}) {
    inputs.push_back(images(n));
    wanted.push_back(session.run(inputs.back()));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const size_t which = (thread + static_cast<size_t>(i)) % inputs.size();
        if (numbers(session.run(inputs[which])) != numbers(wanted[which])) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// Sessions with one thread each run concurrently, one per caller thread.
TEST(Library, AnotherSessionServesAnotherThread) {
  auto session = std::make_unique<Session>(kModel, Options{.device = "cpu", .threads = 1});
  std::vector<Session> others;
  for (int i = 0; i < 3; ++i) others.push_back(session->clone({.device = "cpu", .threads = 1}));
  const Tensor x = images(3);
  const std::vector<float> wanted = numbers(session->run(x));
  others.push_back(others.back().clone({.device = "cpu", .plan = convlab::Plan::layers}));
  session.reset();
  std::atomic<int> right = 0;
  std::vector<std::jthread> threads;
  for (Session& other : others) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const std::vector<float> y = numbers(other.run(x));
        right += std::ranges::equal(y, wanted, [](float a, float b) { return std::abs(a - b) < 1e-4f; });
      }
    });
  }
  threads.clear();
  EXPECT_EQ(right, 4 * 5);
  EXPECT_THAT(error_of([&] { others[0].clone({.device = "tpu"}); }), HasSubstr("tpu"));
}

TEST(Library, AnotherSessionIsAsTheFirstWhereItIsNotToldOtherwise) {
  const Tensor x = images(2);
  Session session(kModel, {.device = "cpu", .math = convlab::Math::bf16, .plan = convlab::Plan::layers});
  Session alike = session.clone(), fused = session.clone({.plan = convlab::Plan::fused});
  EXPECT_EQ(alike.device_name(), "cpu");
  EXPECT_EQ(alike.plan(x), session.plan(x));
  EXPECT_EQ(numbers(alike.run(x)), numbers(session.run(x)));
  EXPECT_NE(fused.plan(x), session.plan(x));
  EXPECT_EQ(session.clone({.math = convlab::Math::fp32}).plan(x),
            Session(kModel, {.device = "cpu", .plan = convlab::Plan::layers}).plan(x));
}

TEST(LibraryTable, IsThereForItsVersionsOnly) {
  EXPECT_EQ(convlab_get_api(0), nullptr);
  EXPECT_EQ(convlab_get_api(CONVLAB_API_VERSION + 1), nullptr);
  ASSERT_NE(convlab_get_api(1), nullptr);
  EXPECT_EQ(api().version, CONVLAB_API_VERSION);
  EXPECT_STREQ(api().library_version(), CONVLAB_VERSION);
}

// The layout of the API table is fixed: programs compiled with an earlier header find each member at its old offset.
TEST(LibraryTable, KeepsEverythingInItsPlace) {
  const size_t places[] = {offsetof(convlab_api, version),      offsetof(convlab_api, library_version),
                           offsetof(convlab_api, last_error),   offsetof(convlab_api, open),
                           offsetof(convlab_api, close),        offsetof(convlab_api, device),
                           offsetof(convlab_api, device_name),  offsetof(convlab_api, input_count),
                           offsetof(convlab_api, output_count), offsetof(convlab_api, input),
                           offsetof(convlab_api, output),       offsetof(convlab_api, output_shapes),
                           offsetof(convlab_api, run),          offsetof(convlab_api, plan),
                           offsetof(convlab_api, profile),      offsetof(convlab_api, free_text),
                           offsetof(convlab_api, clone)};
  for (size_t i = 0; i < std::size(places); ++i) EXPECT_EQ(places[i], i * sizeof(void*)) << i;
  EXPECT_EQ(offsetof(convlab_options, threads), 3 * sizeof(void*));
  EXPECT_EQ(offsetof(convlab_options, batch_images), 3 * sizeof(void*) + 8);
  EXPECT_EQ(offsetof(convlab_array, memory), sizeof(void*) + 4);
  EXPECT_EQ(offsetof(convlab_array, shape), sizeof(void*) + 16);
  EXPECT_EQ(offsetof(convlab_value, shape), sizeof(void*) + 8);
  EXPECT_EQ(CONVLAB_INT64, 6);
  EXPECT_EQ(CONVLAB_FAILED, 4);
}

TEST(LibraryTable, TakesNothingForWhatMustBeGiven) {
  convlab_session* session = nullptr;
  EXPECT_EQ(api().open(nullptr, nullptr, &session), CONVLAB_BAD_INPUT);
  EXPECT_EQ(api().open(kModel.c_str(), nullptr, nullptr), CONVLAB_BAD_INPUT);
  convlab_options options{};
  options.device = "cpu";
  options.threads = -1;
  EXPECT_EQ(api().open(kModel.c_str(), &options, &session), CONVLAB_BAD_INPUT);
  EXPECT_THAT(api().last_error(), HasSubstr("threads must be at least 0, got -1"));
  EXPECT_EQ(session, nullptr);
  options.threads = 1;
  ASSERT_EQ(api().open(kModel.c_str(), &options, &session), CONVLAB_OK);
  EXPECT_EQ(api().clone(nullptr, &options, &session), CONVLAB_BAD_INPUT);
  EXPECT_EQ(api().clone(session, &options, nullptr), CONVLAB_BAD_INPUT);
  convlab_value value;
  EXPECT_EQ(api().input(session, 1, &value), CONVLAB_BAD_INPUT);
  EXPECT_EQ(api().run(session, nullptr, 1, nullptr, 1, nullptr), CONVLAB_BAD_INPUT);
  convlab_array x{}, y{};
  x.type = 99;
  EXPECT_EQ(api().output_shapes(session, &x, 1, &y, 1), CONVLAB_BAD_INPUT);
  x.type = CONVLAB_FLOAT32;
  for (const int32_t rank : {-1, CONVLAB_MAX_RANK + 1}) {
    x.rank = rank;
    EXPECT_EQ(api().output_shapes(session, &x, 1, &y, 1), CONVLAB_BAD_INPUT);
    EXPECT_THAT(api().last_error(), HasSubstr("rank"));
  }
  x = {.data = nullptr, .type = CONVLAB_FLOAT32, .rank = 4, .shape = {1, 1, 70, 70}};
  ASSERT_EQ(api().output_shapes(session, &x, 1, &y, 1), CONVLAB_OK);
  EXPECT_THAT(std::vector(y.shape, y.shape + y.rank), ElementsAre(1, 10));
  EXPECT_EQ(api().run(session, &x, 1, &y, 1, nullptr), CONVLAB_BAD_INPUT);
  EXPECT_THAT(api().last_error(), HasSubstr("has no data"));
  api().close(session);
  api().close(nullptr);
  api().free_text(nullptr);
}

}  // namespace
