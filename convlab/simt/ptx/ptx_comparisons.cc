// Executes PTX's comparisons and selections.

#include <cmath>
#include <optional>
#include <type_traits>

#include "convlab/simt/ptx/ptx_run.h"

namespace convlab::simt::ptx {
namespace {

/// The result of a comparison that both types of numbers have.
template <class T>
std::optional<bool> ordered(const Instruction& i, T a, T b) {
  if (i.has("eq"_word)) return a == b;
  if (i.has("ne"_word)) return a < b || a > b;  // false for NaN
  if (i.has("lt"_word)) return a < b;
  if (i.has("le"_word)) return a <= b;
  if (i.has("gt"_word)) return a > b;
  if (i.has("ge"_word)) return a >= b;
  return std::nullopt;
}

bool whole_comparison(const Run& run, const Instruction& i, auto a, auto b) {
  if (const std::optional<bool> result = ordered(i, a, b)) return *result;
  if (i.has("lo"_word)) return a < b;
  if (i.has("ls"_word)) return a <= b;
  if (i.has("hi"_word)) return a > b;
  if (i.has("hs"_word)) return a >= b;
  fail_unsupported(run, i);
}

bool real_comparison(const Run& run, const Instruction& i, double a, double b) {
  if (const std::optional<bool> result = ordered(i, a, b)) return *result;
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (i.has("num"_word)) return !unordered;
  if (i.has("nan"_word) || unordered) return unordered;
  if (i.has("equ"_word)) return a == b;
  if (i.has("neu"_word)) return a != b;
  if (i.has("ltu"_word)) return a < b;
  if (i.has("leu"_word)) return a <= b;
  if (i.has("gtu"_word)) return a > b;
  if (i.has("geu"_word)) return a >= b;
  fail_unsupported(run, i);
}

bool compared(const Run& run, const Instruction& i, Type type) {
  bool result = false;
  const bool is_whole = with_integer(
      type, [&]<class T>(T) { result = whole_comparison(run, i, run.get<T>(i.operand(1)), run.get<T>(i.operand(2))); });
  if (is_whole) return result;
  const bool flush = i.has("ftz"_word);
  const bool is_real = with_real(type, [&]<class T>(T) {
    const T a = run.get<T>(i.operand(1)), b = run.get<T>(i.operand(2));
    result = real_comparison(run, i, static_cast<double>(flush ? flushed(a) : a),
                             static_cast<double>(flush ? flushed(b) : b));
  });
  if (!is_real) fail_unsupported(run, i);
  return result;
}

/// Combines the comparison with the predicate c, if there is one.
bool with_third(const Run& run, const Instruction& i, bool result) {
  if (i.group_count < 4) return result;
  const bool c = run.is_true(i.operand(3));
  return i.has("and"_word) ? result && c : i.has("or"_word) ? result || c : result != c;
}

}  // namespace

void compare(Run& run, const Instruction& i) {
  const bool result = compared(run, i, i.type());
  const bool first = with_third(run, i, result), second = with_third(run, i, !result);
  run.put(i.operand(0), static_cast<uint8_t>(first));
  if (i.groups[0].count == 2) run.put(i.operand(0, 1), static_cast<uint8_t>(second));
}

void set_by_comparison(Run& run, const Instruction& i) {
  const bool result = with_third(run, i, compared(run, i, i.type(1)));
  if (i.type(0) == Type::f32) return run.put(i.operand(0), result ? 1.0f : 0.0f);
  if (bytes_of(i.type(0)) != 4) fail_unsupported(run, i);
  run.put(i.operand(0), result ? 0xffffffffu : 0u);
}

void select_by_predicate(Run& run, const Instruction& i) {
  const Operand& chosen = run.is_true(i.operand(3)) ? i.operand(1) : i.operand(2);
  if (with_integer(i.type(), [&]<class T>(T) { run.put(i.operand(0), run.get<T>(chosen)); })) return;
  with_real(i.type(), [&]<class T>(T) { run.put(i.operand(0), run.get<T>(chosen)); });
}

void select_by_sign(Run& run, const Instruction& i) {  // of the last source, which is an s32 or f32
  bool first = run.get<int32_t>(i.operand(3)) >= 0;
  if (i.type(1) == Type::f32) {
    const float c = run.get<float>(i.operand(3));
    first = (i.has("ftz"_word) ? flushed(c) : c) >= 0;
  }
  const Operand& chosen = first ? i.operand(1) : i.operand(2);
  if (with_integer(i.type(), [&]<class T>(T) { run.put(i.operand(0), run.get<T>(chosen)); })) return;
  with_real(i.type(), [&]<class T>(T) { run.put(i.operand(0), run.get<T>(chosen)); });
}

}  // namespace convlab::simt::ptx
