// Tests sessions of models beyond the usual: several inputs and outputs, integers, and dynamic sizes.

#include "convlab/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "tests/support/onnx_model.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SessionTest : public testing::Test {
 protected:
  Session opened(const OnnxModel& model, const std::string& device) {
    const std::filesystem::path path = folder_.path() / "model.onnx";
    std::ofstream(path, std::ios::binary) << model.proto.SerializeAsString();
    return Session(path.string(), {.device = device});
  }

  /// y = max(conv(x), 0), image by image.
  Session one_convolution(const std::string& device) {
    OnnxModel model(13);
    model.input("x", {-1, 1, 5, 5}).initializer("w", OnnxModel::ones({2, 1, 3, 3})).output("y");
    model.node("Conv", {"x", "w"}, {"conv"}).node("Relu", {"conv"}, {"y"});
    return opened(model, device);
  }

  /// y = a + b, for arrays with any number of rows of 3.
  Session sum(const std::string& device, int type = OnnxModel::kFloat) {
    OnnxModel model(13);
    model.input("a", {-1, 3}, type).input("b", {-1, 3}, type).output("y").node("Add", {"a", "b"}, {"y"});
    model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    return opened(model, device);
  }

  /// The same sum, and the index of the largest element in each row of a.
  Session two_outputs(const std::string& device = "cpu") {
    OnnxModel model(13);
    model.input("a", {-1, 3}).input("b", {-1, 3}).output("sum").output("place");
    model.node("Add", {"a", "b"}, {"sum"});
    model.node("ArgMax", {"a"}, {"place"}).set("axis", int64_t{1});
    model.graph().mutable_output(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
    return opened(model, device);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SessionTest, GivesSeveralOutputsInTheirOwnTypes) {
  Session session = two_outputs();
  const std::vector<float> a{1, 5, 2, 9, 0, 3}, b{1, 1, 1, 2, 2, 2};
  const std::vector<ConstArray> inputs{{a.data(), ElementType::f32, {2, 3}}, {b.data(), ElementType::f32, {2, 3}}};
  EXPECT_THAT(session.output_shapes(inputs), ElementsAre(Shape{2, 3}, Shape{2, 1}));
  std::vector<float> sum(6);
  std::vector<int64_t> place(2);
  session.run(inputs,
              std::vector<Array>{{sum.data(), ElementType::f32, {2, 3}}, {place.data(), ElementType::i64, {2, 1}}});
  EXPECT_THAT(sum, ElementsAre(2, 6, 3, 11, 2, 5));
  EXPECT_THAT(place, ElementsAre(1, 0));
}

/// Sessions on devices with their own memory.
class SessionInMemory : public SessionTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    try {
      device_ = open_device(GetParam(), {.threads = 1});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    stream_ = device_->make_stream();
  }

  /// An array in device memory.
  class Memory {
   public:
    /// `skipped`: bytes of the buffer before the array.
    Memory(SessionInMemory& test, const std::vector<float>& values, size_t skipped)
        : stream_(*test.stream_),
          buffer_(test.device_->allocate(values.size() * sizeof(float) + skipped)),
          skipped_(skipped),
          count_(values.size()) {
      stream_.upload(data(), values.data(), count_ * sizeof(float));
      stream_.synchronize();
    }
    void* data() const { return static_cast<std::byte*>(buffer_.data()) + skipped_; }
    std::vector<float> values() {
      std::vector<float> values(count_);
      stream_.download(values.data(), data(), count_ * sizeof(float));
      stream_.synchronize();
      return values;
    }

   private:
    Stream& stream_;
    Buffer buffer_;
    size_t skipped_, count_;
  };

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

INSTANTIATE_TEST_SUITE_P(Devices, SessionInMemory, testing::Values("simt", "cuda"),
                         [](const auto& device) { return device.param; });

// Arrays whose addresses are aligned for the kernels are used in place; others are copied. A GPU records the second run
// with the same addresses, and the third run replays it.
TEST_P(SessionInMemory, ComputesThere) {
  std::vector<float> x(3 * 25);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  const Shape shape{3, 1, 5, 5}, result{3, 2, 3, 3};
  std::vector<float> wanted(3 * 18);
  const ConstArray input{x.data(), ElementType::f32, shape};
  const Array output{wanted.data(), ElementType::f32, result};
  one_convolution("cpu").run({&input, 1}, {&output, 1});
  Session session = one_convolution(GetParam());
  for (const size_t skipped : {0, 4, 0, 0}) {
    Memory from(*this, x, skipped), to(*this, std::vector<float>(wanted.size()), skipped);
    const ConstArray given{from.data(), ElementType::f32, shape, true};
    const Array there{to.data(), ElementType::f32, result, true};
    session.run({&given, 1}, {&there, 1});
    EXPECT_THAT(to.values(), testing::Pointwise(testing::FloatNear(1e-5f), wanted)) << skipped << " bytes before it";
    EXPECT_THAT(bad_input_message([&] {
                  session.run({&given, 1}, {&output, 1});
                }),
                HasSubstr("all in host memory or all in GPU memory"));
    EXPECT_THAT(bad_input_message([&] { session.profile({&given, 1}, 1); }), HasSubstr("in host memory"));
  }
}

// Work queued on the stream before the call produces the input, and work after it reads the output. The host does not
// wait in between.
TEST_P(SessionInMemory, TakesItsPlaceInAStream) {
  Session session = one_convolution(GetParam());
  const std::vector<float> ones(25, 1.0f), wanted(18, 9.0f);
  Memory given(*this, ones, 0), x(*this, std::vector<float>(25), 0), y(*this, std::vector<float>(18), 0);
  const ConstArray input{x.data(), ElementType::f32, {1, 1, 5, 5}, true};
  const Array output{y.data(), ElementType::f32, {1, 2, 3, 3}, true};
  std::vector<float> got(18);
  for (int i = 0; i < 4; ++i) {
    stream_->copy(x.data(), given.data(), ones.size() * sizeof(float));
    session.run({&input, 1}, {&output, 1}, stream_->native());
    stream_->fill(x.data(), 0, ones.size() * sizeof(float));
    stream_->download(got.data(), y.data(), got.size() * sizeof(float));
    stream_->synchronize();
    EXPECT_EQ(got, wanted) << i;
  }
}

TEST_P(SessionInMemory, ComputesSeveralArraysThere) {
  Session session = sum(GetParam());
  for (const size_t skipped : {0, 4}) {
    Memory a(*this, {1, 5, 2, 9, 0, 3}, skipped), b(*this, {1, 1, 1, 2, 2, 2}, 0);
    Memory y(*this, std::vector<float>(6), skipped);
    const std::vector<ConstArray> inputs{{a.data(), ElementType::f32, {2, 3}, true},
                                         {b.data(), ElementType::f32, {2, 3}, true}};
    const Array output{y.data(), ElementType::f32, {2, 3}, true};
    session.run(inputs, {&output, 1});
    EXPECT_THAT(y.values(), ElementsAre(2, 6, 3, 11, 2, 5));
  }
}

TEST_P(SessionInMemory, MakesOtherTypesOnTheHostOnly) {
  Session session = sum(GetParam(), onnx::TensorProto::INT64);
  Memory a(*this, {1, 5, 2}, 0), b(*this, {1, 1, 1}, 0), y(*this, {0, 0, 0, 0, 0, 0}, 0);
  std::vector<ConstArray> inputs{{a.data(), ElementType::f32, {1, 3}, true},
                                 {b.data(), ElementType::f32, {1, 3}, true}};
  const Array output{y.data(), ElementType::i64, {1, 3}, true};
  EXPECT_THAT(bad_input_message([&] {
                session.run(inputs, {&output, 1});
              }),
              HasSubstr("'y' is int64, which is not supported in GPU memory"));
  inputs[1].type = ElementType::i32;
  EXPECT_THAT(bad_input_message([&] {
                session.run(inputs, {&output, 1});
              }),
              HasSubstr("uint8 if all inputs are, got int32"));
}

/// Returns the resident memory of the process in bytes.
int64_t bytes_in_memory() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST_F(SessionTest, OthersHaveItsWeightsInMemoryOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what is freed in memory";
#endif
  constexpr int64_t kSide = 3000, kWeights = kSide * kSide * 4;
  OnnxModel model(13);
  model.input("x", {-1, kSide}).initializer("w", OnnxModel::ones({kSide, kSide})).output("y");
  model.node("MatMul", {"x", "w"}, {"product"}).node("Relu", {"product"}, {"y"});
  Session session = opened(model, "cpu");
  std::vector<float> x(kSide, 1.0f), y(kSide);
  const ConstArray input{x.data(), ElementType::f32, {1, kSide}};
  const Array output{y.data(), ElementType::f32, {1, kSide}};
  session.run({&input, 1}, {&output, 1});
  const int64_t before = bytes_in_memory();
  std::vector<std::unique_ptr<Session>> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back(new Session(session.clone({.device = "cpu"})));
    others.back()->run({&input, 1}, {&output, 1});
    EXPECT_EQ(y[0], kSide);
  }
  EXPECT_LT(bytes_in_memory() - before, kWeights);
}

