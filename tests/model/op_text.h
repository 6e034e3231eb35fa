#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// Converts to a field of any type, to count a struct's fields.
struct AnyField {
  template <class T>
  operator T() const;
};

template <class T, class... Fields>
constexpr size_t field_count() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; }) {
    return field_count<T, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

template <class T>
auto fields_of(const T& op) {
  constexpr size_t kCount = field_count<T>();
  static_assert(kCount <= 15, "add a line for so many fields");
  // clang-format off
  if constexpr (kCount == 0) { return std::tuple(); }
  if constexpr (kCount == 1) { const auto& [a] = op; return std::tie(a); }
  if constexpr (kCount == 2) { const auto& [a, b] = op; return std::tie(a, b); }
  if constexpr (kCount == 3) { const auto& [a, b, c] = op; return std::tie(a, b, c); }
  if constexpr (kCount == 4) { const auto& [a, b, c, d] = op; return std::tie(a, b, c, d); }
  if constexpr (kCount == 5) { const auto& [a, b, c, d, e] = op; return std::tie(a, b, c, d, e); }
  if constexpr (kCount == 7) { const auto& [a, b, c, d, e, f, g] = op; return std::tie(a, b, c, d, e, f, g); }
  if constexpr (kCount == 10) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = op;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  }
  if constexpr (kCount == 12) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = op;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
  if constexpr (kCount == 13) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = op;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  if constexpr (kCount == 14) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = op;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  if constexpr (kCount == 15) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = op;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
  // clang-format on
}

/// Returns a field, or all fields of a struct, as text. Two operators are equal if their texts are.
template <class T>
std::string text_of_fields(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", static_cast<int>(value));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return fmt::format("{}", value);
  } else if constexpr (requires { value.begin(); }) {
    std::string text = "[";
    for (const auto& each : value) text += text_of_fields(each) + " ";
    return text + "]";
  } else {
    std::string text = "(";
    std::apply([&](const auto&... fields) { ((text += text_of_fields(fields) + " "), ...); }, fields_of(value));
    return text + ")";
  }
}

inline std::string text_of(const Op& op) {
  return name_of(op) + std::visit([](const auto& each) { return text_of_fields(each); }, op);
}

/// Returns the operator of the graph's only node.
template <class T>
T only(const Graph& graph) {
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<T>(graph.nodes.at(0).op)) << name_of(graph.nodes.at(0).op);
  return std::get<T>(graph.nodes.at(0).op);
}

/// Returns each node's operator and number of inputs as text, in order, without the names of nodes and values.
inline std::vector<std::string> texts_of(const Graph& graph) {
  std::vector<std::string> texts;
  for (const Node& node : graph.nodes) texts.push_back(fmt::format("{} of {}", text_of(node.op), node.inputs.size()));
  return texts;
}

}  // namespace convlab
