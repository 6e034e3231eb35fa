#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "app/options.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab::app {
namespace {

[[noreturn]] void reject_command(const ProgramInfo& program, std::span<const Command> commands,
                                 const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (!command.summary.empty()) names.emplace_back(command.name);
  }
  const std::string nearest = closest(name, names);
  throw bad_input("there is no command '{}'{}; '{} --help' lists all", name,
                  nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest), program.name);
}

/// CLI11 says what it did not expect; this adds the option that was probably meant.
[[noreturn]] void reject_arguments(const ProgramInfo& program, const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  std::string hint;
  for (const std::string& extra : command.remaining()) {
    const std::string nearest = extra.starts_with("--") ? closest(extra.substr(0, extra.find('=')), names) : "";
    if (!nearest.empty()) hint = fmt::format(" (did you mean {}?)", nearest);
  }
  throw bad_input("{}: {}{}; see '{} {} --help'", command.get_name(), error.what(), hint, program.name,
                  command.get_name());
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

}  // namespace

void run_command_line(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv) {
  CLI::App app(program.summary, program.name);
  app.set_version_flag("--version", "convlab " CONVLAB_VERSION);
  app.require_subcommand(1);
  app.footer(fmt::format("'{} COMMAND --help' tells more about one.\nExample: {}", program.name, program.example));
  std::vector<CLI::App*> parsers;
  std::vector<Action> actions;
  std::string json_path;
  for (const Command& command : commands) {
    CLI::App* parser = app.add_subcommand(std::string(command.name), std::string(command.summary));
    actions.push_back(command.declare(*parser));
    add_text(*parser, "--json", json_path, "FILE", "write the results as JSON, too; - is standard output, instead");
    if (command.summary.empty()) parser->group("");
    parser->footer(fmt::format("Example: {}", command.example));
    parsers.push_back(parser);
  }

  if (argc < 2) throw bad_input("no command is given; '{} --help' lists all", program.name);
  const std::string first = argv[1];
  const CLI::App* parser = &app;  // whose help to show
  if (!first.starts_with('-')) {
    const auto named =
        std::find_if(parsers.begin(), parsers.end(), [&](auto* each) { return each->get_name() == first; });
    if (named == parsers.end()) reject_command(program, commands, first);
    parser = *named;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {  // --help or --version
    const std::string text = app.get_option("--version")->count() > 0
                                 ? "convlab " CONVLAB_VERSION "\n"
                                 : parser->help(parser == &app ? "" : program.name);
    Output("").print("{}", text);
    return;
  } catch (const CLI::ParseError& error) {
    if (parser == &app) throw bad_input("'{}' is no command; '{} --help' lists all", first, program.name);
    reject_arguments(program, *parser, error);
  }
  for (size_t i = 0; i < parsers.size(); ++i) {
    if (!parsers[i]->parsed()) continue;
    Output output(json_path, command_line(argc, argv));
    actions[i](output);
  }
}

}  // namespace convlab::app
