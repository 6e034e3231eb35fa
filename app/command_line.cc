// Parses the command line with CLI11 and runs the command that it names.

#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/help_groups.h"
#include "app/option_parsers.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/text_form.h"

namespace convlab::app {
namespace {

/// The help of CLI11, with examples after the usage, groups in the order of kHelpGroups and descriptions that are at
/// most 100 columns wide.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Examples& examples) : examples_(examples) { label("SUBCOMMAND", "COMMAND"); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string text = CLI::Formatter::make_usage(app, std::move(name));
    for (size_t i = 0; i < examples_.size() && !examples_[i].empty(); ++i) {
      text += fmt::format("{}  {}\n", i == 0 ? "\nExamples:\n" : "", examples_[i]);
    }
    return text;
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
    for (const std::string_view group : kHelpGroups) {
      const std::vector<const CLI::Option*> options = app->get_options([&](const CLI::Option* option) {
        return option->nonpositional() && help_group_of("--" + option->get_single_name()) == group;
      });
      if (!options.empty()) text += make_group(std::string(group), false, options);
    }
    return text + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  /// "N", "FILE ... REQUIRED": without the options that exclude this one, which errors name.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const bool has_dots = option->get_type_name().ends_with("...");
    return fmt::format(" {}{}{}", option->get_type_name(), is_list(option) && !has_dots ? " ..." : "",
                       option->get_required() ? " REQUIRED" : "");
  }

  /// A positional in the usage line: "FILE", "[FILE...]".
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string text = make_option_name(option, true) + (is_list(option) ? "..." : "");
    return option->get_required() ? text : fmt::format("[{}]", text);
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    constexpr size_t kColumns = 100;
    std::vector<std::string> lines;
    for (const std::string& paragraph : split(option->get_description(), '\n')) {
      for (std::string& line : wrapped(paragraph, kColumns - get_column_width())) lines.push_back(std::move(line));
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
  }

 private:
  static bool is_list(const CLI::Option* option) {
    return option->get_expected_max() == CLI::detail::expected_max_vector_size;
  }

  Examples examples_;
};

[[noreturn]] void reject_command(const ProgramInfo& program, std::span<const Command> commands,
                                 const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (!command.summary.empty()) names.emplace_back(command.name);
  }
  throw bad_input("unknown command '{}'{}; '{} --help' lists all commands", name, did_you_mean(name, names),
                  program.name);
}

/// Rewords CLI11's message about wrong arguments in the style of our other messages.
std::string in_our_words(const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view kMissing = ": 1 required ";  // "--images: 1 required N missing"
  if (const size_t at = text.find(kMissing); at != std::string::npos && text.ends_with(" missing")) {
    return fmt::format("{} needs a value", text.substr(0, at));
  }
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {" excludes ", " cannot be combined with "},
      {": At Most 1 required but received ", ": expected one value, got "}};
  for (const auto& [theirs, ours] : kWords) {
    if (const size_t at = text.find(theirs); at != std::string::npos) text.replace(at, theirs.size(), ours);
  }
  return text;
}

/// Returns what is wrong with a command's arguments, with the option that was probably meant.
std::string problem_of(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return in_our_words(error);
  const auto option = std::ranges::find_if(extras, [](const std::string& each) { return each.starts_with('-'); });
  if (option == extras.end()) return fmt::format("unexpected argument '{}'", extras.front());
  std::vector<std::string> names;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string nearest = name.starts_with("--") ? closest(name, names) : "";
  return fmt::format("unknown option {}{}", name, nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest));
}

[[noreturn]] void reject_arguments(const ProgramInfo& program, const CLI::App& command, const CLI::ParseError& error) {
  throw bad_input("{}: {}; see '{} {} --help'", command.get_name(), problem_of(command, error), program.name,
                  command.get_name());
}

/// Returns the arguments without --json.
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
  app.formatter(std::make_shared<HelpFormatter>(program.examples));
  app.footer(fmt::format("'{} COMMAND --help' shows the options and examples of a command.", program.name));
  std::vector<CLI::App*> parsers;
  std::vector<Action> actions;
  std::string json_path;
  for (const Command& command : commands) {
    CLI::App* parser = app.add_subcommand(std::string(command.name), std::string(command.summary));
    actions.push_back(command.declare(*parser));
    add_text(*parser, "--json", json_path, "FILE",
             "also write the results as JSON; - writes JSON to standard output instead of text");
    if (command.summary.empty()) parser->group("");
    parser->formatter(std::make_shared<HelpFormatter>(command.examples));
    parser->footer("");
    parsers.push_back(parser);
  }

  if (argc < 2) throw bad_input("no command given; '{} --help' lists all commands", program.name);
  const std::string first = argv[1];
  const CLI::App* parser = &app;  // the command whose help is shown
  if (!first.starts_with('-')) {
    const auto named =
        std::find_if(parsers.begin(), parsers.end(), [&](auto* each) { return each->get_name() == first; });
    if (named == parsers.end()) reject_command(program, commands, first);
    parser = *named;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {  // --help or --version
    std::string text = app.get_option("--version")->count() > 0 ? "convlab " CONVLAB_VERSION "\n"
                                                                : parser->help(parser == &app ? "" : program.name);
    while (text.ends_with("\n\n")) text.pop_back();
    Output("").print("{}", text);
    return;
  } catch (const CLI::ParseError& error) {
    if (parser == &app) throw bad_input("unknown option {}; see '{} --help'", first, program.name);
    reject_arguments(program, *parser, error);
  }
  for (size_t i = 0; i < parsers.size(); ++i) {
    if (!parsers[i]->parsed()) continue;
    Output output(json_path, command_line(argc, argv));
    actions[i](output);
  }
}

}  // namespace convlab::app
