#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convlab::app {

/// Times of a kernel file with a prolog and an epilog on one problem, in seconds: medians of its launches without the
/// first, which is a warm-up, unless it is the only one.
struct FileTime {
  std::string file, problem;
  int64_t launches = 0;
  double prolog_s = 0, call_s = 0, epilog_s = 0;
  double layer_s = 0;  ///< from the start of the prolog to the end of the epilog
  bool early = false;  ///< it computes in its prolog; then call_s is not meaningful
};

/// Returns the times of the kernel files that this process has loaded.
std::vector<FileTime> file_times();

/// Returns "mine.cu on n10_c1h70w70_k12r5s5: prolog to epilog 31.2 ms; prolog 30.9 ms, ...".
std::string file_time_text(const FileTime& time);

/// Returns "31.2 ms", "1.25 s", "850 us".
std::string time_text(double seconds);

}  // namespace convlab::app
