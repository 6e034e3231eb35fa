// Tests damaged, contradictory and missing input: each case must name the location, exit with status 2, print nothing
// to standard output and use little memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/base/file.h"
#include "convlab/base/limits.h"
#include "convlab/tensor/npy.h"
#include "tests/support/onnx_model.h"
#include "tests/support/program_run.h"
#include "tests/support/small_data.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMostKilobytes = 1 << 20;  // room for AddressSanitizer's shadow memory and quarantine
#else
constexpr int64_t kMostKilobytes = 1 << 18;
#endif

void expect_bad_input(const std::vector<std::string>& arguments, const std::vector<std::string>& places) {
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 2) << testing::PrintToString(arguments) << run.complaint;
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(run.complaint, HasSubstr(": error: "));
  for (const std::string& place : places) EXPECT_THAT(run.complaint, HasSubstr(place));
  EXPECT_LT(run.max_rss_kb, kMostKilobytes);
}

void write_text(const std::filesystem::path& path, std::string_view text) { write_file(path, text); }

std::string text_of(const std::filesystem::path& path) {
  const Bytes bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

// ---- The data set ----

class BadData : public testing::Test {
 protected:
  BadData() { write_small_data(folder_.path(), 20); }

  void expect_bad(const std::vector<std::string>& places) {
    expect_bad_input({"run", "sp19", "--data", folder_.path().string()}, places);
  }

  void write_images(const Bytes& bytes) { write_file(images_, bytes); }
  void write_labels(const Bytes& bytes) { write_file(labels_, bytes); }

  TemporaryFolder folder_;
  const std::filesystem::path images_ = folder_.path() / "t10k-images-idx3-ubyte.gz";
  const std::filesystem::path labels_ = folder_.path() / "t10k-labels-idx1-ubyte.gz";
  static constexpr uint32_t kSide = 28;
  const Bytes pixels_ = Bytes(20 * kSide * kSide, 7);
};

TEST_F(BadData, TheGoodOneIsGood) {
  const ProgramRun run = run_program({"run", "sp19", "--data", folder_.path().string()});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("\n20 images to labels"));
}

TEST_F(BadData, MissingFilesAndFolders) {
  expect_bad_input({"run", "--data", "/no/such/folder"}, {"/no/such/folder"});
  expect_bad_input({"m2.1", "--data", "/no/such/folder"}, {"/no/such/folder"});
  std::filesystem::remove(labels_);
  expect_bad({"t10k-labels-idx1-ubyte"});
  expect_bad_input({"run", "--split", "train", "--data", folder_.path().string()}, {"train-images-idx3-ubyte"});
}

TEST_F(BadData, DamagedGzip) {
  Bytes bytes = read_file(images_);
  Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2));
  write_images(cut);
  expect_bad({images_.string(), "truncated"});
  bytes[bytes.size() / 2] ^= 0xff;
  write_images(bytes);
  expect_bad({images_.string()});
  write_images({});
  expect_bad({images_.string()});
}

TEST_F(BadData, WrongHeaders) {
  write_images(gzip(idx({kIdxLabels, 20, kSide, kSide}, pixels_)));
  expect_bad({images_.string(), "0x00000801", "0x00000803"});
  write_images(gzip(idx({kIdxImages, 21, kSide, kSide}, pixels_)));
  expect_bad({images_.string()});
  write_images(gzip(idx({kIdxImages, 19, kSide, kSide}, pixels_)));
  expect_bad({images_.string()});
  write_images(gzip(idx({kIdxImages, 0xffffffff, 0xffffffff, 0xffffffff}, pixels_)));
  expect_bad({images_.string()});
  write_images(gzip(idx({kIdxImages, 0, kSide, kSide}, {})));
  expect_bad({images_.string()});
}

TEST_F(BadData, LabelsThatAreNoClassesOrTooFew) {
  Bytes labels(20, 3);
  labels[13] = 10;
  write_labels(gzip(idx({kIdxLabels, 20}, labels)));
  expect_bad(
      {labels_.string(), "the label at byte 21 must be between 0 and 9, got 10"});  // 8 bytes of header, 13 labels
  write_labels(gzip(idx({kIdxLabels, 19}, Bytes(19, 3))));
  expect_bad({"19", "20"});
}

