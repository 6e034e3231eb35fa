#pragma once

#include "app/command.h"

namespace convlab::app {

// The commands of convlab-class, one per file; the table in main.cc lists them.
Action declare_class_delete(CLI::App& options);
Action declare_class_grade(CLI::App& options);
Action declare_class_history(CLI::App& options);
Action declare_class_judge(CLI::App& options);
Action declare_class_new(CLI::App& options);
Action declare_class_ranking(CLI::App& options);
Action declare_class_replay(CLI::App& options);
Action declare_class_serve(CLI::App& options);
Action declare_class_status(CLI::App& options);
Action declare_class_submit(CLI::App& options);
Action declare_class_token(CLI::App& options);
Action declare_class_work(CLI::App& options);

}  // namespace convlab::app
