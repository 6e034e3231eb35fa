// Tests convlab infer --stream end to end: inputs larger than memory, interrupted runs and resuming them.

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <zlib.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "convlab/base/process.h"
#include "convlab/tensor/npy.h"
#include "tests/support/onnx_model.h"
#include "tests/support/paths.h"
#include "tests/support/picture_files.h"
#include "tests/support/program_run.h"
#include "tests/support/started_program.h"
#include "tests/support/tensor_values.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Stream : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write_model(const std::string& name, const OnnxModel& model) const { write_file(path(name), model.bytes()); }

  /// Writes a model that computes three scores per 28 x 28 image.
  void write_scores_model() const {
    write_model("scores.onnx", OnnxModel(13)
                                   .input("x", {-1, 1, 28, 28})
                                   .output("y")
                                   .initializer("w", OnnxModel::floats({3, 1, 5, 5}, random_floats(75)))
                                   .node("Conv", {"x", "w"}, {"c"})
                                   .node("Relu", {"c"}, {"r"})
                                   .node("GlobalAveragePool", {"r"}, {"m"})
                                   .node("Flatten", {"m"}, {"y"}));
  }

  /// Writes a model that takes some milliseconds per 128 x 128 image.
  void write_slow_model(float bias = 0) const {
    constexpr int kLayers = 8;
    OnnxModel model(13);
    model.input("x", {-1, 3, 128, 128}).output("y");
    model.initializer("w0", OnnxModel::floats({24, 3, 3, 3}, random_floats(24 * 3 * 9)));
    model.initializer("w", OnnxModel::floats({24, 24, 3, 3}, random_floats(24 * 24 * 9)));
    model.initializer("b", OnnxModel::floats({24}, std::vector<float>(24, bias)));
    model.node("Conv", {"x", "w0"}, {"c0"});
    for (int i = 0; i < kLayers; ++i) {
      model.node("Conv", {"c" + std::to_string(i), "w", "b"}, {"c" + std::to_string(i + 1)});
    }
    model.node("GlobalAveragePool", {"c" + std::to_string(kLayers)}, {"m"}).node("Flatten", {"m"}, {"y"});
    write_model("slow.onnx", model);
  }

  static std::vector<float> random_floats(size_t count) {
    std::minstd_rand random(1);
    std::vector<float> values(count);
    for (float& each : values) each = static_cast<float>(static_cast<int>(random() % 17) - 8) / 64;
    return values;
  }

  template <class T>
  static Tensor random_array(Shape shape) {
    std::minstd_rand random(7);
    Tensor array(element_type_of<T>(), std::move(shape));
    for (T& each : array.values<T>()) each = static_cast<T>(random() % 251);
    return array;
  }

  /// Writes an input of `images` images for the slow model, which reads 42 images at a time.
  void write_slow_input(int64_t images) const {
    write_file(path("x.npy"), to_npy(random_array<float>({images, 3, 128, 128})));
  }

  std::vector<std::string> infer_arguments(const std::string& model, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"infer", path(model)});
    return arguments;
  }
  ProgramRun infer(const std::string& model, std::vector<std::string> arguments) const {
    return run_program(infer_arguments(model, std::move(arguments)));
  }

  /// Runs successfully and returns the bytes of the result.
  std::vector<uint8_t> result(const std::string& model, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--output", path("result.npy")});
    const ProgramRun run = infer(model, arguments);
    EXPECT_EQ(run.status, 0) << run.complaint;
    EXPECT_FALSE(fs::exists(path("result.npy.part")));
    EXPECT_FALSE(fs::exists(path("result.npy.part.journal")));
    return read_file(path("result.npy"));
  }

  void expect_refused(const std::string& model, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& parts) const {
    const ProgramRun run = infer(model, arguments);
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.output, IsEmpty());
    for (const std::string& part : parts) EXPECT_THAT(run.complaint, HasSubstr(part));
  }

  /// Returns the number of finished rows in the journal of y.npy, or -1 without a journal.
  int64_t rows_kept() const {
    std::ifstream journal(path("y.npy.part.journal"));
    std::string word;
    int64_t rows = -1;
    journal >> word >> rows;
    return rows;
  }

  void wait_for_rows(int64_t rows) const {
    for (int i = 0; i < 3000 && rows_kept() < rows; ++i) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_GE(rows_kept(), rows);
  }

  StartedProgram start(const std::string& model, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--stream", "--threads", "1", "--output", path("y.npy")});
    return {infer_arguments(model, arguments), path("complaint")};
  }

  TemporaryFolder folder_;
};

