// Calls kernels whose parameter types only their symbols tell.

#include "convlab/simt/cuda/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "convlab/base/symbol.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt::cuda::runtime {
namespace {

struct Number {
  std::string_view name;
  size_t bytes;
  bool is_float, is_signed;
};
constexpr Number kNumbers[] = {
    {"bool", 1, false, false},       {"char", 1, false, static_cast<char>(-1) < 0},
    {"signed char", 1, false, true}, {"unsigned char", 1, false, false},
    {"short", 2, false, true},       {"unsigned short", 2, false, false},
    {"int", 4, false, true},         {"unsigned int", 4, false, false},
    {"long", 8, false, true},        {"unsigned long", 8, false, false},
    {"long long", 8, false, true},   {"unsigned long long", 8, false, false},
    {"float", 4, true, false},       {"double", 8, true, false},
};
constexpr Number kPointer{"*", 8, false, false};

/// Returns the types of a function from its name: {"float*", "int"} for "void kernel<int>(float*, int)".
std::vector<std::string> parameter_types(std::string_view function) {
  const size_t close = function.rfind(')');
  if (close == std::string_view::npos) return {};
  size_t open = close;
  for (int depth = 0;; --open) {
    if (function[open] == ')') ++depth;
    if (function[open] == '(' && --depth == 0) break;
    if (open == 0) return {};
  }
  std::vector<std::string> types;
  std::string type;
  int depth = 0;
  for (const char c : function.substr(open + 1, close - open - 1)) {
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      types.push_back(std::exchange(type, ""));
    } else if (c != ' ' || !type.empty()) {
      type += c;
    }
  }
  if (!type.empty()) types.push_back(std::move(type));
  return types;
}

std::optional<Number> number_of(std::string_view type) {
  const bool is_pointer =
      type.ends_with('*') || type.ends_with('&') || type.ends_with("* const") || type.find("(*)") != type.npos;
  if (is_pointer) return kPointer;
  const auto found = std::ranges::find(kNumbers, type, &Number::name);
  return found == std::end(kNumbers) ? std::nullopt : std::optional(*found);
}

uint64_t extended(const void* argument, const Number& number) {
  uint64_t value = 0;
  std::memcpy(&value, argument, number.bytes);
  const size_t unused = 64 - 8 * number.bytes;
  return number.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused) : value;
}

}  // namespace

std::optional<ErasedCall> ErasedCall::of(const void* kernel, void* const* arguments, std::string& why) {
  const simt::internal::Symbol* const symbol =
      simt::internal::Module::of(kernel).function_at(reinterpret_cast<uintptr_t>(kernel));
  if (symbol == nullptr) {
    why = "the function is not a kernel of this program";
    return std::nullopt;
  }
  ErasedCall erased;
  erased.words_.kernel = kernel;
  const std::string name = demangled(symbol->mangled);
  size_t integers = 0, floats = 0, on_stack = 0;
  for (const std::string& type : parameter_types(name)) {
    const std::optional<Number> number = number_of(type);
    const size_t index = erased.places_.size();
    if (!number) {
      why = fmt::format("parameter {} of {} is a {}: through a void*, only pointers and numbers can be passed",
                        index + 1, short_symbol(symbol->mangled), type);
      return std::nullopt;
    }
    if (arguments == nullptr || arguments[index] == nullptr) {
      why = fmt::format("the pointer to argument {} of {} is null", index + 1, short_symbol(symbol->mangled));
      return std::nullopt;
    }
    uint64_t* word = nullptr;
    if (number->is_float && floats < Words::kFloats) {
      word = reinterpret_cast<uint64_t*>(&erased.words_.floats[floats++]);
    } else if (!number->is_float && integers < Words::kIntegers) {
      word = &erased.words_.integers[integers++];
    } else if (on_stack < Words::kOnStack) {
      word = &erased.words_.on_stack[on_stack++];
    } else {
      why = fmt::format("{} has too many parameters for a launch through a void*", short_symbol(symbol->mangled));
      return std::nullopt;
    }
    const uint64_t value = extended(arguments[index], *number);
    std::memcpy(word, &value, sizeof(value));
    const auto offset = reinterpret_cast<const char*>(word) - reinterpret_cast<const char*>(&erased.words_);
    erased.places_.push_back({static_cast<size_t>(offset), number->bytes});
  }
  return erased;
}

KernelCall ErasedCall::call() const { return {words_.kernel, &ErasedCall::invoke, &words_, sizeof(words_), places_}; }

void ErasedCall::invoke(const void* memory) {
  const Words& w = *static_cast<const Words*>(memory);
  const auto call = [&]<size_t... I, size_t... F, size_t... S>(std::index_sequence<I...>, std::index_sequence<F...>,
                                                               std::index_sequence<S...>) {
    reinterpret_cast<void (*)(std::remove_cvref_t<decltype(w.integers[I])>...,
                              std::remove_cvref_t<decltype(w.floats[F])>...,
                              std::remove_cvref_t<decltype(w.on_stack[S])>...)>(const_cast<void*>(w.kernel))(
        w.integers[I]..., w.floats[F]..., w.on_stack[S]...);
  };
  call(std::make_index_sequence<Words::kIntegers>(), std::make_index_sequence<Words::kFloats>(),
       std::make_index_sequence<Words::kOnStack>());
}

}  // namespace convlab::simt::cuda::runtime
