// Parses and prints problem texts of operators.

#include "convlab/kernels/step_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_names.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

using Form = OpField::Form;

constexpr std::string_view kScalar = "scalar", kBias = "bias", kPerChannel = "perchannel";

constexpr size_t kMostName = 64;  // bytes of an unknown name that are compared with all known names

bool begins_with_digit(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}

/// Reads the name and the '_' after it. A convolution may lack both.
const NamedOp& read_name(TextReader& reader) {
  const std::string_view name = reader.item().substr(0, kMostName);
  const NamedOp* found = find_named_op(name);
  const bool unnamed = (name.starts_with('n') || name.starts_with('c')) && begins_with_digit(name.substr(1));
  if (unnamed) found = find_named_op("conv");
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const NamedOp& each : named_ops()) names.emplace_back(each.name);
    reader.fail(fmt::format("unknown operator '{}'{}", printable(name), did_you_mean(name, names)));
  }
  reader.set_example(fmt::format("{}_{}", found->name, found->letters != nullptr ? found->letters->example : "2x3x4"));
  if (unnamed) return *found;
  reader.expect(name);
  reader.expect("_");
  return *found;
}

Shape read_shape(TextReader& reader) {
  if (reader.accept(kScalar)) return {};
  if (!begins_with_digit(reader.rest())) reader.fail("expected a shape");
  Shape shape;
  do {
    if (shape.size() == kMostRank) reader.fail(fmt::format("a shape has at most {} dimensions", kMostRank));
    shape.push_back(reader.number("a size", 1, kMostSize));
  } while (reader.accept("x"));
  return shape;
}

/// Reads shapes while they follow.
std::vector<Shape> read_shapes(TextReader& reader) {
  std::vector<Shape> shapes{read_shape(reader)};
  for (;;) {
    const std::string_view rest = reader.rest();
    if (!rest.starts_with('_')) return shapes;
    if (!begins_with_digit(rest.substr(1)) && !rest.substr(1).starts_with(kScalar)) return shapes;
    reader.expect("_");
    shapes.push_back(read_shape(reader));
  }
}

/// Reads attributes of one operator.
class AttributeReader {
 public:
  /// `sizes` has the flags that belong to the letters; null if the operands are shapes.
  AttributeReader(Op& op, const SizeLetters* letters, LetterSizes* sizes) : fields_(fields_of(op)) {
    if (sizes == nullptr) return;
    const auto add_flag = [&](std::string_view name, bool& value) {
      fields_.push_back(
          {.form = Form::flag, .name = std::string(name), .read = [&value](TextReader&) { value = true; }});
    };
    if (letters->bias) add_flag(kBias, sizes->bias);
    if (letters->per_channel) add_flag(kPerChannel, sizes->per_channel);
  }

  void read(TextReader& reader) {
    const std::string_view item = reader.item();
    OpField* field = find(item);
    if (field == nullptr) reader.fail(unknown(item));
    if (!field->read) reader.fail(fmt::format("duplicate attribute '{}'", printable(item)));
    reader.expect(field->name);
    std::exchange(field->read, nullptr)(reader);
    if (!reader.item().empty()) reader.fail("expected '_' or the end");
  }

 private:
  /// Returns the flag or enumerator of this name, or else the attribute with the longest name before a value.
  OpField* find(std::string_view item) {
    OpField* longest = nullptr;
    for (OpField& each : fields_) {
      if (each.form == Form::flag && each.name == item) return &each;
      const std::vector<std::string>& choices = each.choices;
      if (std::find(choices.begin(), choices.end(), item) != choices.end()) return &each;
      const bool fits = each.form == Form::value && item.starts_with(each.name) && may_begin_value(each, item);
      if (fits && (longest == nullptr || longest->name.size() < each.name.size())) longest = &each;
    }
    return longest;
  }

  static bool may_begin_value(const OpField& field, std::string_view item) {
    const std::string_view value = item.substr(field.name.size());
    const bool is_word = !value.empty() && std::isalpha(static_cast<unsigned char>(value[0])) != 0;
    return field.name.empty() || !is_word || value.starts_with("inf") || value.starts_with("nan");
  }

  std::string unknown(std::string_view item) const {
    std::vector<std::string> known;
    for (const OpField& each : fields_) {
      if (!each.name.empty()) known.push_back(each.name);
      known.insert(known.end(), each.choices.begin(), each.choices.end());
    }
    if (known.empty()) return fmt::format("unknown attribute '{}': the operator has none", printable(item));
    const std::string_view word = item.substr(0, std::min(item.find_first_of("0123456789-."), kMostName));
    return fmt::format("unknown attribute '{}'{}", printable(word), did_you_mean(word, known));
  }

