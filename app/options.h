#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Only options.cc and command_line.cc read CLI11: it takes the compiler seconds.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace convlab::app {

// Options with strict values: each rejects everything but a whole value in range, as Error(bad_input) that names the
// option and what it takes. `names` is CLI11's: "-n,--images" for an option, "IMAGES" for a positional.

CLI::Option* add_int(CLI::App& options, const std::string& names, int64_t& value, int64_t low, int64_t high,
                     const std::string& help);
CLI::Option* add_real(CLI::App& options, const std::string& names, double& value, double low, double high,
                      const std::string& help);
CLI::Option* add_choice(CLI::App& options, const std::string& names, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help);
CLI::Option* add_text(CLI::App& options, const std::string& names, std::string& value, const std::string& type,
                      const std::string& help);

/// `parse` takes the value and the option's name, for its message.
CLI::Option* add_parsed(CLI::App& options, const std::string& names, const std::string& type, const std::string& help,
                        std::function<void(const std::string& text, const std::string& name)> parse);

/// True if it is given; it takes no value.
CLI::Option* add_flag(CLI::App& options, const std::string& names, bool& value, const std::string& help);

/// At least `fewest` and at most `most` texts, one after another.
CLI::Option* add_texts(CLI::App& options, const std::string& names, std::vector<std::string>& values, int fewest,
                       int most, const std::string& type, const std::string& help);

/// `most` of add_texts() for any number.
constexpr int kAnyNumber = -1;

/// The most images that an option takes.
constexpr int64_t kMostImages = int64_t{1} << 30;

/// The option must be given.
void require(CLI::Option* option);

/// The two cannot be given together.
void exclude(CLI::Option* option, CLI::Option* other);

}  // namespace convlab::app
