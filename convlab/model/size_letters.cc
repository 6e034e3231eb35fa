// The short forms of operands in problem texts: which shapes a size for each letter stands for.

#include "convlab/model/size_letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "convlab/model/graph_limits.h"

namespace convlab {
namespace {

Shape matrix(int64_t batch, int64_t rows, int64_t columns) {
  return batch == 1 ? Shape{rows, columns} : Shape{batch, rows, columns};
}

std::vector<Shape> image_shapes(const Op&, const LetterSizes& sizes) { return {images_of(sizes)}; }

}  // namespace

const SizeLetters kImageLetters{kImagePattern, kImageExample, false, false, image_shapes, image_sizes};

int64_t size_at(std::span<const Shape> shapes, size_t operand, size_t dimension) {
  const bool exists = operand < shapes.size() && dimension < shapes[operand].size();
  return exists ? shapes[operand][dimension] : 1;
}

LetterSizes sizes_of(std::span<const Shape> shapes, size_t operand, std::string_view letters) {
  LetterSizes sizes;
  for (size_t i = 0; i < letters.size(); ++i) sizes[letters[i]] = size_at(shapes, operand, i);
  return sizes;
}

Shape images_of(const LetterSizes& sizes) { return {sizes['n'], sizes['c'], sizes['h'], sizes['w']}; }

LetterSizes image_sizes(const Op&, std::span<const Shape> shapes) { return sizes_of(shapes, 0, "nchw"); }

Shape scalar_or(bool vector, int64_t count) { return vector ? Shape{count} : Shape{}; }

Shape left_matrix(const LetterSizes& sizes) { return matrix(sizes['b'], sizes['m'], sizes['k']); }
Shape right_matrix(const LetterSizes& sizes) { return matrix(sizes['b'], sizes['k'], sizes['n']); }

LetterSizes product_sizes(std::span<const Shape> shapes, size_t left, size_t right) {
  const bool batched = left < shapes.size() && shapes[left].size() == 3;
  LetterSizes sizes = sizes_of(shapes, left, batched ? "bmk" : "mk");
  sizes['n'] = size_at(shapes, right, batched ? 2 : 1);
  return sizes;
}

int64_t per_group(int64_t channels, int64_t groups) { return groups > 0 ? channels / groups : channels; }

Shape filters_of(const ConvOp& op, const LetterSizes& sizes) {
  return {sizes['k'], per_group(sizes['c'], op.groups), sizes['r'], sizes['s']};
}

LetterSizes conv_sizes_of(std::span<const Shape> shapes, size_t filter_operand) {
  LetterSizes sizes = sizes_of(shapes, 0, "nchw");
  sizes['k'] = size_at(shapes, filter_operand, 0);
  sizes['r'] = size_at(shapes, filter_operand, 2);
  sizes['s'] = size_at(shapes, filter_operand, 3);
  return sizes;
}

std::vector<Shape> with_bias(std::vector<Shape> shapes, const LetterSizes& sizes) {
  if (sizes.bias) shapes.push_back({sizes['k']});
  return shapes;
}

LetterSizes read_sizes(TextReader& reader, const SizeLetters& letters) {
  LetterSizes sizes;
  const auto size = [&](char letter) { sizes[letter] = reader.number({&letter, 1}, 1, kMostSize); };
  std::string_view pattern = letters.pattern;
  while (!pattern.empty()) {
    const char next = pattern.front();
    pattern.remove_prefix(1);
    if (next == '[') {
      const char letter = pattern.front();
      pattern.remove_prefix(2);
      if (reader.accept({&letter, 1})) {
        size(letter);
      } else if (pattern.front() == '_') {
        pattern.remove_prefix(1);
      }
      continue;
    }
    reader.expect({&next, 1});
    if (next != '_') size(next);
  }
  return sizes;
}

std::string to_text(const LetterSizes& sizes, const SizeLetters& letters) {
  std::string text;
  bool optional = false;
  for (const char next : letters.pattern) {
    if (next == '[' || next == ']') {
      optional = next == '[';
    } else if (next == '_') {
      if (!text.empty()) text += next;
    } else if (!optional || sizes[next] != 1) {
      text += fmt::format("{}{}", next, sizes[next]);
    }
  }
  return text;
}

}  // namespace convlab
