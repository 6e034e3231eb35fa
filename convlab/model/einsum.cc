// Parses Einsum equations.

#include "convlab/model/einsum.h"

#include <algorithm>
#include <cctype>

#include "convlab/base/error.h"
#include "convlab/model/graph_limits.h"

namespace convlab {
namespace {

constexpr char kEllipsis = '.';  // "..." in a parsed term

/// Parses "a...b" without spaces and with one kEllipsis: each character is a dimension, or all dimensions of the
/// ellipsis.
std::string read_term(const std::string& text) {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.compare(i, 3, "...") == 0 && term.find(kEllipsis) == std::string::npos) {
      term += kEllipsis;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      term += text[i];
    } else {
      throw bad_input("subscripts '{}' must be letters with at most one '...'", text);
    }
  }
  return term;
}

std::vector<std::string> read_terms(const std::string& text) {
  std::vector<std::string> terms;
  for (size_t begin = 0;;) {
    const size_t comma = text.find(',', begin);
    terms.push_back(read_term(text.substr(begin, comma == std::string::npos ? comma : comma - begin)));
    if (comma == std::string::npos) return terms;
    begin = comma + 1;
  }
}

/// Returns the output of an equation without "->": the ellipsis, then the letters that occur once, in alphabetical
/// order.
std::string implied_output(const std::vector<std::string>& terms) {
  std::string all;
  for (const std::string& term : terms) all += term;
  std::sort(all.begin(), all.end());  // kEllipsis comes before letters
  std::string output;
  for (char each : all) {
    const bool once = std::ranges::count(all, each) == 1;
    if (once || (each == kEllipsis && output.empty())) output += each;
  }
  return output;
}

}  // namespace

Einsum einsum_of(const std::string& equation, std::span<const Shape> shapes) {
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = read_terms(equation.substr(0, arrow));
  if (terms.size() != shapes.size()) {
    throw bad_input("equation '{}' has {} operands, but the node has {} inputs", equation, terms.size(), shapes.size());
  }
  const std::string output = arrow == std::string::npos ? implied_output(terms) : read_term(equation.substr(arrow + 2));

  Einsum einsum;
  std::string letters;   // by index of einsum.sizes
  size_t broadcast = 0;  // dimensions of the longest ellipsis, whose indices come first
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find(kEllipsis) != std::string::npos;
    const size_t named = terms[i].size() - (open ? 1 : 0), rank = shapes[i].size();
    if (open ? rank < named : rank != named) {
      throw bad_input("subscripts '{}' do not match the rank of shape {}", terms[i], to_text(shapes[i]));
    }
    if (open) broadcast = std::max(broadcast, rank - named);
  }
  letters.assign(broadcast, kEllipsis);
  einsum.sizes.assign(broadcast, 1);
  for (size_t i = 0; i < terms.size(); ++i) {
    std::vector<size_t> indices;
    const size_t hidden = shapes[i].size() + 1 - terms[i].size();  // dimensions of the ellipsis, if there is one
    for (char each : terms[i]) {
      if (each == kEllipsis) {
        for (size_t j = 0; j < hidden; ++j) indices.push_back(broadcast - hidden + j);
        continue;
      }
      const size_t at = letters.find(each);
      indices.push_back(at == std::string::npos ? letters.size() : at);
      if (at == std::string::npos) {
        letters += each;
        einsum.sizes.push_back(1);
      }
    }
    for (size_t d = 0; d < indices.size(); ++d) {
      int64_t& size = einsum.sizes[indices[d]];
      if (size != 1 && shapes[i][d] != 1 && size != shapes[i][d]) {
        throw bad_input("equation '{}': one index has sizes {} and {}; sizes must be equal or 1", equation, size,
                        shapes[i][d]);
      }
      if (size == 1) size = shapes[i][d];
    }
    einsum.inputs.push_back(std::move(indices));
  }
  for (char each : output) {
    if (each == kEllipsis) {
      for (size_t j = 0; j < broadcast; ++j) einsum.output.push_back(j);
      continue;
    }
    const size_t at = letters.find(each);
    if (at == std::string::npos || std::ranges::count(output, each) > 1) {
      throw bad_input("equation '{}': output index '{}' must occur in an input and only once in the output", equation,
                      each);
    }
    einsum.output.push_back(at);
  }
  if (einsum.sizes.size() > 2 * kMostRank) {
    throw bad_input("equation has {} indices; at most {} are supported", einsum.sizes.size(), 2 * kMostRank);
  }
  return einsum;
}

}  // namespace convlab
