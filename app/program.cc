#include "app/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "app/command_line.h"
#include "app/guests/kernel_files.h"
#include "app/results/streams.h"
#include "app/usage.h"
#include "convlab/base/error.h"

namespace convlab::app {
namespace {

/// A closed standard stream would pass its number to the first opened file, and messages would end up in that file.
void open_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != descriptor) std::abort();
  }
}

int complain(const char* message, int status) {
  std::fflush(results_stream());
  std::fprintf(messages_stream(), "convlab: %s\n", message);
  return status;
}

}  // namespace

int run_program(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv) {
  constexpr int kBadInput = static_cast<int>(ErrorKind::bad_input);
  start_usage_clock();
  open_standard_streams();
  try {
    if (program.begin != nullptr) program.begin(argc, argv);
    run_command_line(program, commands, argc, argv);
    return 0;
  } catch (const ExitStatus& exit) {
    return exit.status;
  } catch (const Error& error) {
    return complain(error.what(), static_cast<int>(error.kind()));
  } catch (const std::bad_alloc&) {
    return complain("out of memory; use a smaller --batch, fewer images or a smaller model", kBadInput);
  } catch (const std::exception& error) {
    return complain(error.what(), kBadInput);
  }
}

}  // namespace convlab::app