  std::vector<OpField> fields_;
};

/// Returns the shapes that these sizes stand for.
std::vector<Shape> shapes_of_letters(const Op& op, const SizeLetters& letters, const LetterSizes& sizes) {
  std::vector<Shape> shapes = letters.shapes(op, sizes);
  if (!(letters.sizes(op, shapes) == sizes) && std::holds_alternative<ConvTransposeOp>(op)) {
    throw bad_input("k ({}) must be a multiple of groups ({})", sizes['k'], std::get<ConvTransposeOp>(op).groups);
  }
  return shapes;
}

/// Throws unless the shapes are the operator's, and arrays of them have a size in bytes. Sets the step's operands.
void set_operands(Step& step, const std::vector<Shape>& shapes) {
  constexpr int64_t kElementBytes = 8;
  for (const Shape& each : shapes) checked_mul(element_count(each), kElementBytes);
  step.outputs = {{.shape = output_shape(step.op, shapes)}};
  for (size_t i = 0; i < shapes.size(); ++i) {
    step.inputs.push_back({.shape = shapes[i], .constant = is_usually_constant(step.op, shapes, i)});
  }
}

/// Returns the operands' part of a text.
std::string text_of_operands(const NamedOp& named, const Op& op, const std::vector<Shape>& shapes, std::string& flags) {
  if (named.letters != nullptr) {
    const LetterSizes sizes = named.letters->sizes(op, shapes);
    if (named.letters->shapes(op, sizes) == shapes) {
      if (sizes.bias) flags += fmt::format("_{}", kBias);
      if (sizes.per_channel) flags += fmt::format("_{}", kPerChannel);
      return to_text(sizes, *named.letters);
    }
  }
  const bool equal = std::count(shapes.begin(), shapes.end(), shapes[0]) == std::ssize(shapes);
  if (equal && shapes.size() == arity(op).least) return to_text(shapes[0]);
  std::vector<std::string> texts;
  for (const Shape& each : shapes) texts.push_back(to_text(each));
  return fmt::format("{}", fmt::join(texts, "_"));
}

/// Returns the step's text by a name; nothing if the name means another operator.
std::optional<std::string> text_by(const NamedOp& named, const Step& step) {
  if (named.op.index() != step.op.index()) return std::nullopt;
  Op op = step.op, defaults = named.op;
  const std::vector<OpField> fields = fields_of(op), omitted = fields_of(defaults);
  std::string attributes;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].value == omitted[i].value) continue;
    if (fields[i].form == Form::in_name) return std::nullopt;
    attributes += fmt::format("_{}", fields[i].item());
  }
  const std::string operands = text_of_operands(named, step.op, shapes_of(step.inputs), attributes);
  return fmt::format("{}_{}{}", named.name, operands, attributes);
}

}  // namespace

Step parse_step(std::string_view text) {
  TextReader reader(text, "problem", "matmul_m512n512k512");
  const NamedOp& named = read_name(reader);
  Step step{.op = named.op};
  std::vector<Shape> shapes;
  LetterSizes sizes;
  const bool by_letter =
      named.letters != nullptr && !begins_with_digit(reader.rest()) && !reader.rest().starts_with(kScalar);
  if (by_letter) {
    sizes = read_sizes(reader, *named.letters);
  } else {
    shapes = read_shapes(reader);
  }
  AttributeReader attributes(step.op, named.letters, by_letter ? &sizes : nullptr);
  while (!reader.at_end()) {
    reader.expect("_");
    attributes.read(reader);
  }
  try {
    if (by_letter) shapes = shapes_of_letters(step.op, *named.letters, sizes);
    const size_t least = arity(step.op).least;
    if (shapes.size() == 1 && least > 1) shapes.resize(least, Shape(shapes[0]));
    set_operands(step, shapes);
  } catch (const Error& error) {
    throw bad_input("problem '{}': {}", printable(text), error.what());
  }
  return step;
}

std::string to_text(const Step& step) {
  std::string shortest;
  for (const NamedOp& named : named_ops()) {
    const std::optional<std::string> text = text_by(named, step);
    if (text && (shortest.empty() || text->size() < shortest.size())) shortest = *text;
  }
  if (shortest.empty()) throw bad_input("operator {} has no problem text", step.op.index());
  return shortest;
}

std::string problem_text(const Step& step) { return is_conv(step) ? to_text(conv_step(step).problem) : to_text(step); }

}  // namespace convlab
