// printf(), failed assertions and exceptions in kernels: the linker redirects these functions of the C and C++
// libraries here (see CMakeLists.txt). Code outside kernels has no active worker.

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

#include "convlab/simt/printed.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::internal {
namespace {

int print_in_kernel(std::string& printed, const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int count = std::vsnprintf(nullptr, 0, format, arguments);
  const size_t before = printed.size(), bytes = count < 0 ? 0 : static_cast<size_t>(count);
  if (before + bytes <= Printed::kMostBytes) {
    printed.resize(before + bytes + 1);
    std::vsnprintf(printed.data() + before, bytes + 1, format, again);
    printed.resize(before + bytes);
  }
  va_end(again);
  return count;
}

int print(const char* format, std::va_list arguments) {
  Worker* const worker = active_worker;
  if (!worker) return std::vprintf(format, arguments);
  const HostScope host;
  return print_in_kernel(worker->printed, format, arguments);
}

}  // namespace
}  // namespace convlab::simt::internal

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real___cxa_allocate_exception(size_t bytes);
[[noreturn]] void __real___assert_fail(const char* expression, const char* file, unsigned line, const char* function);

int __wrap_printf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int count = convlab::simt::internal::print(format, arguments);
  va_end(arguments);
  return count;
}

// Called instead of printf() if the C library's fortify checks are on.
int __wrap___printf_chk(int, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int count = convlab::simt::internal::print(format, arguments);
  va_end(arguments);
  return count;
}

[[noreturn]] void __wrap___assert_fail(const char* expression, const char* file, unsigned line, const char* function) {
  using namespace convlab::simt;
  using namespace convlab::simt::internal;
  if (Worker* const worker = active_worker) {
    const HostScope host;
    RawFault fault;
    fault.kind = FaultKind::assertion;
    fault.code = __builtin_return_address(0);
    fault.detail = expression;
    worker->fail(std::move(fault));
  }
  __real___assert_fail(expression, file, line, function);
}

// Every `throw` of the program arrives here, before an exception exists.
void* __wrap___cxa_allocate_exception(size_t bytes) {
  using namespace convlab::simt;
  using namespace convlab::simt::internal;
  if (Worker* const worker = active_worker) {
    const HostScope host;
    worker->fail_throw(__builtin_return_address(0));
  }
  return __real___cxa_allocate_exception(bytes);
}
}
// NOLINTEND(bugprone-reserved-identifier)
