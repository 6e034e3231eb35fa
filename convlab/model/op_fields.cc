// Lists the attributes of each operator, by which problem texts are parsed, printed and compared.

#include "convlab/model/op_fields.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace convlab {

std::string text_of(float value) { return value != value ? "nan" : fmt::format("{}", value); }

void OpFields::add(const std::string& name, int64_t& value) {
  all.push_back({.name = name, .value = fmt::format("{}", value), .syntax = "N", .read = [&value](TextReader& reader) {
                   value = reader.number();
                 }});
}

void OpFields::add(const std::string& name, int& value) {
  all.push_back(
      {.name = name, .value = fmt::format("{}", value), .syntax = "N", .read = [=, &value](TextReader& reader) {
         using Limits = std::numeric_limits<int>;
         value = static_cast<int>(reader.number(name, Limits::min(), Limits::max()));
       }});
}

void OpFields::add(const std::string& name, float& value) {
  all.push_back({.name = name, .value = text_of(value), .syntax = "X", .read = [&value](TextReader& reader) {
                   value = reader.real();
                 }});
}

void OpFields::add(const std::string& name, std::vector<int64_t>& values) {
  all.push_back({.name = name,
                 .value = fmt::format("{}", fmt::join(values, "x")),
                 .syntax = "NxN",
                 .read = [&](TextReader& reader) { values = reader.numbers(); }});
}

void OpFields::add(const std::string& name, std::vector<float>& values) {
  std::vector<std::string> texts;
  for (const float each : values) texts.push_back(text_of(each));
  all.push_back({.name = name,
                 .value = fmt::format("{}", fmt::join(texts, "x")),
                 .syntax = "XxX",
                 .read = [&](TextReader& reader) { values = reader.reals(); }});
}

void OpFields::add_sizes(const std::string& name, const char* syntax, const std::vector<int64_t*>& sizes) {
  std::vector<int64_t> values;
  for (const int64_t* each : sizes) values.push_back(*each);
  const bool equal = std::count(values.begin(), values.end(), values[0]) == std::ssize(values);
  if (equal) values.resize(1);
  all.push_back({.name = name,
                 .value = fmt::format("{}", fmt::join(values, "x")),
                 .syntax = syntax,
                 .read = [=](TextReader& reader) {
                   const std::vector<int64_t> given = reader.numbers();
                   if (given.size() != 1 && given.size() != sizes.size()) {
                     reader.fail(fmt::format("expected 1 or {} numbers after '{}'", sizes.size(), name));
                   }
                   for (size_t i = 0; i < sizes.size(); ++i) *sizes[i] = given[given.size() == 1 ? 0 : i];
                 }});
}

void OpFields::add_window(int64_t& height, int64_t& width) {
  all.push_back(
      {.name = "r", .value = fmt::format("{}s{}", height, width), .syntax = "HsW", .read = [&](TextReader& reader) {
         height = reader.number();
         reader.expect("s");
         width = reader.number();
       }});
}

void OpFields::add_flag(const std::string& name, bool& value) {
  all.push_back({.form = OpField::Form::flag, .name = name, .value = value ? "1" : "0", .read = [&value](TextReader&) {
                   value = !value;
                 }});
}

void OpFields::add_choice(size_t chosen, std::vector<std::string> names, const std::function<void(size_t)>& choose) {
  std::string name = names[chosen];
  all.push_back(
      {.form = OpField::Form::choice, .value = std::move(name), .choices = names, .read = [=](TextReader& reader) {
         const auto found = std::find(names.begin(), names.end(), reader.item());
         choose(static_cast<size_t>(found - names.begin()));
         reader.expect(*found);
       }});
}

void OpFields::add_conv(ConvOp& conv) {
  add_steps(conv);
  add("g", conv.groups);
  add_auto_pad(conv.auto_pad);
}

void OpFields::add_equation(std::string& equation) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char each) { return each != ' '; });
  if (const size_t arrow = text.find("->"); arrow != std::string::npos) text.replace(arrow, 2, "=");
  all.push_back({.value = text, .syntax = "ij,jk=ik", .read = [&equation](TextReader& reader) {
                   const std::string_view item = reader.item();
                   equation = item;
                   reader.expect(item);
                   if (const size_t sign = equation.find('='); sign != std::string::npos)
                     equation.replace(sign, 1, "->");
                 }});
}

}  // namespace convlab