std::vector<uint8_t> idx_of(const Tensor& images) {
  std::vector<uint8_t> bytes = {0, 0, 8, 3};
  for (const size_t i : {0, 2, 3}) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(images.shape()[i] >> shift));
  }
  const auto pixels = images.values<uint8_t>();
  bytes.insert(bytes.end(), pixels.begin(), pixels.end());
  return bytes;
}

void write_gzipped(const std::string& file, std::span<const uint8_t> bytes) {
  const gzFile out = ::gzopen(file.c_str(), "wb1");
  ASSERT_EQ(::gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())), std::ssize(bytes));
  ASSERT_EQ(::gzclose(out), Z_OK);
}

TEST_F(Stream, ArraysGiveWhatTheyGiveInMemory) {
  write_scores_model();
  const Tensor x = random_array<uint8_t>({30000, 1, 28, 28});  // read in three chunks
  write_file(path("x.npy"), to_npy(x));
  const std::vector<uint8_t> expected = result("scores.onnx", {"--input", path("x.npy")});
  EXPECT_EQ(result("scores.onnx", {"--input", path("x.npy"), "--stream"}), expected);
  EXPECT_EQ(result("scores.onnx", {"--input", path("x.npy"), "--stream", "--batch", "100", "--threads", "1"}),
            expected);
  write_file(path("x-idx3-ubyte"), idx_of(x));
  EXPECT_EQ(result("scores.onnx", {"--input", path("x-idx3-ubyte"), "--stream"}), expected);
  write_gzipped(path("x.gz"), idx_of(x));
  EXPECT_EQ(result("scores.onnx", {"--input", path("x.gz"), "--stream"}), expected);
}

TEST_F(Stream, EveryTypeIsConvertedAsInMemory) {
  write_scores_model();
  const auto expect_same = [&](const Tensor& x) {
    write_file(path("x.npy"), to_npy(x));
    EXPECT_EQ(result("scores.onnx", {"--input", path("x.npy"), "--stream"}),
              result("scores.onnx", {"--input", path("x.npy")}));
  };
  expect_same(random_array<float>({5000, 1, 28, 28}));
  expect_same(random_array<double>({5000, 1, 28, 28}));
  expect_same(random_array<int32_t>({5000, 1, 28, 28}));
  expect_same(random_array<int8_t>({3, 1, 28, 28}));
  write_file(path("x.npy"), to_npy(random_array<uint8_t>({3, 1, 28, 28})));
  const std::vector<uint8_t> expected = result("scores.onnx", {"--input", path("x.npy")});
  write_file(path("x.npy"), to_npy(random_array<uint8_t>({3, 28, 28})));
  EXPECT_EQ(result("scores.onnx", {"--input", path("x.npy"), "--stream"}), expected) << "the channel is added";
}

TEST_F(Stream, ClassesInPlaceOfScores) {
  write_scores_model();
  write_file(path("x.npy"), to_npy(random_array<uint8_t>({20000, 1, 28, 28})));
  const Tensor scores = parse_npy(result("scores.onnx", {"--input", path("x.npy")}), "y");
  const Tensor classes = parse_npy(result("scores.onnx", {"--input", path("x.npy"), "--stream", "--classes"}), "y");
  ASSERT_EQ(classes.shape(), Shape{20000});
  const auto found = values_of<int64_t>(classes);
  const auto all = values_of<float>(scores);
  for (size_t i = 0; i < found.size(); ++i) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(3 * i);
    ASSERT_EQ(found[i], std::max_element(row, row + 3) - row) << i;
  }
}

