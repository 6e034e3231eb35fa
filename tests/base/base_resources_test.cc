// Tests how the program finds its resource files relative to its executable.

#include "convlab/base/resources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "convlab/base/error.h"
#include "tests/support/paths.h"

namespace convlab {
namespace {

namespace fs = std::filesystem;

TEST(Resources, FoundUpwardsFromTheExecutable) {
  EXPECT_EQ(fs::weakly_canonical(find_resource("cmake/targets.cmake")),
            fs::weakly_canonical(source_folder() / "cmake/targets.cmake"));
}

TEST(Resources, AreNotTakenFromTheCurrentFolder) {
  const fs::path before = fs::current_path();
  const fs::path folder = fs::temp_directory_path() / ("convlab_resources_" + std::to_string(::getpid()));
  fs::create_directories(folder / "deep");
  std::ofstream(folder / "a_file_of_this_test.txt") << "planted";
  fs::current_path(folder / "deep");
  EXPECT_THROW(find_resource("a_file_of_this_test.txt"), Error);
  fs::current_path(before);
  fs::remove_all(folder);
}

TEST(Resources, AbsenceNamesTheFileAndThePlaces) {
  try {
    find_resource("no/such/file.txt");
    FAIL() << "found what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_NE(std::string(error.what()).find("no/such/file.txt"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(" or its parent directories"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace convlab
