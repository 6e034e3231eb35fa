// Adds command-line options with strict values to CLI11.

#include "app/option_parsers.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab::app {
namespace {

/// "-n,--images" -> "--images".
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

}  // namespace

CLI::Option* add_parsed(CLI::App& options, const std::string& names, const std::string& type, const std::string& help,
                        std::function<void(const std::string& text, const std::string& name)> parse) {
  const std::string name = long_name(names);
  return options
      .add_option_function<std::string>(
          names, [name, parse = std::move(parse)](const std::string& text) { parse(text, name); }, help)
      ->type_name(type);
}

CLI::Option* add_int(CLI::App& options, const std::string& names, int64_t& value, int64_t low, int64_t high,
                     const std::string& help) {
  return add_parsed(options, names, "N", help, [&value, low, high](const std::string& text, const std::string& name) {
    value = parse_int(text, name, low, high);
  });
}

CLI::Option* add_real(CLI::App& options, const std::string& names, double& value, double low, double high,
                      const std::string& help) {
  return add_parsed(options, names, "X", help, [&value, low, high](const std::string& text, const std::string& name) {
    value = parse_double(text, name, low, high);
  });
}

CLI::Option* add_choice(CLI::App& options, const std::string& names, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help) {
  return add_parsed(options, names, fmt::format("{}", fmt::join(choices, "|")), help,
                    [&value, choices](const std::string& text, const std::string& name) {
                      if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
                        throw bad_input("{} must be one of {}, got '{}'", name, fmt::join(choices, ", "), text);
                      }
                      value = text;
                    });
}

CLI::Option* add_text(CLI::App& options, const std::string& names, std::string& value, const std::string& type,
                      const std::string& help) {
  return add_parsed(options, names, type, help, [&value](const std::string& text, const std::string& name) {
    if (text.empty()) throw bad_input("{}: value is empty", name);
    value = text;
  });
}

CLI::Option* add_flag(CLI::App& options, const std::string& names, bool& value, const std::string& help) {
  return options.add_flag(names, value, help);
}

CLI::Option* add_texts(CLI::App& options, const std::string& names, std::vector<std::string>& values, int fewest,
                       int most, const std::string& type, const std::string& help) {
  return options.add_option(names, values, help)->type_name(type)->expected(fewest, most);
}

void take_rest(CLI::App& options, std::vector<std::string>& rest) {
  options.set_help_flag();
  options.prefix_command();
  options.parse_complete_callback([&options, &rest] { rest = options.remaining(); });
}

void require(CLI::Option* option) { option->required(); }

void exclude(CLI::Option* option, CLI::Option* other) { option->excludes(other); }

}  // namespace convlab::app
