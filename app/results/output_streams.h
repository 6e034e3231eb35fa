#pragma once

#include <cstdio>

namespace convlab::app {

/// The streams for results and messages: standard output and standard error, or, in a child process, those of its
/// parent, because there kernel files may print to the standard streams.
std::FILE* results_stream();
std::FILE* messages_stream();

/// In a child process, before any output: sets the streams to these file descriptors of the parent's.
void set_streams(int results, int messages);

}  // namespace convlab::app
