// Tests reading and writing of whole files: size limits, links, pipes, devices and error messages.

#include "convlab/base/file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <limits>

#include "convlab/base/limits.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(File, BytesSurviveTheWayThroughAFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "bytes";
  write_file(path, std::vector<uint8_t>{0, 10, 13, 255, 0});
  EXPECT_THAT(read_file(path), ElementsAre(0, 10, 13, 255, 0));
  write_file(path, "shorter");
  EXPECT_EQ(text_of(path), "shorter");
  write_file(path, "");
  EXPECT_EQ(text_of(path), "");
  EXPECT_EQ(files_in(folder.path()), 1u) << "a temporary file is left";
}

TEST(File, IsReadWhereItIsWanted) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "bytes";
  write_file(path, "0123456789");
  const InputFile file(path);
  EXPECT_EQ(file.size(), 10);
  std::vector<uint8_t> three(3);
  file.read(6, three);
  EXPECT_THAT(three, ElementsAre('6', '7', '8'));
  std::filesystem::resize_file(path, 7);
  EXPECT_THAT(bad_input_message([&] { file.read(6, three); }),
              AllOf(HasSubstr(path.string()), HasSubstr("the file had 10 bytes and is shorter now")));
}

TEST(File, AMissingFileIsNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "absent.onnx";
  EXPECT_THAT(bad_input_message([&] { read_file(path); }),
              AllOf(HasSubstr(path.string()), HasSubstr("No such file or directory")));
}

TEST(File, AFolderIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(bad_input_message([&] { read_file(folder.path()); }),
              AllOf(HasSubstr(folder.path().string()), HasSubstr("is a directory")));
  EXPECT_THAT(bad_input_message([&] { write_file(folder.path(), "text"); }),
              AllOf(HasSubstr(folder.path().string()), HasSubstr("Is a directory")));
}

TEST(File, APipeIsAnErrorAndNotAWaitForItsWriter) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(bad_input_message([&] { read_file(path); }), HasSubstr("is not a regular file"));
  EXPECT_THAT(bad_input_message([] { read_file("/dev/zero"); }), HasSubstr("is not a regular file"));
}

TEST(File, AFileOverTheLimitIsNotRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "long";
  write_file(path, "12345");
  EXPECT_EQ(read_file(path, 5).size(), 5u);
  EXPECT_THAT(bad_input_message([&] { read_file(path, 4); }), AllOf(HasSubstr("5 bytes"), HasSubstr("at most 4")));
}

TEST(File, AnUnwritablePlaceIsNamed) {
  // Not even root can write to these paths.
  EXPECT_THAT(bad_input_message([] { write_file("/proc/convlab.json", "text"); }), HasSubstr("/proc/convlab.json"));
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "text");
  EXPECT_THAT(bad_input_message([&] { write_file(folder.path() / "file" / "x.json", "text"); }),
              AllOf(HasSubstr("x.json"), HasSubstr("Not a directory")));
  EXPECT_THAT(bad_input_message([&] { write_file(folder.path() / "absent" / "x.json", "text"); }),
              AllOf(HasSubstr("x.json"), HasSubstr("No such file or directory")));
}

TEST(File, MoreThanTheMemoryIsNotRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "sparse";
  write_file(path, "");
  std::filesystem::resize_file(path, static_cast<uintmax_t>(usable_memory_bytes()) + 1);
  EXPECT_THAT(bad_input_message([&] { read_file(path, std::numeric_limits<int64_t>::max()); }),
              AllOf(HasSubstr(path.string()), HasSubstr(gigabytes(usable_memory_bytes()))));
}

TEST(File, ALinkStaysAndItsTargetIsWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "results/old");
  const std::filesystem::path file = folder.path() / "results/file.json", link = folder.path() / "link",
                              far = folder.path() / "results/old/far";
  write_file(file, "old");
  std::filesystem::create_symlink("results/file.json", link);
  std::filesystem::create_symlink("../../link", far);  // a link to a link, from another folder
  write_file(link, "new");
  EXPECT_EQ(text_of(file), "new");
  write_file(far, "newer");
  EXPECT_EQ(text_of(file), "newer");
  std::filesystem::remove(file);
  write_file(far, "newest");  // a missing target is created
  EXPECT_EQ(text_of(file), "newest");
  const std::filesystem::path absolute = folder.path() / "absolute";
  std::filesystem::create_symlink(file, absolute);
  write_file(absolute, "last");
  EXPECT_EQ(text_of(file), "last");
  for (const auto& each : {link, far, absolute}) EXPECT_TRUE(std::filesystem::is_symlink(each)) << each;
  EXPECT_EQ(files_in(file.parent_path()), 2U) << "a temporary file is left";

  std::filesystem::create_symlink("endless", folder.path() / "endless");
  EXPECT_THAT(bad_input_message([&] { write_file(folder.path() / "endless", "text"); }), HasSubstr("endless"));
}

TEST(File, AFullDeviceIsAnError) {
  EXPECT_THAT(bad_input_message([] { write_file("/dev/full", "text"); }),
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
}

TEST(File, DevicesAreWrittenInPlace) {
  write_file("/dev/null", "text");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace convlab
