// Chooses color and width of printed findings.

#include "convlab/diagnostics/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace convlab {

TextStyle text_style(std::FILE* output, const std::string& color) {
  const int descriptor = ::fileno(output);
  const bool is_terminal = ::isatty(descriptor) == 1;
  const char* const no_color = std::getenv("NO_COLOR");
  TextStyle style{.color = color == "always"};
  if (color == "auto") style.color = is_terminal && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  return style;
}

}  // namespace convlab
