// Reads TOML tables, with errors that name file, line and key.

#include "convlab/classroom/storage/toml_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <sstream>
#include <toml.hpp>

#include "convlab/base/file.h"
#include "convlab/base/text.h"

namespace convlab::classroom {

struct TomlTable::Content {
  toml::value value;
  std::string place;
};

namespace {

constexpr int64_t kMostTomlBytes = 1 << 20;

int64_t line_of(const toml::value& value) {
#if defined(TOML11_VERSION_MAJOR) && TOML11_VERSION_MAJOR >= 4
  return static_cast<int64_t>(value.location().first_line_number());
#else
  return value.location().line();
#endif
}

/// Returns toml11's message on one line, without the source excerpt below it.
std::string first_line(const std::string& said) {
  std::string text = said.substr(0, said.find('\n'));
  for (const char* noise : {"[error] ", "toml::"}) {
    if (const size_t at = text.find(noise); at != std::string::npos) text.erase(at, std::string_view(noise).size());
  }
  return printable(text);
}

/// Returns ":3" from an excerpt such as " --> class.toml", followed by " 3 | text of the line".
std::string line_in(const std::string& said) {
  const size_t bar = said.find(" | ");
  if (bar == std::string::npos) return "";
  size_t begin = bar;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(said[begin - 1])) != 0) --begin;
  return ":" + said.substr(begin, bar - begin);
}

double seconds_of(const toml::local_date& date, const toml::local_time& time) {
  const std::chrono::sys_days day(std::chrono::year(date.year) / (static_cast<int>(date.month) + 1) / date.day);
  const auto days = static_cast<double>(day.time_since_epoch().count());
  return ((days * 24 + time.hour) * 60 + time.minute) * 60 + time.second;
}

double seconds_of(const toml::local_datetime& stamp) {
  std::tm fields{};
  fields.tm_year = stamp.date.year - 1900;
  fields.tm_mon = stamp.date.month;
  fields.tm_mday = stamp.date.day;
  fields.tm_hour = stamp.time.hour;
  fields.tm_min = stamp.time.minute;
  fields.tm_sec = stamp.time.second;
  fields.tm_isdst = -1;
  return static_cast<double>(std::mktime(&fields));
}

}  // namespace

TomlTable TomlTable::parse(const std::string& text, const std::string& place) {
  std::istringstream stream(text);
  try {
    return TomlTable(std::make_shared<Content>(Content{toml::parse(stream, place), place}));
  } catch (const std::exception& error) {
    throw bad_input("{}{}: {}", place, line_in(error.what()), first_line(error.what()));
  }
}

TomlTable TomlTable::read_file(const std::filesystem::path& path) {
  return parse(read_text(path, kMostTomlBytes), path.string());
}

bool TomlTable::has(const std::string& key) const { return content_->value.as_table().count(key) != 0; }

Error TomlTable::error(const std::string& key, const std::string& what) const {
  const toml::value& value = has(key) ? content_->value.as_table().at(key) : content_->value;
  return bad_input("{}:{}: {}: {}", content_->place, line_of(value), printable(key), what);
}

void TomlTable::read(const std::string& key, std::string& value) const {
  if (!has(key)) return;
  const toml::value& found = content_->value.as_table().at(key);
  if (!found.is_string()) throw error(key, "must be a string in quotes");
  value = toml::get<std::string>(found);
}

void TomlTable::read(const std::string& key, bool& value) const {
  if (!has(key)) return;
  const toml::value& found = content_->value.as_table().at(key);
  if (!found.is_boolean()) throw error(key, "must be true or false");
  value = found.as_boolean();
}

void TomlTable::read(const std::string& key, int64_t& value, int64_t low, int64_t high) const {
  if (!has(key)) return;
  const toml::value& found = content_->value.as_table().at(key);
  if (!found.is_integer()) throw error(key, "must be an integer");
  if (found.as_integer() < low || found.as_integer() > high) {
    throw error(key, fmt::format("must be between {} and {}, got {}", low, high, found.as_integer()));
  }
  value = found.as_integer();
}

void TomlTable::read(const std::string& key, double& value, double low, double high) const {
  if (!has(key)) return;
  const toml::value& found = content_->value.as_table().at(key);
  if (!found.is_floating() && !found.is_integer()) throw error(key, "must be a number");
  const double number = found.is_integer() ? static_cast<double>(found.as_integer()) : found.as_floating();
  if (!(number >= low && number <= high)) {
    throw error(key, fmt::format("must be between {} and {}, got {}", low, high, number));
  }
  value = number;
}

void TomlTable::read(const std::string& key, std::vector<std::string>& values) const {
  if (!has(key)) return;
  const toml::value& found = content_->value.as_table().at(key);
  const auto is_text = [](const toml::value& each) { return each.is_string(); };
  if (!found.is_array() || !std::ranges::all_of(found.as_array(), is_text)) {
    throw error(key, "must be an array of strings in quotes");
  }
  values = toml::get<std::vector<std::string>>(found);
}

void TomlTable::read_time(const std::string& key, std::optional<double>& value) const {
  if (!has(key)) return;
  const toml::value& found = content_->value.as_table().at(key);
  if (found.is_offset_datetime()) {
    const auto& stamp = found.as_offset_datetime();
    value = seconds_of(stamp.date, stamp.time) - (stamp.offset.hour * 60 + stamp.offset.minute) * 60.0;
  } else if (found.is_local_datetime()) {
    value = seconds_of(found.as_local_datetime());
  } else {
    throw error(key, "must be a date and time without quotes, for example 2026-12-01T23:59:00+01:00");
  }
}

std::optional<TomlTable> TomlTable::table(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const toml::value& found = content_->value.as_table().at(key);
  if (!found.is_table()) throw error(key, fmt::format("must be a table: [{}]", key));
  return TomlTable(std::make_shared<Content>(Content{found, content_->place}));
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) const {
  std::vector<TomlTable> found;
  if (!has(key)) return found;
  const toml::value& value = content_->value.as_table().at(key);
  const auto is_table = [](const toml::value& each) { return each.is_table(); };
  if (!value.is_array() || !std::ranges::all_of(value.as_array(), is_table)) {
    throw error(key, fmt::format("must be an array of tables: [[{}]]", key));
  }
  for (const toml::value& each : value.as_array()) {
    found.push_back(TomlTable(std::make_shared<Content>(Content{each, content_->place})));
  }
  return found;
}

void TomlTable::require_only(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : content_->value.as_table()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    throw error(key, fmt::format("unknown key{}; known keys: {}", did_you_mean(key, keys), fmt::join(keys, ", ")));
  }
}

}  // namespace convlab::classroom
