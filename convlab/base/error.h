#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace convlab {

/// Why a command failed; the value is the process's exit status.
enum class ErrorKind {
  wrong_result = 1,  ///< a result is wrong: a failed verification, an accuracy below the expected one
  bad_input = 2,     ///< bad usage or bad input: an option, a file, a model, a problem text
  unavailable = 3,   ///< the requested device, kernel or library is not available
};

/// The exception type of convlab. The message is for users: what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Example: `throw bad_input("{}: truncated at byte {}", path, offset);`
template <class... Args>
Error bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::bad_input, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error unavailable(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::unavailable, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error wrong_result(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::wrong_result, fmt::format(format, std::forward<Args>(args)...)};
}

/// Returns the message of the exception being handled, which may have any type.
inline std::string message_of_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "exception of unknown type (not a std::exception)";
  }
}

}  // namespace convlab
