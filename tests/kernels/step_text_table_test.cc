// Tests that docs/reference/problems.md lists all operators that have a problem text, with all of their attributes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "convlab/model/op_info.h"
#include "convlab/model/op_names.h"
#include "tests/support/paths.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

std::string operands_of(const NamedOp& named) {
  std::string text;
  if (named.letters != nullptr) {
    text = fmt::format("`{}`", named.letters->example);
    if (named.letters->bias) text += ", `bias`";
    if (named.letters->per_channel) text += ", `perchannel`";
    text += "; ";
  }
  const auto [least, most] = arity(named.op);
  if (most == SIZE_MAX) return text + fmt::format("{} or more shapes", least);
  if (least != most) return text + fmt::format("{} {} {} shapes", least, most == least + 1 ? "or" : "to", most);
  return text + fmt::format("{} shape{}", least, least == 1 ? "" : "s");
}

std::string attributes_of(const NamedOp& named) {
  std::vector<std::string> texts;
  Op op = named.op;
  for (const OpField& field : fields_of(op)) {
    if (field.form == OpField::Form::in_name) continue;
    if (field.form == OpField::Form::choice) {
      texts.push_back(fmt::format("`{}` ({})", fmt::join(field.choices, "` `"), field.value));
    } else {
      const bool shows_default = field.form == OpField::Form::value && !field.value.empty();
      texts.push_back(fmt::format("`{}{}`", field.name, field.syntax));
      if (shows_default) texts.back() += fmt::format(" ({})", field.value);
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns the table's rows. Consecutive names with the same operands and attributes share one.
std::string table() {
  std::string text = "| operator | operands | attributes |\n|---|---|---|\n", names, cells;
  const auto end_row = [&] {
    if (!names.empty()) text += fmt::format("| {} | {} |\n", names, cells);
    names.clear();
  };
  for (const NamedOp& named : named_ops()) {
    std::string next = fmt::format("{} | {}", operands_of(named), attributes_of(named));
    if (next != cells) end_row();
    cells = std::move(next);
    names += fmt::format("{}`{}`", names.empty() ? "" : " ", named.name);
    std::string onnx = name_of(named.op), lower = onnx;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char each) { return std::tolower(each); });
    if (named.in_plans_only) {
      names += " (in plans only)";
    } else if (lower != named.name) {
      names += fmt::format(" ({})", onnx);
    }
  }
  end_row();
  return text;
}

TEST(StepTextTable, DocumentHasAllOperators) {
  const std::string document = text_of(source_folder() / "docs/reference/problems.md");
  const size_t comment = document.find("<!-- problems:"), begin = document.find('\n', comment) + 1;
  const size_t end = document.find("<!-- end -->");
  ASSERT_NE(comment, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(document.substr(begin, end - begin), "\n" + table() + "\n");
}

}  // namespace
}  // namespace convlab