TEST(Copies, ThatTakeMoreThanTheMemoryAreRefusedWithTheFigure) {
  constexpr int64_t kBytes = int64_t{60000} * 1000 * 784;
  if (usable_memory_bytes() > kBytes) GTEST_SKIP() << "the most copies fit into the memory of this machine";
  expect_bad_input({"run", "fa17-low", "--split", "train", "--copies", "1000", "--device", "cpu"},
                   {"--copies 1000: 60000000 images need 49.8 GB", gigabytes(usable_memory_bytes()), "fewer"});
}

// ---- ONNX models ----

/// A model with conv 10@5x5 on a `side` x `side` image, then the mean of each feature map: ten scores.
OnnxModel small_model(int64_t side = 28) {
  OnnxModel model(13);
  model.input("x", {-1, 1, side, side}).output("y");
  model.initializer("w", OnnxModel::ones({10, 1, 5, 5}));
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("GlobalAveragePool", {"c"}, {"g"});
  model.node("Flatten", {"g"}, {"y"});
  return model;
}

class BadOnnx : public testing::Test {
 protected:
  BadOnnx() { write_small_data(folder_.path(), 20); }

  ProgramRun run(const Bytes& bytes) {
    write_file(path_, bytes);
    return run_program(arguments_);
  }
  void expect_bad(const Bytes& bytes, const std::vector<std::string>& places) {
    write_file(path_, bytes);
    expect_bad_input(arguments_, places);
  }
  void expect_bad(const OnnxModel& model, const std::vector<std::string>& places) { expect_bad(model.bytes(), places); }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "model.onnx";
  const std::vector<std::string> arguments_{"run", path_.string(), "--data", folder_.path().string()};
};

TEST_F(BadOnnx, TheGoodOneIsGood) { EXPECT_EQ(run(small_model().bytes()).status, 0); }

TEST_F(BadOnnx, MissingEmptyTruncatedOrSomethingElse) {
  expect_bad_input({"run", "/no/such/model.onnx"}, {"/no/such/model.onnx"});
  expect_bad(Bytes{}, {path_.string()});
  const Bytes good = small_model().bytes();
  for (size_t eighth = 1; eighth < 8; ++eighth) {
    expect_bad(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(good.size() * eighth / 8)), {path_.string()});
  }
  const std::string_view text = "This is no ONNX model.\n";
  expect_bad(Bytes(text.begin(), text.end()), {path_.string()});
  Bytes flipped = good;
  flipped[2] ^= 0xff;
  expect_bad(flipped, {path_.string()});
}

TEST_F(BadOnnx, NamesNodeOperatorAndReason) {
  OnnxModel unknown = small_model();
  unknown.graph().mutable_node(1)->set_op_type("Frobnicate");
  expect_bad(unknown, {path_.string(), "the_node_2", "Frobnicate"});
  OnnxModel dangling = small_model();
  dangling.graph().mutable_node(0)->set_input(1, "nowhere");
  expect_bad(dangling, {path_.string(), "the_node", "nowhere"});
  OnnxModel old = small_model();
  old.proto.mutable_opset_import(0)->set_version(6);
  expect_bad(old, {path_.string(), "opset", "6"});
}

TEST_F(BadOnnx, SizesThatOverflowOrDisagree) {
  OnnxModel huge = small_model();
  *huge.graph().mutable_initializer(0)->mutable_dims() = {};
  for (int64_t size : {int64_t{1} << 40, int64_t{1} << 40, int64_t{5}, int64_t{5}}) {
    huge.graph().mutable_initializer(0)->add_dims(size);
  }
  expect_bad(huge, {path_.string(), "'w'"});
  OnnxModel short_weights = small_model();
  short_weights.graph().mutable_initializer(0)->set_dims(0, 11);
  expect_bad(short_weights, {path_.string(), "'w'"});
  OnnxModel channels = small_model();
  channels.initializer("v", OnnxModel::ones({10, 3, 5, 5}));
  channels.graph().mutable_node(0)->set_input(1, "v");
  expect_bad(channels, {"the_node", "Conv"});
  expect_bad(small_model(4), {"the_node"});                            // the filter is larger than the image
  expect_bad(small_model(int64_t{1} << 62), {"4611686018427387904"});  // no machine has memory for such images
}

