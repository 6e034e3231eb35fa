// Sessions of models that programs' usual one does not cover: several inputs and outputs, whole numbers, open sizes.

#include "convlab/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/errors.h"
#include "tests/onnx_model.h"
#include "tests/temporary_folder.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SessionTest : public testing::Test {
 protected:
  /// y = a + b and the places of a's largest, of arrays of any number of rows of 3.
  Session two_outputs() {
    OnnxModel model(13);
    model.input("a", {-1, 3}).input("b", {-1, 3}).output("sum").output("place");
    model.node("Add", {"a", "b"}, {"sum"});
    model.node("ArgMax", {"a"}, {"place"}).set("axis", int64_t{1});
    model.graph().mutable_output(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
    const std::filesystem::path path = folder_.path() / "two.onnx";
    std::ofstream(path, std::ios::binary) << model.proto.SerializeAsString();
    return Session(path.string(), {.device = "cpu"});
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

TEST_F(SessionTest, NamesTheInputsThatAreMissing) {
  Session session = two_outputs();
  const float a[3] = {1, 2, 3};
  const ConstArray only{a, ElementType::f32, {1, 3}};
  EXPECT_THAT(bad_input_message([&] {
                session.output_shapes({&only, 1});
              }),
              HasSubstr("1 inputs are given; it takes 2: 'a', 'b'"));
}

TEST_F(SessionTest, TellsStepsAndTheirTimes) {
  Session session = two_outputs();
  const std::vector<float> a{1, 5, 2};
  const std::vector<ConstArray> inputs{{a.data(), ElementType::f32, {1, 3}}, {a.data(), ElementType::f32, {1, 3}}};
  EXPECT_THAT(session.plan(inputs), SizeIs(2));
  const std::vector<Session::Step> steps = session.profile(inputs, 3);
  ASSERT_THAT(steps, SizeIs(2));
  for (const Session::Step& step : steps) EXPECT_GT(step.seconds, 0) << step.name;
  EXPECT_THAT(bad_input_message([&] { session.profile(inputs, 0); }), HasSubstr("at least one run"));
}

// An engine that was made for few images would take many of them one by one.
TEST(Session, TakesMoreImagesThanAtFirst) {
  Session session(CONVLAB_SOURCE_DIR "/models/fa19.onnx", {.device = "cpu"});
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
