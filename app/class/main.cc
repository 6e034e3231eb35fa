// convlab-class, which `convlab class` starts: its table of commands. Exit statuses are convlab's.

#include <array>

#include "app/class/commands.h"
#include "app/program.h"

namespace convlab::app {
namespace {

const ProgramInfo kProgram{"convlab class", "A class of students: submissions, verdicts, a ranking",
                           "convlab class judge --help"};

constexpr std::array kCommands{
    Command{"judge", "Judge one job: what a worker runs", "convlab class judge --help", declare_class_judge},
};

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  return convlab::app::run_program(convlab::app::kProgram, convlab::app::kCommands, argc, argv);
}
