// convlab class: starts a separate program, as git does for its commands.

#include "app/class_program.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "app/command.h"
#include "convlab/base/error.h"

namespace convlab::app {

void start_class_program(char** arguments) {
  constexpr const char* kProgram = "convlab-class";
  std::string name = kProgram;
  std::vector<char*> all{name.data()};
  for (; *arguments != nullptr; ++arguments) all.push_back(*arguments);
  all.push_back(nullptr);
  std::error_code error;
  const std::filesystem::path sibling = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / kProgram;
  ::execv(sibling.c_str(), all.data());
  ::execvp(kProgram, all.data());
  throw unavailable(
      "cannot find {} next to convlab or in PATH; install cmake/packages-class.txt, run './run.sh --device simt -n 1', "
      "then 'ninja -C build/cpu convlab_class'",
      kProgram);
}

/// Only for --help: main() has already started the other program when options are parsed.
Action declare_class(CLI::App&) { return {}; }

}  // namespace convlab::app