/// y = x * min(rows, 2): the model is imported again for each number of rows.
TEST_F(SessionTest, ReadsAModelAgainThatComputesFromTheNumberOfImages) {
  OnnxModel model(15);
  model.input("x", {-1, 2}).output("y").node("Shape", {"x"}, {"shape"});
  model.initializer("zero", OnnxModel::integers({}, {0})).initializer("two", OnnxModel::integers({}, {2}));
  model.node("Gather", {"shape", "zero"}, {"n"}).node("Min", {"n", "two"}, {"f"});
  model.node("Cast", {"f"}, {"real"}).set("to", int64_t{onnx::TensorProto::FLOAT}).node("Mul", {"x", "real"}, {"y"});
  Session session = opened(model, "cpu");
  EXPECT_EQ(session.inputs()[0].shape, (Shape{-1, 2}));
  EXPECT_EQ(session.outputs()[0].name, "y");
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  for (const int64_t rows : {3, 1, 2, 1}) {  // fewer than before, too
    std::vector<float> y(static_cast<size_t>(2 * rows));
    const std::vector<ConstArray> inputs{{x.data(), ElementType::f32, {rows, 2}}};
    session.run(inputs, std::vector<Array>{{y.data(), ElementType::f32, {rows, 2}}});
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], x[i] * static_cast<float>(std::min<int64_t>(rows, 2))) << rows;
  }
}

