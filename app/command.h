#pragma once

#include <array>
#include <functional>
#include <string_view>

#include "app/option_parsers.h"
#include "app/results/output.h"

namespace convlab::app {

/// What a command does once its arguments are parsed. Results go to `output`, messages and progress to standard error;
/// failures are thrown as Error, whose kind is the exit status.
using Action = std::function<void(Output& output)>;

/// Example commands for --help; unused entries are empty.
using Examples = std::array<std::string_view, 3>;

/// One command of the binary. `declare` adds its options and positionals to `options` (see app/option_parsers.h) and
/// returns the action, which holds the parsed values. Help does not show commands without a summary.
struct Command {
  std::string_view name, summary;
  Examples examples;
  Action (*declare)(CLI::App& options);
};

// One file per command; the table in main.cc lists them.
Action declare_ablate(CLI::App& options);
Action declare_bench(CLI::App& options);
Action declare_class(CLI::App& options);
Action declare_compare(CLI::App& options);
Action declare_convert(CLI::App& options);
Action declare_cuda(CLI::App& options);
Action declare_explain(CLI::App& options);
Action declare_infer(CLI::App& options);
Action declare_merge(CLI::App& options);
Action declare_judge_file(CLI::App& options);
Action declare_prove_file(CLI::App& options);
Action declare_list(CLI::App& options);
Action declare_measure_variants(CLI::App& options);
Action declare_new(CLI::App& options);
Action declare_predict(CLI::App& options);
Action declare_profile(CLI::App& options);
Action declare_report(CLI::App& options);
Action declare_run(CLI::App& options);
Action declare_tune(CLI::App& options);
Action declare_verify(CLI::App& options);
// The course's scripts, all in course_commands.cc.
Action declare_m11(CLI::App& options);
Action declare_m12(CLI::App& options);
Action declare_m21(CLI::App& options);
Action declare_m31(CLI::App& options);
Action declare_m41(CLI::App& options);
Action declare_final(CLI::App& options);

}  // namespace convlab::app
