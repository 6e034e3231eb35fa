#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

/// What kernels print. As on a GPU it appears when the launch is over, and there is room for 1 MiB; unlike there it
/// comes in the order of the blocks, and it is the end that is lost.
namespace convlab::simt::internal {

/// Of one launch. Safe to call from its workers.
class Printed {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20;  ///< of a block, of a launch, and shown by the process

  /// Comes once for each block that prints, in any order.
  void add(int64_t block, std::string text);

  /// Writes what blocks up to this one have printed to standard output: whole lines.
  void show(int64_t last_block) const;

 private:
  std::mutex mutex_;
  std::map<int64_t, std::string> texts_;  // of blocks before the first for which there is no room
  size_t bytes_ = 0;
  int64_t end_ = INT64_MAX;
};

}  // namespace convlab::simt::internal