TEST_F(Stream, AShareHasItsRowsAlone) {
  write_scores_model();
  write_file(path("x.npy"), to_npy(random_array<uint8_t>({30001, 1, 28, 28})));
  const std::vector<uint8_t> whole = result("scores.onnx", {"--input", path("x.npy"), "--stream"});
  const Tensor scores = parse_npy(whole, "y");
  std::vector<float> all;
  for (const char* share : {"0/3", "1/3", "2/3"}) {
    const Tensor part = parse_npy(result("scores.onnx", {"--input", path("x.npy"), "--stream", "--shard", share}), "y");
    const auto values = part.values<float>();
    EXPECT_NEAR(static_cast<double>(part.shape()[0]), 30001 / 3, 1);
    all.insert(all.end(), values.begin(), values.end());
  }
  EXPECT_EQ(all, values_of<float>(scores));
}

TEST_F(Stream, MemoryStaysTheSame) {
  write_model("means.onnx",
              OnnxModel(13).input("x", {-1, 3, 256, 256}).output("y").node("GlobalAveragePool", {"x"}, {"y"}));
  const auto memory = [&](int64_t images) {
    const Shape shape{images, 3, 256, 256};
    write_file(path("x.npy"), npy_header(ElementType::u8, shape));
    fs::resize_file(path("x.npy"), fs::file_size(path("x.npy")) + static_cast<uintmax_t>(element_count(shape)));
    const ProgramRun run =
        infer("means.onnx", {"--input", path("x.npy"), "--stream", "--output", path("y.npy"), "--json", "-"});
    EXPECT_EQ(run.status, 0) << run.complaint;
    const auto json = nlohmann::json::parse(run.output);
    EXPECT_EQ(json["images"], images);
    EXPECT_EQ(json["output_shape"], (Shape{images, 3, 1, 1}));
    EXPECT_GT(json["images_per_s"], 0);
    EXPECT_GT(json["seconds"], 0);
    return json["memory_most_kb"].get<int64_t>();
  };
  const int64_t few = memory(300);
  EXPECT_LT(memory(3000), few + (20 << 10)) << "530 MB more to read";
}

TEST_F(Stream, WhatIsNotStreamedIsRefused) {
  write_scores_model();
  write_file(path("x.npy"), to_npy(random_array<uint8_t>({3, 1, 28, 28})));
  const std::string x = path("x.npy"), y = path("y.npy");
  expect_refused("scores.onnx", {"--input", x, "--stream"}, {"--stream needs --output Y.npy"});
  expect_refused("scores.onnx", {"--input", x, x, "--stream", "--output", y}, {"--stream needs one file"});
  expect_refused("scores.onnx", {"--input", x, "--stream", "--output", y, "--top", "1"},
                 {"--top is not supported with --stream"});
  expect_refused("scores.onnx", {"--input", x, "--output", y, "--resume"}, {"--resume needs --stream"});
  expect_refused("scores.onnx", {"--input", x, "--stream", "--output", path("none/y.npy")}, {"none does not exist"});
  expect_refused("scores.onnx", {"--input", path("none.npy"), "--stream", "--output", y}, {"cannot open ", "none.npy"});
  expect_refused("scores.onnx", {"--input", "z=" + x, "--stream", "--output", y}, {"has no input 'z'; inputs are x"});
  write_file(path("x.txt"), "no array");
  expect_refused("scores.onnx", {"--input", path("x.txt"), "--stream", "--output", y},
                 {"x.txt: not an .npy or idx file"});
  fs::create_symlink("/dev/full", path("full.npy"));
  expect_refused("scores.onnx", {"--input", x, "--stream", "--output", path("full.npy")},
                 {"full.npy is not a regular file"});
  write_model("sums.onnx", OnnxModel(13)
                               .input("x", {-1, 1, 28, 28})
                               .output("y")
                               .node("ReduceSum", {"x"}, {"s"})
                               .node("Add", {"x", "s"}, {"y"}));
  expect_refused("sums.onnx", {"--input", x, "--stream", "--output", y}, {"does not process each image independently"});
  EXPECT_FALSE(fs::exists(path("y.npy.part"))) << "nothing was begun";
}