TEST_F(BadOnnx, SmallFilesThatAskForMuch) {
  const auto expect_little = [&](const OnnxModel& model, const std::vector<std::string>& places) {
    const ProgramRun convert = [&] {
      write_file(path_, model.bytes());
      return run_program({"convert", path_.string(), "-o", (folder_.path() / "out.onnx").string()});
    }();
    EXPECT_EQ(convert.status, 2) << convert.complaint;
    for (const std::string& place : places) EXPECT_THAT(convert.complaint, HasSubstr(place));
    EXPECT_LT(convert.max_rss_kb, kMostKilobytes / 2);
  };
  OnnxModel nothing(13);  // 0 elements, so -1 could be any size
  nothing.input("x", {-1, 4}).output("y").initializer("e", OnnxModel::floats({0, 3}, {}));
  nothing.initializer("s", OnnxModel::integers({2}, {0, -1})).node("Reshape", {"e", "s"}, {"z"});
  expect_little(nothing.node("Relu", {"x"}, {"y"}), {"Reshape", "no elements"});

  OnnxModel joined(13);  // 64 KiB, concatenated 4000 times
  joined.input("x", {-1, 4}).output("y").initializer("c", OnnxModel::ones({1 << 14}));
  joined.node("Concat", std::vector<std::string>(4000, "c"), {"k"}).set("axis", int64_t{0});
  expect_little(joined.node("Relu", {"x"}, {"y"}), {"Concat", "far more memory than the model"});

  OnnxModel deep(13);  // a chain of 200,000 nodes
  deep.input("v0", {-1, 4}).output("v200000");
  for (int i = 0; i < 200000; ++i) {
    deep.node("Flatten", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  expect_little(deep, {"200000 nodes", "32768"});
}

TEST_F(BadOnnx, WeightsThatAreNoNumbers) {
  OnnxModel model = small_model();
  model.graph().mutable_initializer(0)->set_float_data(17, std::numeric_limits<float>::quiet_NaN());
  expect_bad(model, {path_.string(), "'w'", "NaN", "17"});
}

TEST_F(BadOnnx, ModelsOfSomethingElseThanGreySquareImages) {
  OnnxModel vector(13);
  vector.input("x", {-1, 784}).output("y");
  vector.initializer("w", OnnxModel::ones({784, 10}));
  vector.node("MatMul", {"x", "w"}, {"y"});
  expect_bad(vector, {"N x 784"});
  OnnxModel color(13);
  color.input("x", {-1, 3, 28, 28}).output("y");
  color.initializer("w", OnnxModel::ones({10, 3, 28, 28}));
  color.node("Conv", {"x", "w"}, {"y"});
  expect_bad(color, {"N x 3 x 28 x 28"});
  OnnxModel scores(13);
  scores.input("x", {-1, 1, 28, 28}).output("y");
  scores.initializer("w", OnnxModel::ones({7, 1, 28, 28}));
  scores.node("Conv", {"x", "w"}, {"y"});
  expect_bad(scores, {"20x7x1x1", "10 classes"});
}

TEST_F(BadOnnx, AModelIsNotOverwritten) {
  const Bytes bytes = small_model().bytes();
  write_file(path_, bytes);
  const std::filesystem::path link = folder_.path() / "link.onnx", drawing = folder_.path() / "link.svg";
  std::filesystem::create_symlink(path_, link);
  std::filesystem::create_symlink(path_, drawing);
  const auto refuses = [&](const char* command, const std::filesystem::path& output) {
    expect_bad_input({command, path_.string(), "-o", output.string()}, {"-o " + output.string(), "choose another"});
    EXPECT_EQ(read_file(path_), bytes);
  };
  for (const char* command : {"convert", "tune"}) {
    for (const std::filesystem::path& output : {path_, link, folder_.path() / "." / "model.onnx"}) {
      refuses(command, output);
    }
  }
  refuses("explain", drawing);
}

TEST_F(BadOnnx, AMissingInputLeavesNoOutput) {
  write_file(path_, small_model().bytes());
  const ProgramRun run = run_program(
      {"infer", path_.string(), "--input", "/no/such/x.npy", "--output", (folder_.path() / "y.npy").string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("/no/such/x.npy"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "y.npy"));
}

TEST_F(BadOnnx, InputsThatTheModelDoesNotTake) {
  write_file(path_, small_model().bytes());
  const std::filesystem::path x = folder_.path() / "x.npy", y = folder_.path() / "y.npy";
  const std::vector<std::string> infer{"infer", path_.string(), "--input", x.string(), "--output", y.string()};
  Tensor good(ElementType::f32, {3, 1, 28, 28});
  std::fill(good.values<float>().begin(), good.values<float>().end(), 1.0f);
  write_file(x, to_npy(good));
  const ProgramRun fine = run_program(infer);
  EXPECT_EQ(fine.status, 0) << fine.complaint;
  EXPECT_EQ(parse_npy(read_file(y), "y").shape(), (Shape{3, 10}));
  EXPECT_EQ(parse_npy(read_file(y), "y").values<float>()[29], 25.0f);
  for (const Shape& shape : {Shape{3, 1, 27, 28}, Shape{3, 2, 28, 28}, Shape{784}, Shape{0, 1, 28, 28}}) {
    Tensor wrong(ElementType::f32, shape);
    std::fill(wrong.values<float>().begin(), wrong.values<float>().end(), 1.0f);
    write_file(x, to_npy(wrong));
    expect_bad_input(infer, {to_text(shape)});
  }
  write_text(x, "no numbers");
  expect_bad_input(infer, {x.string()});
}

// ---- MXNet checkpoints ----

class BadMxnet : public testing::Test {
 protected:
  BadMxnet() {
    write_small_data(folder_.path(), 20);
    write_text(symbol_, kSymbol);
    write_params();
  }

  /// Appends a value in little-endian order.
  template <class T>
  static void append(Bytes& bytes, T value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  }

  /// Appends an array in format V2: all ones, except the last element.
  static void append_array(Bytes& bytes, const Shape& shape, int64_t count, float last) {
    append<uint32_t>(bytes, 0xF993FAC9);
    append<int32_t>(bytes, 0);  // dense
    append<uint32_t>(bytes, static_cast<uint32_t>(shape.size()));
    for (int64_t size : shape) append<int64_t>(bytes, size);
    append<int32_t>(bytes, 1);  // cpu
    append<int32_t>(bytes, 0);
    append<int32_t>(bytes, 0);  // float32
    for (int64_t i = 0; i < count; ++i) append<float>(bytes, i + 1 < count ? 1.0f : last);
  }

  /// Writes 10@5x5 filters and a dense layer with all its weights, whatever its stored `shape` says.
  void write_params(const Shape& shape = {10, kColumns}, float last = 1) {
    Bytes bytes;
    append<uint64_t>(bytes, 0x112);
    append<uint64_t>(bytes, 0);
    append<uint64_t>(bytes, 2);
    append_array(bytes, {10, 1, 5, 5}, 250, 1);
    append_array(bytes, shape, 10 * kColumns, last);
    append<uint64_t>(bytes, 2);
    for (const std::string_view name : {"arg:conv_weight", "arg:fc_weight"}) {
      append<uint64_t>(bytes, name.size());
      bytes.insert(bytes.end(), name.begin(), name.end());
    }
    write_file(params_, bytes);
  }

  void expect_bad(const std::vector<std::string>& places) {
    expect_bad_input({"run", params_.string(), "--data", folder_.path().string()}, places);
    expect_bad_input({"convert", params_.string(), "-o", (folder_.path() / "out.onnx").string()}, places);
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out.onnx"));
  }

  void expect_bad_symbol(const std::string& from, const std::string& to, const std::vector<std::string>& places) {
    std::string text(kSymbol);
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    write_text(symbol_, text);
    expect_bad(places);
  }

  static constexpr int64_t kColumns = 10 * 24 * 24;
  static constexpr std::string_view kSymbol = R"json({"nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "null", "name": "conv_weight", "inputs": []},
    {"op": "New", "name": "conv", "attrs": {"kernel": "(5, 5)", "num_filter": "10"}, "inputs": [[0, 0, 0], [1, 0, 0]]},
    {"op": "Flatten", "name": "flat", "inputs": [[2, 0, 0]]},
    {"op": "null", "name": "fc_weight", "inputs": []},
    {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "10", "no_bias": "True"},
     "inputs": [[3, 0, 0], [4, 0, 0]]}],
    "arg_nodes": [0, 1, 4], "heads": [[5, 0, 0]]})json";

  TemporaryFolder folder_;
  const std::filesystem::path symbol_ = folder_.path() / "net-symbol.json";
  const std::filesystem::path params_ = folder_.path() / "net-0001.params";
};

