#pragma once

#include <cstdint>
#include <source_location>

/// A source location, captured by a default argument: std::source_location if the compiler has it (clang 14 does not).
namespace convlab::simt {

#ifdef __cpp_lib_source_location
using Where = std::source_location;
#else
class Where {
 public:
  static constexpr Where current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(),
                                 uint32_t column = __builtin_COLUMN()) {
    Where where;
    where.file_ = file;
    where.line_ = line;
    where.column_ = column;
    return where;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr uint32_t line() const { return line_; }
  constexpr uint32_t column() const { return column_; }

 private:
  const char* file_ = "";
  uint32_t line_ = 0, column_ = 0;
};
#endif

inline bool same_place(const Where& a, const Where& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || __builtin_strcmp(a.file_name(), b.file_name()) == 0);
}

}  // namespace convlab::simt
