// Finds the program convlab-jail and its libraries.

#include "convlab/judge/jail_program.h"

#include <string>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/process.h"
#include "convlab/base/text.h"

namespace convlab::judge {
namespace fs = std::filesystem;

const std::vector<fs::path>& jail_program() {
  static const std::vector<fs::path> files = [] {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path() / "convlab-jail";
    if (!fs::exists(program, error)) {
      throw unavailable("{} not found; build it with 'ninja -C build/cpu convlab_jail'", program.string());
    }
    std::vector<fs::path> all{program};
    const ProcessRun run = run_process(program.string(), {program.string(), "libraries"});
    for (const std::string& line : split(run.output, '\n')) {
      if (!line.empty()) all.emplace_back(line);
    }
    return all;
  }();
  return files;
}

}  // namespace convlab::judge
