#include "convlab/base/resources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "convlab/base/error.h"

namespace convlab {
namespace {

namespace fs = std::filesystem;

TEST(Resources, FoundUpwardsFromTheExecutable) {
  EXPECT_EQ(fs::weakly_canonical(find_resource("cmake/targets.cmake")),
            fs::weakly_canonical(CONVLAB_SOURCE_DIR "/cmake/targets.cmake"));
}

TEST(Resources, FoundUpwardsFromTheCurrentFolder) {
  const fs::path before = fs::current_path();
  const fs::path folder = fs::temp_directory_path() / ("convlab_resources_" + std::to_string(::getpid()));
  fs::create_directories(folder / "deep/deeper");
  std::ofstream(folder / "a_file_of_this_test.txt") << "here";
  fs::current_path(folder / "deep/deeper");
  fs::path found;
  try {
    found = find_resource("a_file_of_this_test.txt");
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  fs::current_path(before);
  EXPECT_EQ(fs::weakly_canonical(found), fs::weakly_canonical(folder / "a_file_of_this_test.txt"));
  fs::remove_all(folder);
}

TEST(Resources, AbsenceNamesTheFileAndThePlaces) {
  try {
    find_resource("no/such/file.txt");
    FAIL() << "found what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_NE(std::string(error.what()).find("no/such/file.txt"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(fs::current_path().string()), std::string::npos);
  }
}

}  // namespace
}  // namespace convlab
