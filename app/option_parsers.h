#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Only option_parsers.cc and command_line.cc include CLI11, because it takes seconds to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace convlab::app {

// Options with strict values: each throws Error(bad_input), which names the option and what it accepts, for everything
// but a whole value in range. `names` is CLI11's: "-n,--images" for an option, "IMAGES" for a positional.

CLI::Option* add_int(CLI::App& options, const std::string& names, int64_t& value, int64_t low, int64_t high,
                     const std::string& help);
CLI::Option* add_real(CLI::App& options, const std::string& names, double& value, double low, double high,
                      const std::string& help);
CLI::Option* add_choice(CLI::App& options, const std::string& names, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help);
CLI::Option* add_text(CLI::App& options, const std::string& names, std::string& value, const std::string& type,
                      const std::string& help);

/// `parse` is called with the value, and the option's name for error messages.
CLI::Option* add_parsed(CLI::App& options, const std::string& names, const std::string& type, const std::string& help,
                        std::function<void(const std::string& text, const std::string& name)> parse);

/// Sets `value` to true if the option is given; it has no argument.
CLI::Option* add_flag(CLI::App& options, const std::string& names, bool& value, const std::string& help);

/// Accepts at least `fewest` and at most `most` texts, one after another.
CLI::Option* add_texts(CLI::App& options, const std::string& names, std::vector<std::string>& values, int fewest,
                       int most, const std::string& type, const std::string& help);

/// `most` of add_texts() for any number.
constexpr int kAnyNumber = -1;

/// The largest number of images that an option accepts.
constexpr int64_t kMostImages = int64_t{1} << 30;

/// The largest number of passes that --repeat accepts.
constexpr int64_t kMostPasses = 10000;

/// Takes all words after the command's name as they are, --help included: the command parses them.
void take_rest(CLI::App& options, std::vector<std::string>& rest);

/// Makes the option mandatory.
void require(CLI::Option* option);

/// Makes the two options mutually exclusive.
void exclude(CLI::Option* option, CLI::Option* other);

}  // namespace convlab::app
