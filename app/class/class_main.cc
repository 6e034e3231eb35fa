// The program convlab-class, which `convlab class` starts: its table of commands. Exit statuses are the same as
// convlab's.

#include <array>

#include "app/class/commands.h"
#include "app/program.h"

namespace convlab::app {
namespace {

const ProgramInfo kProgram{"convlab class",
                           "Run a class: submissions, verdicts, ranking, grades",
                           {"convlab class new myclass --assignment fa19"}};

constexpr std::array kCommands{
    Command{"new",
            "Create a class: its folder, assignments and secrets",
            {"convlab class new myclass --assignment fa19 sp25"},
            declare_class_new},
    Command{"submit",
            "Submit a kernel file",
            {"convlab class submit myclass new-forward.cuh --wait"},
            declare_class_submit},
    Command{"status",
            "Show the queue, running jobs and the latest verdicts",
            {"convlab class status myclass"},
            declare_class_status},
    Command{"history",
            "Show all submissions",
            {"convlab class history myclass --json history.json"},
            declare_class_history},
    Command{"ranking",
            "Show each student's best submission",
            {"convlab class ranking myclass --assignment fa19"},
            declare_class_ranking},
    Command{"work",
            "Run a worker that judges one submission at a time",
            {"convlab class work myclass --until-empty"},
            declare_class_work},
    Command{"serve", "Serve the class as a web page", {"convlab class serve myclass --port 8080"}, declare_class_serve},
    Command{"token",
            "Create or revoke students' tokens for the web page",
            {"convlab class token myclass 'Ada Lovelace'"},
            declare_class_token},
    Command{"grade",
            "Write the grades, or queue submissions to be judged again",
            {"convlab class grade myclass --csv grades.csv"},
            declare_class_grade},
    Command{"delete",
            "Delete submissions, or a student with all submissions",
            {"convlab class delete myclass 7", "convlab class delete myclass --student 'Ada Lovelace'"},
            declare_class_delete},
    Command{"judge", "Judge one job (a worker starts this)", {"convlab class judge --help"}, declare_class_judge},
    Command{"replay", "", {}, declare_class_replay},  // started by the judge
};

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  return convlab::app::run_program(convlab::app::kProgram, convlab::app::kCommands, argc, argv);
}
