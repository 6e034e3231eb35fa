// Color and width of what is printed to standard output.

#include "app/results/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "app/results/streams.h"

namespace convlab::app {

TextStyle text_style(const std::string& color) {
  const int output = ::fileno(results_stream());
  const bool is_terminal = ::isatty(output) == 1;
  const char* const no_color = std::getenv("NO_COLOR");
  TextStyle style{.color = color == "always"};
  if (color == "auto") style.color = is_terminal && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (is_terminal && ::ioctl(output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  return style;
}

}  // namespace convlab::app
