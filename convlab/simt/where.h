#pragma once

#include <cstdint>
#include <source_location>

namespace convlab::simt {

/// A source location, captured by a default argument. It has the same form for g++ and clang++, because programs that
/// clang++ compiles are linked with a library that g++ compiled.
class Where {
 public:
#ifdef __cpp_lib_source_location
  static constexpr Where current(std::source_location place = std::source_location::current()) {
    return {place.file_name(), place.line(), place.column()};
  }
#else  // clang 14
  static constexpr Where current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(),
                                 uint32_t column = __builtin_COLUMN()) {
    return {file, line, column};
  }
#endif
  constexpr Where() = default;
  constexpr const char* file_name() const { return file_; }
  constexpr uint32_t line() const { return line_; }
  constexpr uint32_t column() const { return column_; }

 private:
  constexpr Where(const char* file, uint32_t line, uint32_t column) : file_(file), line_(line), column_(column) {}

  const char* file_ = "";
  uint32_t line_ = 0, column_ = 0;
};

inline bool same_place(const Where& a, const Where& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || __builtin_strcmp(a.file_name(), b.file_name()) == 0);
}

}  // namespace convlab::simt