TEST_F(Stream, AFileThatIsCutOffIsRefusedAtOnce) {
  write_scores_model();
  const std::vector<uint8_t> bytes = to_npy(random_array<uint8_t>({10, 1, 28, 28}));
  write_file(path("x.npy"), std::span(bytes).first(bytes.size() - 1));
  expect_refused("scores.onnx", {"--input", path("x.npy"), "--stream", "--output", path("y.npy")},
                 {"10x1x28x28 needs 7840 bytes after the header, the file has 7839"});
}

TEST_F(Stream, GzipThatBreaksOffKeepsWhatIsBefore) {
  write_scores_model();
  const Tensor x = random_array<uint8_t>({30000, 1, 28, 28});
  write_gzipped(path("x.gz"), idx_of(x));
  fs::resize_file(path("x.gz"), fs::file_size(path("x.gz")) / 2);
  expect_refused("scores.onnx", {"--input", path("x.gz"), "--stream", "--output", path("y.npy")},
                 {"x.gz: truncated gzip data", "of 30000 rows are in", "continue with --resume"});
  EXPECT_GT(rows_kept(), 10000);
  EXPECT_LT(rows_kept(), 20000);
}

TEST_F(Stream, AFileThatShrinksKeepsWhatIsBefore) {
  write_slow_model();
  write_slow_input(300);
  const StartedProgram run = start("slow.onnx", {"--input", path("x.npy")});
  wait_for_rows(0);
  fs::resize_file(path("x.npy"), fs::file_size(path("x.npy")) - 1);
  EXPECT_EQ(run.wait(), 2);
  EXPECT_THAT(run.complaint(), AllOf(HasSubstr("x.npy: truncated: image 299 of 300"),
                                     HasSubstr("299 of 300 rows are in"), HasSubstr("continue with --resume")));
  EXPECT_EQ(rows_kept(), 299);
}

TEST_F(Stream, KilledAtAnyMomentItIsResumed) {
  write_slow_model();
  write_slow_input(300);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<uint8_t> expected = result("slow.onnx", {"--input", path("x.npy"), "--stream", "--threads", "1"});
  const auto whole = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count();
  std::minstd_rand random(static_cast<unsigned>(::getpid()));
  int kills = 0, gone_on = 0;
  int64_t most = 0;
  for (int status = -1; status != 0;) {
    ASSERT_LT(kills, 200);
    const StartedProgram run = start("slow.onnx", {"--input", path("x.npy"), "--resume"});
    std::this_thread::sleep_for(milliseconds(50 + random() % static_cast<unsigned>(whole)));
    run.send(SIGKILL);
    status = run.wait();
    if (status == 0) break;
    ASSERT_EQ(status, 128 + SIGKILL) << run.complaint();
    ++kills;
    gone_on += rows_kept() > most ? 1 : 0;
    most = std::max(most, rows_kept());
  }
  constexpr int kSomeTimeMs = 2000;  // long enough that the journal has been written
  if (kills > 3 && whole > kSomeTimeMs) {
    EXPECT_GT(gone_on, 0);
  }
  EXPECT_EQ(read_file(path("y.npy")), expected);
  EXPECT_FALSE(fs::exists(path("y.npy.part")));
}

TEST_F(Stream, InterruptedItSaysHowToGoOn) {
  write_slow_model();
  write_slow_input(300);
  const std::vector<uint8_t> expected = result("slow.onnx", {"--input", path("x.npy"), "--stream"});
  const StartedProgram run = start("slow.onnx", {"--input", path("x.npy")});
  wait_for_rows(1);
  run.send(SIGINT);
  EXPECT_EQ(run.wait(), 128 + SIGINT);
  EXPECT_THAT(run.complaint(),
              AllOf(HasSubstr("interrupted: "), HasSubstr("of 300 rows are in"), HasSubstr("--resume")));
  EXPECT_GE(rows_kept(), 1);
  const StartedProgram rest = start("slow.onnx", {"--input", path("x.npy"), "--resume"});
  EXPECT_EQ(rest.wait(), 0) << rest.complaint();
  EXPECT_EQ(read_file(path("y.npy")), expected);
}

