// Tests weights in external files: which ones are read, and that nothing outside the model's folder is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "convlab/base/file.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "tests/support/onnx_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Proto = onnx::TensorProto;
namespace fs = std::filesystem;

class OnnxExternal : public testing::Test {
 protected:
  OnnxExternal() {
    fs::create_directory(folder());
    fs::create_directory(outside());
    write(folder() / "w.data", {1, 2, 3, 4});
    write(outside() / "secret.data", {1, 2, 3, 4});
  }

  fs::path folder() const { return place_.path() / "model"; }
  fs::path outside() const { return place_.path() / "outside"; }

  static void write(const fs::path& path, const std::vector<float>& values) {
    write_file(path.string(), {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)});
  }

  /// A float32 tensor of this shape with its data in another file.
  static onnx::TensorProto external(const std::string& location, const std::string& offset = "",
                                    const std::string& length = "", const Shape& shape = {2}) {
    onnx::TensorProto tensor;
    tensor.set_data_type(Proto::FLOAT);
    for (const int64_t size : shape) tensor.add_dims(size);
    tensor.set_data_location(Proto::EXTERNAL);
    const auto entry = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      onnx::StringStringEntryProto& added = *tensor.add_external_data();
      added.set_key(key);
      added.set_value(value);
    };
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
    return tensor;
  }

  /// A model that adds all of these tensors to x.
  static OnnxModel model(const std::vector<onnx::TensorProto>& tensors) {
    OnnxModel model(13);
    model.input("x", {-1, 2}).output("y" + std::to_string(tensors.size()));
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string weight = "w" + std::to_string(i), from = i == 0 ? "x" : "y" + std::to_string(i);
      model.initializer(weight, tensors[i]).node("Add", {from, weight}, {"y" + std::to_string(i + 1)});
    }
    return model;
  }

  Graph import(const std::vector<onnx::TensorProto>& tensors) const {
    return import_onnx(model(tensors).bytes(), "test.onnx", {.folder = folder()});
  }
  std::string refusal(const std::vector<onnx::TensorProto>& tensors) const {
    return bad_input_message([&] { import(tensors); });
  }

  static std::vector<float> values(const Graph& graph, size_t which = 0) {
    const auto constant = std::next(graph.constants.begin(), static_cast<ptrdiff_t>(which));
    const auto numbers = constant->second.values<float>();
    return {numbers.begin(), numbers.end()};
  }

 private:
  TemporaryFolder place_;
};

TEST_F(OnnxExternal, ReadsAStretchOrTheRestOfAFile) {
  EXPECT_THAT(values(import({external("w.data", "4", "8")})), ElementsAre(2, 3));
  EXPECT_THAT(values(import({external("w.data", "8")})), ElementsAre(3, 4)) << "no length: to the end";
  write(folder() / "two.data", {5, 6});
  EXPECT_THAT(values(import({external("two.data")})), ElementsAre(5, 6)) << "all of it";
  fs::create_directory(folder() / "sub");
  write(folder() / "sub/two.data", {7, 8});
  EXPECT_THAT(values(import({external("sub/two.data")})), ElementsAre(7, 8));
  EXPECT_THAT(values(import({external("./sub/./two.data")})), ElementsAre(7, 8));
}

TEST_F(OnnxExternal, TensorsOfOneFileLieBesideEachOtherOrAreTheSame) {
  const Graph graph = import({external("w.data", "0", "8"), external("w.data", "8", "8")});
  EXPECT_THAT(values(graph, 0), ElementsAre(1, 2));
  EXPECT_THAT(values(graph, 1), ElementsAre(3, 4));
  const Graph same = import({external("w.data", "4", "8"), external("w.data", "4", "8")});
  EXPECT_THAT(values(same, 1), ElementsAre(2, 3));
  EXPECT_THAT(refusal({external("w.data", "0", "8"), external("w.data", "4", "8")}),
              HasSubstr("initializer 'w1': external data (bytes 4 to 12 of 'w.data') overlaps the data of another"));
  EXPECT_THAT(refusal({external("w.data", "4", "8"), external("w.data", "0", "8")}), HasSubstr("overlaps"));
  EXPECT_THAT(refusal({external("w.data", "4", "8"), external("w.data", "0", "16", {2, 2})}), HasSubstr("overlaps"));
  EXPECT_THAT(refusal({external("w.data", "0", "16", {2, 2}), external("w.data", "4", "8")}), HasSubstr("overlaps"));
}

