#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convlab::app {

/// What a kernel file with a prolog and an epilog took on one problem: medians of its launches, in seconds, without the
/// first, which warms up, where there are others.
struct FileTime {
  std::string file, problem;
  int64_t launches = 0;
  double prolog_s = 0, call_s = 0, epilog_s = 0;
  double layer_s = 0;  ///< from the begin of the prolog to the end of the epilog
  bool early = false;  ///< it computes in its prolog, so that call_s tells nothing
};

/// Of the files that this process has loaded.
std::vector<FileTime> file_times();

/// "prolog to epilog 31.200 ms; the prolog took 30.900 ms, ...".
std::string file_time_text(const FileTime& time);

/// "31.2 ms", "1.25 s", "850 us".
std::string time_text(double seconds);

}  // namespace convlab::app