TEST_F(BadMxnet, TheGoodOneIsGood) {
  const ProgramRun run = run_program({"run", params_.string(), "--data", folder_.path().string()});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("Correctness: "));
}

TEST_F(BadMxnet, MissingFiles) {
  std::filesystem::remove(symbol_);
  expect_bad({symbol_.string()});
  expect_bad_input({"run", "/no/such/net-0001.params"}, {"/no/such/net"});
}

TEST_F(BadMxnet, Symbols) {
  write_text(symbol_, std::string(kSymbol).substr(0, 200));
  expect_bad({symbol_.string()});
  write_text(symbol_, "{}");
  expect_bad({symbol_.string()});
  write_text(symbol_, "[1, 2]");
  expect_bad({symbol_.string()});
  write_text(symbol_, std::string(100000, '['));
  expect_bad({symbol_.string()});
  expect_bad_symbol("\"Flatten\"", "\"Frobnicate\"", {symbol_.string(), "flat", "Frobnicate"});
  expect_bad_symbol("[[3, 0, 0]", "[[9, 0, 0]", {symbol_.string(), "node 5"});
  expect_bad_symbol("[[3, 0, 0]", "[[-1, 0, 0]", {symbol_.string(), "node 5"});
  expect_bad_symbol("[[3, 0, 0]", "[[5, 0, 0]", {symbol_.string(), "node 5"});
  expect_bad_symbol("\"num_hidden\": \"10\"", "\"num_hidden\": \"ten\"", {symbol_.string(), "fc"});
  expect_bad_symbol("\"num_hidden\": \"10\"", "\"num_hidden\": \"11\"", {"fc"});
  expect_bad_symbol("(5, 5)", "(5, 6)", {"conv"});
  expect_bad_symbol("(5, 5)", "(5, -5)", {symbol_.string(), "conv"});
  expect_bad_symbol("\"fc_weight\"", "\"other_weight\"", {"other_weight"});
}

TEST_F(BadMxnet, Params) {
  const std::string good = text_of(params_);
  for (size_t size : {size_t{0}, size_t{7}, size_t{30}, good.size() / 2, good.size() - 1}) {
    write_text(params_, std::string_view(good).substr(0, size));
    expect_bad({params_.string()});
  }
  std::string magic = good;
  magic[0] ^= 1;
  write_text(params_, magic);
  expect_bad({params_.string(), "0x113", "0x112"});
  write_params({int64_t{1} << 40, int64_t{1} << 40});
  expect_bad({params_.string()});
  write_params({-10, kColumns});
  expect_bad({params_.string()});
  write_params({kColumns, 10});
  expect_bad({"fc"});
}

TEST_F(BadMxnet, WeightsThatAreNoNumbers) {
  write_params({10, kColumns}, std::numeric_limits<float>::quiet_NaN());
  expect_bad({folder_.path().string(), "fc_weight", "NaN"});
}

}  // namespace
}  // namespace convlab
