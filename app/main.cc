// The command line: a table of commands, parsing, and the one place where a failure becomes a message and an exit
// status: 0 done and right, 1 a wrong result, 2 bad usage or input, 3 something asked for is not there.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/options.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab::app {
namespace {

constexpr std::array kCommands{
    Command{"list", "Show every kernel, shipped model and device", "convlab list kernels", declare_list},
    Command{"run", "Classify Fashion-MNIST: the main job", "convlab run fa19 -n 1000", declare_run},
    Command{"m1.1", "The course's script: the library's convolution on the CPU", "convlab m1.1 1000", declare_m11},
    Command{"m1.2", "The course's script: the library's convolution on the GPU", "convlab m1.2 1000", declare_m12},
    Command{"m2.1", "The course's script: a convolution of the project's own on the CPU", "convlab m2.1 1000",
            declare_m21},
    Command{"m3.1", "The course's script: the plain CUDA kernel on the GPU", "convlab m3.1 10 --device simt",
            declare_m31},
    Command{"m4.1", "The course's script: the fastest rung of the ladder on the GPU", "convlab m4.1 10 --device simt",
            declare_m41},
    Command{"final", "The course's script: the best kernel for each layer on the GPU", "convlab final 10 --device simt",
            declare_final},
    Command{"infer", "Run a model on any input", "convlab infer model.onnx --input x.npy --output y.npy",
            declare_infer},
    Command{"verify", "Check kernels against the definition, element by element",
            "convlab verify --kernel 'cpu.*' --problem n2_c12h33w33_k24r5s5", declare_verify},
    Command{"bench", "Time kernels, beside the library's and what the machine could do",
            "convlab bench --kernel 'cpu.*' --model fa19 -n 100,1000", declare_bench},
    Command{"profile", "Show where a run's time goes: nvprof's tables, by layer, and the bill of the start-up",
            "convlab profile fa19 -n 1000", declare_profile},
    Command{"report", "Write the course's report with its evidence, one page", "convlab report -o report.html",
            declare_report},
    Command{"convert", "Write an MXNet checkpoint as ONNX", "convlab convert ece408-0001.params -o ece408.onnx",
            declare_convert},
};

/// A closed standard stream would pass its number to the first opened file, and messages would end up in that file.
void open_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != descriptor) std::abort();
  }
}

[[noreturn]] void reject_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  const std::string nearest = closest(name, names);
  throw bad_input("there is no command '{}'{}; 'convlab --help' lists all", name,
                  nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest));
}

/// CLI11 says what it did not expect; this adds the option that was probably meant.
[[noreturn]] void reject_arguments(const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  std::string hint;
  for (const std::string& extra : command.remaining()) {
    const std::string nearest = extra.starts_with("--") ? closest(extra.substr(0, extra.find('=')), names) : "";
    if (!nearest.empty()) hint = fmt::format(" (did you mean {}?)", nearest);
  }
  throw bad_input("{}: {}{}; see 'convlab {} --help'", command.get_name(), error.what(), hint, command.get_name());
}

/// The arguments as given, except for --json.
std::string command_line(int argc, char** argv) {
  std::string text;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") ++i;
    if (argument.starts_with("--json")) continue;
    text += (text.empty() ? "" : " ") + argument;
  }
  return text;
}

void run(int argc, char** argv) {
  CLI::App app("A CNN inference engine with a laboratory of convolution kernels inside", "convlab");
  app.set_version_flag("--version", "convlab " CONVLAB_VERSION);
  app.require_subcommand(1);
  app.footer("'convlab COMMAND --help' tells more about one.\nExample: convlab run fa19 -n 1000");
  std::vector<CLI::App*> parsers;
  std::vector<Action> actions;
  std::string json_path;
  for (const Command& command : kCommands) {
    CLI::App* parser = app.add_subcommand(std::string(command.name), std::string(command.summary));
    actions.push_back(command.declare(*parser));
    add_text(*parser, "--json", json_path, "FILE", "write the results as JSON, too; - is standard output, instead");
    parser->footer(fmt::format("Example: {}", command.example));
    parsers.push_back(parser);
  }

  if (argc < 2) throw bad_input("no command is given; 'convlab --help' lists all");
  const std::string first = argv[1];
  const CLI::App* parser = &app;  // whose help to show
  if (!first.starts_with('-')) {
    const auto named =
        std::find_if(parsers.begin(), parsers.end(), [&](auto* each) { return each->get_name() == first; });
    if (named == parsers.end()) reject_command(first);
    parser = *named;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {  // --help or --version
    const std::string text = app.get_option("--version")->count() > 0 ? "convlab " CONVLAB_VERSION "\n"
                                                                      : parser->help(parser == &app ? "" : "convlab");
    Output("").print("{}", text);
    return;
  } catch (const CLI::ParseError& error) {
    if (parser == &app) throw bad_input("'{}' is no command; 'convlab --help' lists all", first);
    reject_arguments(*parser, error);
  }
  for (size_t i = 0; i < parsers.size(); ++i) {
    if (!parsers[i]->parsed()) continue;
    Output output(json_path, command_line(argc, argv));
    actions[i](output);
  }
}

int complain(const char* message, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "convlab: %s\n", message);
  return status;
}

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  using convlab::app::complain;
  constexpr int kBadInput = static_cast<int>(convlab::ErrorKind::bad_input);
  convlab::app::start_usage_clock();
  convlab::app::open_standard_streams();
  try {
    convlab::app::run(argc, argv);
    return 0;
  } catch (const convlab::Error& error) {
    return complain(error.what(), static_cast<int>(error.kind()));
  } catch (const std::bad_alloc&) {
    return complain("out of memory; give a smaller --batch, fewer images or a smaller model", kBadInput);
  } catch (const std::exception& error) {
    return complain(error.what(), kBadInput);
  }
}
