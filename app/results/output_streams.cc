// Provides the streams for results and messages.

#include "app/results/output_streams.h"

#include <fcntl.h>

#include <initializer_list>

namespace convlab::app {
namespace {

std::FILE* results = nullptr;
std::FILE* messages = nullptr;

}  // namespace

std::FILE* results_stream() { return results != nullptr ? results : stdout; }
std::FILE* messages_stream() { return messages != nullptr ? messages : stderr; }

void set_streams(int results_number, int messages_number) {
  for (const int number : {results_number, messages_number}) ::fcntl(number, F_SETFD, FD_CLOEXEC);
  results = ::fdopen(results_number, "w");
  messages = ::fdopen(messages_number, "w");
  if (messages != nullptr) std::setvbuf(messages, nullptr, _IONBF, 0);
}

}  // namespace convlab::app