TEST_F(OnnxExternal, NothingOutsideTheFolderIsRead) {
  for (const std::string& location :
       {std::string("../outside/secret.data"), std::string("sub/../../outside/secret.data"), std::string(".."),
        (outside() / "secret.data").string(), std::string("/etc/passwd"), std::string("w.data\0x", 8)}) {
    EXPECT_THAT(refusal({external(location, "0", "8")}), HasSubstr("must be inside the folder of the model"))
        << location;
  }
  onnx::TensorProto nowhere = external("", "0", "8");
  EXPECT_THAT(refusal({nowhere}), HasSubstr("must be inside the folder of the model"));
}

TEST_F(OnnxExternal, LinksAreNotFollowed) {
  fs::create_symlink(outside() / "secret.data", folder() / "link.data");
  EXPECT_THAT(refusal({external("link.data", "0", "8")}), HasSubstr("it is a symbolic link"));
  fs::create_symlink("w.data", folder() / "inside.data");
  EXPECT_THAT(refusal({external("inside.data", "0", "8")}), HasSubstr("it is a symbolic link")) << "wherever it leads";
  fs::create_directory_symlink(outside(), folder() / "linked");
  const std::string through = refusal({external("linked/secret.data", "0", "8")});
  EXPECT_THAT(through, HasSubstr("linked/secret.data"));
}

TEST_F(OnnxExternal, WhatIsNoPlainFileIsRefusedAtOnce) {
  EXPECT_THAT(refusal({external("missing.data")}), HasSubstr("No such file"));
  fs::create_directory(folder() / "sub");
  EXPECT_THAT(refusal({external("sub")}), HasSubstr("is not a regular file"));
  EXPECT_THAT(refusal({external(".")}), HasSubstr("is not a regular file"));
  ASSERT_EQ(mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal({external("pipe", "0", "8")}), HasSubstr("is not a regular file")) << "nobody writes into it";
  EXPECT_THAT(refusal({external("w.data/x", "0", "8")}), HasSubstr("Not a directory"));
}

TEST_F(OnnxExternal, SizesAreCheckedBeforeAnythingIsAllocated) {
  EXPECT_THAT(refusal({external("w.data", "12", "8")}),
              HasSubstr("external data (8 bytes at offset 12) is outside file 'w.data', which has 16 bytes"));
  EXPECT_THAT(refusal({external("w.data", "16")}), HasSubstr("does not match the data (0 bytes)"));
  EXPECT_THAT(refusal({external("w.data", "9223372036854775807", "8")}), HasSubstr("which has 16 bytes"));
  EXPECT_THAT(refusal({external("w.data", "8", "9223372036854775807")}), HasSubstr("which has 16 bytes"));
  EXPECT_THAT(refusal({external("w.data", "0", "12")}), HasSubstr("does not match the data (12 bytes)"));
  EXPECT_THAT(refusal({external("w.data", "0", "16", {int64_t{1} << 40})}), HasSubstr("does not match the data (16"));
  for (const char* number : {"-1", "x", "1e3", "99999999999999999999", " 4"}) {
    EXPECT_THAT(refusal({external("w.data", number, "8")}), HasSubstr("offset")) << number;
    EXPECT_THAT(refusal({external("w.data", "0", number)}), HasSubstr("length")) << number;
  }
}

TEST_F(OnnxExternal, DataIsHereOrThereButNotBoth) {
  onnx::TensorProto twice = external("w.data", "0", "8");
  twice.set_raw_data("12345678");
  EXPECT_THAT(refusal({twice}), HasSubstr("stored twice"));
  EXPECT_THAT(bad_input_message([&] { import_onnx(model({external("w.data")}).bytes(), "test.onnx"); }),
              HasSubstr("the folder of the model is not known"));
}

TEST_F(OnnxExternal, WeightsMayBeOfOtherTypes) {
  onnx::TensorProto halves = external("w.data", "0", "4");
  halves.set_data_type(Proto::BFLOAT16);
  OnnxModel model(13);
  model.input("x", {-1, 2}).output("y").initializer("w", halves);
  model.node("Cast", {"w"}, {"f"}).set("to", int64_t{Proto::FLOAT}).node("Add", {"x", "f"}, {"y"});
  EXPECT_THAT(values(import_onnx(model.bytes(), "test.onnx", {.folder = folder()})), ElementsAre(0, 1))
      << "the two halves of a float's 1";
}

}  // namespace
}  // namespace convlab
