#pragma once

#include <cstdio>

namespace convlab::app {

/// Where results and messages go: standard output and standard error, and in a guest those of its host, since there
/// somebody else's code prints to the standard ones.
std::FILE* results_stream();
std::FILE* messages_stream();

/// In a guest, before anything is written: the host's.
void set_streams(int results, int messages);

}  // namespace convlab::app
