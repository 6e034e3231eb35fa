// convlab-class, which `convlab class` starts: its table of commands. Exit statuses are convlab's.

#include <array>

#include "app/class/commands.h"
#include "app/program.h"

namespace convlab::app {
namespace {

const ProgramInfo kProgram{"convlab class", "A class of students: submissions, verdicts, a ranking",
                           "convlab class new myclass --assignment fa19"};

constexpr std::array kCommands{
    Command{"new", "Make a class: its folder, problem texts and secrets",
            "convlab class new myclass --assignment fa19 sp25", declare_class_new},
    Command{"submit", "Hand in a kernel file", "convlab class submit myclass new-forward.cuh --wait",
            declare_class_submit},
    Command{"status", "Show what waits, what runs, and the last verdicts", "convlab class status myclass",
            declare_class_status},
    Command{"history", "Show all submissions", "convlab class history myclass --json history.json",
            declare_class_history},
    Command{"ranking", "Show the best submission of each student", "convlab class ranking myclass --assignment fa19",
            declare_class_ranking},
    Command{"work", "Have one submission after another judged", "convlab class work myclass --until-empty",
            declare_class_work},
    Command{"serve", "Show the class as a web page", "convlab class serve myclass --port 8080", declare_class_serve},
    Command{"token", "Let students into the web page", "convlab class token myclass 'Ada Lovelace'",
            declare_class_token},
    Command{"grade", "Write the registrar's table, or have the best judged again",
            "convlab class grade myclass --csv grades.csv", declare_class_grade},
    Command{"judge", "Judge one job: what a worker runs", "convlab class judge --help", declare_class_judge},
    Command{"replay", "", "", declare_class_replay},  // started by the judge
};

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  return convlab::app::run_program(convlab::app::kProgram, convlab::app::kCommands, argc, argv);
}
