#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

/// Output of printf() in kernels. As on a GPU, it appears after the launch and is limited to 1 MiB. Unlike on a GPU, it
/// is in block order, and output beyond the limit is cut off at the end.
namespace convlab::simt::internal {

/// Output of one launch. Thread-safe for its workers.
class Printed {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20;  ///< limit per block, per launch, and per process

  /// Adds a block's output; called once for each block that prints, in any order.
  void add(int64_t block, std::string text);

  /// Writes the output of blocks up to `last_block` to standard output, as whole lines.
  void show(int64_t last_block) const;

 private:
  std::mutex mutex_;
  std::map<int64_t, std::string> texts_;  // of blocks before the first one that did not fit
  size_t bytes_ = 0;
  int64_t end_ = INT64_MAX;
};

}  // namespace convlab::simt::internal