TEST_F(Stream, OtherWorkIsNotResumed) {
  write_slow_model();
  write_slow_input(200);
  const std::vector<std::string> arguments{"--input", path("x.npy"), "--stream", "--output", path("y.npy")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return more;
  };
  {
    const StartedProgram run = start("slow.onnx", {"--input", path("x.npy")});
    wait_for_rows(1);
    expect_refused("slow.onnx", with({"--resume"}), {"in use by another process"});
    run.send(SIGKILL);
    run.wait();
  }
  const int64_t rows = rows_kept();
  expect_refused("slow.onnx", arguments, {"y.npy.part: left by an earlier run", "--resume", "delete the file"});
  expect_refused("slow.onnx", with({"--resume", "--plan", "layers"}),
                 {"'plan: fused'", "'plan: layers'", "delete the file"});
  expect_refused("slow.onnx", with({"--resume", "--batch", "3"}), {"'batch: 3'"});
  fs::last_write_time(path("x.npy"), fs::last_write_time(path("x.npy")) + std::chrono::seconds(1));
  expect_refused("slow.onnx", with({"--resume"}), {"'state: 39321"});
  fs::last_write_time(path("x.npy"), fs::last_write_time(path("x.npy")) - std::chrono::seconds(1));
  write_slow_model(1);
  expect_refused("slow.onnx", with({"--resume"}), {"'model: "});
  write_slow_model();
  EXPECT_EQ(rows_kept(), rows) << "nothing of it is lost";
  fs::rename(path("y.npy.part.journal"), path("journal"));
  expect_refused("slow.onnx", with({"--resume"}), {"y.npy.part.journal", "delete the file"});
  fs::rename(path("journal"), path("y.npy.part.journal"));
  const ProgramRun run = infer("slow.onnx", with({"--resume"}));
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("rows were already computed"));
}

TEST_F(Stream, NoSpaceIsSeenAtOnce) {
  const std::string disk = path("disk");
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "this process may not mount a small disk";
  write_scores_model();
  write_file(path("x.npy"), to_npy(random_array<uint8_t>({20000, 1, 28, 28})));
  expect_refused("scores.onnx", {"--input", path("x.npy"), "--stream", "--output", disk + "/y.npy"},
                 {"y.npy.part: no disk space for 240128 bytes of results"});
  EXPECT_TRUE(fs::is_empty(disk)) << "no part is left";
  ::umount(disk.c_str());
}

/// Images that all differ; the last ones are in a folder with a long name.
class StreamedPictures : public Stream {
 protected:
  static constexpr int kPictures = 25;

  StreamedPictures() {
    write_model("means.onnx", OnnxModel(13)
                                  .input("x", {-1, 3, -1, -1})
                                  .output("y")
                                  .node("GlobalAveragePool", {"x"}, {"m"})
                                  .node("Flatten", {"m"}, {"y"}));
    const std::string deep = std::string(80, 'd') + "/" + std::string(80, 'e');
    fs::create_directories(path("pictures/" + deep));
    for (int i = 0; i < kPictures; ++i) {
      const auto gray = static_cast<uint8_t>(i * 10);
      names_.push_back((i < 20 ? std::string(1, static_cast<char>('A' + i)) : deep + "/" + std::to_string(i)) + ".png");
      write_picture(i, gray);
    }
    write_file(path("pictures/labels.txt"), "no picture");
  }

  std::string picture(int i) const { return path("pictures/" + names_[static_cast<size_t>(i)]); }
  void write_picture(int i, uint8_t gray) const {
    write_file(picture(i), png_bytes({.width = 4, .height = 4, .samples = filled(16, {gray, 1, 2})}));
  }

