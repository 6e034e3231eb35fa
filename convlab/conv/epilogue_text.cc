// Parses the text of an epilogue.

#include "convlab/conv/epilogue_text.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

/// Parses "max2x2/2" or "average3x2/2x1". Returns nullopt if the text does not begin with "max" or "average".
std::optional<Pool> parse_pool(std::string_view text, std::string_view what) {
  constexpr int64_t kMost = int64_t{1} << 20;
  Pool pool;
  for (const auto& [name, kind] : {std::pair{"max", PoolKind::max}, std::pair{"average", PoolKind::average}}) {
    if (!text.starts_with(name)) continue;
    pool.kind = kind;
    const std::vector<std::string> parts = split(text.substr(std::string_view(name).size()), '/');
    const auto pair = [&](const std::string& sizes, const char* meaning) {
      const std::vector<std::string> two = split(sizes, 'x');
      if (two.empty() || two.size() > 2) throw bad_input("{}: {} must be N or HxW, got '{}'", what, meaning, sizes);
      const std::string name_of_size = fmt::format("{}: {}", what, meaning);
      return std::pair{parse_int(two.front(), name_of_size, 1, kMost), parse_int(two.back(), name_of_size, 1, kMost)};
    };
    if (parts.size() != 2)
      throw bad_input("{}: expected a pool with window and stride such as max2x2/2, got '{}'", what, text);
    std::tie(pool.kernel_h, pool.kernel_w) = pair(parts[0], "window");
    std::tie(pool.stride_h, pool.stride_w) = pair(parts[1], "stride");
    return pool;
  }
  return std::nullopt;
}

/// Parses "relu" or "clip(0,6)". Returns nullopt for an unknown name.
std::optional<Activation> parse_activation(std::string_view text, std::string_view what) {
  struct Form {
    ActivationKind kind;
    size_t numbers;
  };
  static const std::map<std::string, Form, std::less<>> kForms{{"relu", {ActivationKind::relu, 0}},
                                                               {"leaky_relu", {ActivationKind::leaky_relu, 1}},
                                                               {"clip", {ActivationKind::clip, 2}},
                                                               {"sigmoid", {ActivationKind::sigmoid, 0}},
                                                               {"tanh", {ActivationKind::tanh, 0}},
                                                               {"swish", {ActivationKind::swish, 0}},
                                                               {"hard_swish", {ActivationKind::hard_swish, 0}}};
  const size_t open = std::min(text.find('('), text.size());
  const auto form = kForms.find(text.substr(0, open));
  if (form == kForms.end()) return std::nullopt;
  Activation activation{.kind = form->second.kind};
  std::vector<std::string> numbers;
  if (open < text.size()) {
    if (text.back() != ')') throw bad_input("{}: missing ')' in '{}'", what, text);
    numbers = split(text.substr(open + 1, text.size() - open - 2), ',');
  }
  if (numbers.size() != form->second.numbers) {
    throw bad_input("{}: wrong number of parameters for {}: expected {}, got {}; examples: leaky_relu(0.1), clip(0,6)",
                    what, form->first, form->second.numbers, numbers.size());
  }
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto number = [&](size_t i) { return static_cast<float>(parse_double(numbers[i], what, -kMost, kMost)); };
  if (!numbers.empty()) activation.alpha = number(0);
  if (numbers.size() > 1) activation.beta = number(1);
  return activation;
}

}  // namespace

Epilogue parse_epilogue(std::string_view text, std::string_view what) {
  Epilogue epilogue;
  if (text.empty()) return epilogue;
  for (const std::string& part : split(text, '+')) {
    const bool activates = epilogue.activation.kind != ActivationKind::none;
    if (part == "bias" && !epilogue.bias && !epilogue.pool && !activates) {
      epilogue.bias = true;
    } else if (const std::optional<Pool> pool = parse_pool(part, what); pool && !epilogue.pool && !activates) {
      epilogue.pool = pool;
    } else if (const std::optional<Activation> activation = parse_activation(part, what); activation && !activates) {
      epilogue.activation = *activation;
    } else {
      throw bad_input(
          "{}: unexpected '{}'; expected bias+max2x2/2+relu or a part of it; also: average3x3/2x1, "
          "leaky_relu(0.1), clip(0,6), sigmoid, tanh, swish, hard_swish",
          what, part);
    }
  }
  return epilogue;
}

}  // namespace convlab