TEST_F(SessionTest, NamesTheInputsThatAreMissing) {
  Session session = two_outputs();
  const float a[3] = {1, 2, 3};
  const ConstArray only{a, ElementType::f32, {1, 3}};
  EXPECT_THAT(bad_input_message([&] {
                session.output_shapes({&only, 1});
              }),
              HasSubstr("wrong number of inputs: expected 2 ('a', 'b'), got 1"));
}

TEST_F(SessionTest, TellsStepsAndTheirTimes) {
  Session session = two_outputs();
  const std::vector<float> a{1, 5, 2};
  const std::vector<ConstArray> inputs{{a.data(), ElementType::f32, {1, 3}}, {a.data(), ElementType::f32, {1, 3}}};
  EXPECT_THAT(session.plan(inputs), SizeIs(2));
  const std::vector<Session::Step> steps = session.profile(inputs, 3);
  ASSERT_THAT(steps, SizeIs(2));
  for (const Session::Step& step : steps) EXPECT_GT(step.seconds, 0) << step.name;
  EXPECT_THAT(bad_input_message([&] { session.profile(inputs, 0); }), HasSubstr("repeat must be at least 1, got 0"));
}

// An engine planned for few images would compute a large batch in many small ones.
TEST(Session, TakesMoreImagesThanAtFirst) {
  Session session(source_folder() / "models/fa19.onnx", {.device = "cpu"});
  for (const int64_t n : {1, 3, 2, 40, 5}) {
    const std::vector<float> x(static_cast<size_t>(n) * 4900, 0.5f);
    std::vector<float> y(static_cast<size_t>(n) * 10);
    const ConstArray input{x.data(), ElementType::f32, {n, 1, 70, 70}};
    const Array output{y.data(), ElementType::f32, {n, 10}};
    session.run({&input, 1}, {&output, 1});
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], y[i % 10], 1e-6) << n << " images, number " << i;
  }
}

}  // namespace
}  // namespace convlab