  /// At this size, ten images are read at a time.
  std::vector<std::string> arguments(const std::vector<std::string>& images) const {
    std::vector<std::string> all{"--resize", "264x264", "--preset", "raw", "--image"};
    all.insert(all.end(), images.begin(), images.end());
    return all;
  }
  std::vector<std::string> streamed(const std::string& place) const {
    std::vector<std::string> all = arguments({place});
    all.push_back("--stream");
    return all;
  }
  std::vector<uint8_t> expected() const {
    std::vector<std::string> all;
    for (int i = 0; i < kPictures; ++i) all.push_back(picture(i));
    return result("means.onnx", arguments(all));
  }

  void make_archive(const std::string& format) const {
    std::vector<std::string> command{"tar", "--format=" + format, "-C",        path("pictures"),
                                     "-cf", path("all.tar"),      "labels.txt"};
    command.insert(command.end(), names_.begin(), names_.end());
    const ProcessRun run = run_process("tar", command);
    ASSERT_EQ(run.status, 0) << run.complaint;
  }

  std::vector<std::string> names_;
};

TEST_F(StreamedPictures, OfAFolderAreInTheOrderOfTheirNames) {
  EXPECT_EQ(result("means.onnx", streamed(path("pictures"))), expected());
}

TEST_F(StreamedPictures, OfAnArchiveAreInItsOrder) {
  const std::vector<uint8_t> wanted = expected();
  for (const char* format : {"ustar", "pax", "gnu"}) {
    make_archive(format);
    EXPECT_EQ(result("means.onnx", streamed(path("all.tar"))), wanted) << format;
  }
  write_gzipped(path("all.tar.gz"), read_file(path("all.tar")));
  EXPECT_EQ(result("means.onnx", streamed(path("all.tar.gz"))), wanted);
}

TEST_F(StreamedPictures, ABrokenOneEndsTheRunAndIsResumedFrom) {
  const std::vector<uint8_t> wanted = expected();
  write_file(picture(16), "no picture");
  std::vector<std::string> with = streamed(path("pictures"));
  with.insert(with.end(), {"--output", path("y.npy")});
  expect_refused("means.onnx", with,
                 {"Q.png: not a JPEG or PNG image", "16 of 25 rows are in", "continue with --resume"});
  EXPECT_EQ(rows_kept(), 16);
  with.push_back("--resume");
  expect_refused("means.onnx", with, {"Q.png: not a JPEG or PNG image", "16 of 25 rows"});
  write_picture(16, 160);
  const ProgramRun run = infer("means.onnx", with);
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_EQ(read_file(path("y.npy")), wanted);
}

TEST_F(StreamedPictures, OfAnotherSizeAreNamed) {
  write_file(picture(3), png_bytes({.width = 5, .height = 4, .samples = filled(20, {1, 2, 3})}));
  expect_refused("means.onnx", {"--image", path("pictures"), "--stream", "--output", path("y.npy")},
                 {"D.png is 1x3x4x5", "A.png", "--resize", "3 of 25 rows"});
}

TEST_F(StreamedPictures, DamagedArchives) {
  make_archive("ustar");
  const std::vector<uint8_t> bytes = read_file(path("all.tar"));
  std::vector<std::string> with = streamed(path("all.tar"));
  with.insert(with.end(), {"--output", path("y.npy")});
  write_file(path("all.tar"), std::span(bytes).first(10000));
  expect_refused("means.onnx", with, {"all.tar: byte", "truncated"});
  std::vector<uint8_t> changed = bytes;
  changed[1024 + 3] ^= 1;
  write_file(path("all.tar"), changed);
  expect_refused("means.onnx", with, {"all.tar: byte 1024: corrupt archive"});
  write_file(path("all.tar"), "this is no archive");
  expect_refused("means.onnx", with, {"all.tar: byte 0", "not a tar archive"});
  fs::create_directory(path("empty"));
  expect_refused("means.onnx", {"--image", path("empty"), "--stream", "--output", path("y.npy")}, {"no images found"});
}

}  // namespace
}  // namespace convlab
