// Reads a program's settings from the environment.

#include "convlab/simt/program/program_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/simt/cuda/device_models.h"

namespace convlab::simt {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

template <class T>
void read_number(const char* name, T least, T most, T& number) {
  const std::string_view text = variable(name);
  if (text.empty()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    throw bad_input("{}={}: expected a number from {} to {}", name, text, least, most);
  }
}

template <class T, size_t kCount>
void read_choice(const char* name, const std::array<std::pair<std::string_view, T>, kCount>& choices, T& choice) {
  const std::string_view text = variable(name);
  if (text.empty()) return;
  std::string known;
  for (const auto& [word, value] : choices) {
    if (word == text) {
      choice = value;
      return;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  throw bad_input("{}={}: expected one of {}", name, text, known);
}

Schedule schedule_of(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (text.empty() || text == "in-order") return {};
  if (text == "reverse") return {Schedule::Order::reverse};
  Schedule schedule{Schedule::Order::random};
  const std::string_view seed = text.substr(std::min(text.size(), kRandom.size()));
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), schedule.seed);
  if (!text.starts_with(kRandom) || error != std::errc() || end != seed.data() + seed.size()) {
    throw bad_input("CONVLAB_SCHEDULE={}: expected in-order, reverse or random:SEED, such as random:1", text);
  }
  return schedule;
}

/// Returns the bytes of "1048576", "512M" or "2G".
size_t memory_of(std::string_view text) {
  if (text.empty()) return SIZE_MAX;
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  if (error != std::errc() || (shift == 0 && !unit.empty()) || number == 0 || number > SIZE_MAX >> shift) {
    throw bad_input("CONVLAB_MAX_MEMORY={}: expected a number of bytes, such as 1048576, 512M or 2G", text);
  }
  return number << shift;
}

Checks checks_of(std::string_view text) try {
  return text.empty() ? Checks::all() : parse_checks(text);
} catch (const Error& error) {
  throw bad_input("CONVLAB_CHECK={}: {}", text, error.what());
}

}  // namespace

ProgramSettings program_settings() {
  ProgramSettings settings;
  read_choice("CONVLAB_FORMAT",
              std::array{std::pair{std::string_view("text"), FindingsFormat::text},
                         std::pair{std::string_view("gcc"), FindingsFormat::gcc},
                         std::pair{std::string_view("json"), FindingsFormat::json},
                         std::pair{std::string_view("sarif"), FindingsFormat::sarif},
                         std::pair{std::string_view("github"), FindingsFormat::github}},
              settings.format);
  read_choice("CONVLAB_COLOR",
              std::array{std::pair{std::string_view("auto"), std::string("auto")},
                         std::pair{std::string_view("always"), std::string("always")},
                         std::pair{std::string_view("never"), std::string("never")}},
              settings.color);
  settings.as = variable("CONVLAB_AS");
  if (!settings.as.empty() && find_device_model(settings.as) == nullptr) {
    throw bad_input("CONVLAB_AS={}: expected one of {}", settings.as, device_model_keys());
  }
  settings.checks = checks_of(variable("CONVLAB_CHECK"));
  settings.schedule = schedule_of(variable("CONVLAB_SCHEDULE"));
  settings.max_memory = memory_of(variable("CONVLAB_MAX_MEMORY"));
  settings.counters = !variable("CONVLAB_COUNTERS").empty();
  settings.json = variable("CONVLAB_JSON");
  settings.all = !variable("CONVLAB_ALL").empty();
  read_number("CONVLAB_FINDINGS_EXIT", 0, 255, settings.findings_exit);
  read_number("CONVLAB_TIMEOUT", 0.0, 1e9, settings.timeout_s);
  read_number("CONVLAB_THREADS", 0, 4096, settings.threads);
  return settings;
}

}  // namespace convlab::simt
