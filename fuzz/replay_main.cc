// Runs a fuzz target on every file of a folder, so that its corpus is a plain test without libFuzzer.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "convlab/base/file.h"
#include "fuzz/fuzz.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
      std::printf("%s\n", file.filename().c_str());
      std::fflush(stdout);  // so that the last line names the input that crashes
      // A separate allocation of the exact size, so that sanitizers detect reads past the end.
      const std::vector<uint8_t> bytes = convlab::read_file(file);
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
