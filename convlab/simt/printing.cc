// printf() in kernels, and assert() failures that end a thread: the linker redirects both here (see CMakeLists.txt).

#include "convlab/simt/printing.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <utility>

#include "convlab/simt/execution.h"

namespace convlab::simt::internal {

void Printed::add(int64_t block, std::string text) {
  std::lock_guard lock(mutex_);
  if (block >= end_) return;
  bytes_ += text.size();
  texts_.emplace(block, std::move(text));
  while (bytes_ > kMostBytes) {
    const auto last = std::prev(texts_.end());
    end_ = last->first;
    bytes_ -= last->second.size();
    texts_.erase(last);
  }
}

void Printed::show(int64_t last_block) const {
  static std::mutex mutex;
  static size_t room = kMostBytes;
  std::string all;
  for (const auto& [block, text] : texts_) {
    if (block <= last_block) all += text;
  }
  const bool cut = end_ != INT64_MAX && end_ <= last_block;
  if (all.empty() && !cut) return;
  std::lock_guard lock(mutex);
  if (room == 0) return;
  const bool shown_whole = all.size() <= room && !cut;
  all.resize(std::min(all.size(), room));
  room -= all.size();
  if (!all.empty() && all.back() != '\n') all += '\n';
  if (!shown_whole) {
    all += "(output of kernels is cut off after 1 MiB)\n";
    room = 0;
  }
  std::fwrite(all.data(), 1, all.size(), stdout);
  std::fflush(stdout);
}

namespace {

// Code outside kernels has no active worker.
int print(const char* format, std::va_list arguments) {
  Worker* const worker = active_worker;
  if (!worker) return std::vprintf(format, arguments);
  const HostScope host;
  return worker->print(format, arguments);
}

}  // namespace
}  // namespace convlab::simt::internal

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
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
  using namespace convlab::simt::internal;
  if (Worker* const worker = active_worker) {
    const HostScope host;
    worker->fail_assertion(expression, __builtin_return_address(0));
  }
  __real___assert_fail(expression, file, line, function);
}
}
// NOLINTEND(bugprone-reserved-identifier)
