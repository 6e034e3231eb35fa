// The library as programs use it: by its public headers and its one exported name, and nothing of its inside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <convlab/convlab.hpp>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using convlab::MutableView;
using convlab::Session;
using convlab::Shape;
using convlab::Tensor;
using convlab::View;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kModel = CONVLAB_SOURCE_DIR "/models/fa19.onnx";

const convlab_api& api() { return *convlab_get_api(CONVLAB_API_VERSION); }

/// Pixels that differ from each other, of so many images of fa19.
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

/// The text of the Error that `work` must throw.
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const convlab::Error& error) {
    return error.what();
  }
  return "no error";
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
  EXPECT_THAT(error_of([&] { session.run(std::span<const View>()); }), HasSubstr("0 inputs are given; it takes 1"));
  const Tensor x = images(2);
  Tensor small = Tensor::of<float>({1, 10}), whole = Tensor::of<int64_t>({2, 10});
  EXPECT_THAT(error_of([&] { session.run(x, small); }), HasSubstr("float32 1x10; it gives float32 2x10"));
  EXPECT_THAT(error_of([&] { session.run(x, whole); }), HasSubstr("int64 2x10; it gives float32 2x10"));
  EXPECT_THAT(error_of([&] { static_cast<void>(View(std::span<const float>(), Shape{2, 2})); }), HasSubstr("0 values"));
  EXPECT_THAT(error_of([] { Tensor::of<float>({1, -1}); }), HasSubstr("below 0"));
  EXPECT_THAT(error_of([] { Tensor::of<float>({int64_t{1} << 40, int64_t{1} << 40}); }), HasSubstr("more elements"));
  EXPECT_THAT(error_of([&] {
                session.run(Tensor::of<float>({0, 1, 70, 70}));
              }),
              HasSubstr("there must be at least one"));
  EXPECT_THAT(numbers(session.run(x)), SizeIs(20)) << "a session serves on after errors";
}

// A NaN is not an error: it goes where the network's arithmetic takes it.
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

TEST(LibraryTable, IsThereForItsVersionsOnly) {
  EXPECT_EQ(convlab_get_api(0), nullptr);
  EXPECT_EQ(convlab_get_api(CONVLAB_API_VERSION + 1), nullptr);
  ASSERT_NE(convlab_get_api(1), nullptr);
  EXPECT_EQ(api().version, CONVLAB_API_VERSION);
  EXPECT_STREQ(api().library_version(), CONVLAB_VERSION);
}

// Programs that were compiled with an earlier header find everything where it was.
TEST(LibraryTable, KeepsEverythingInItsPlace) {
  const size_t places[] = {
      offsetof(convlab_api, version),     offsetof(convlab_api, library_version), offsetof(convlab_api, last_error),
      offsetof(convlab_api, open),        offsetof(convlab_api, close),           offsetof(convlab_api, device),
      offsetof(convlab_api, input_count), offsetof(convlab_api, output_count),    offsetof(convlab_api, input),
      offsetof(convlab_api, output),      offsetof(convlab_api, output_shapes),   offsetof(convlab_api, run),
      offsetof(convlab_api, plan),        offsetof(convlab_api, profile),         offsetof(convlab_api, free_text)};
  for (size_t i = 0; i < std::size(places); ++i) EXPECT_EQ(places[i], i * sizeof(void*)) << i;
  EXPECT_EQ(offsetof(convlab_options, threads), 3 * sizeof(void*));
  for (const size_t size : {sizeof(convlab_value), sizeof(convlab_array)}) EXPECT_EQ(size, sizeof(void*) + 8 + 64);
  EXPECT_EQ(offsetof(convlab_array, shape), sizeof(void*) + 8);
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
  EXPECT_THAT(api().last_error(), HasSubstr("threads: -1"));
  EXPECT_EQ(session, nullptr);
  options.threads = 1;
  ASSERT_EQ(api().open(kModel.c_str(), &options, &session), CONVLAB_OK);
  convlab_value value;
  EXPECT_EQ(api().input(session, 1, &value), CONVLAB_BAD_INPUT);
  EXPECT_EQ(api().run(session, nullptr, 1, nullptr, 1), CONVLAB_BAD_INPUT);
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
  EXPECT_EQ(api().run(session, &x, 1, &y, 1), CONVLAB_BAD_INPUT);
  EXPECT_THAT(api().last_error(), HasSubstr("has no data"));
  api().close(session);
  api().close(nullptr);
  api().free_text(nullptr);
}

}  // namespace
