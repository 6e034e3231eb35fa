#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convlab/base/clock.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// What a result is computed from, and how: {"math", "fp32"}.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// A .npy file that comes into being row after row. Until it is whole it is FILE.part, and FILE.part.journal says of
/// what work it is and how many rows are there, which it only says once the disk has them. A part of which the process
/// is killed can be gone on with at any time.
///
/// Several threads may use it.
class PartFile {
 public:
  /// Begins FILE.part, and takes its place on the disk; or, to `resume`, opens the one that is there, if any.
  /// Error(bad_input) with path, reason and what to do: where there is a part that shall not be resumed, or that is of
  /// another work or in use; where a file cannot be written, or the disk has too little space.
  PartFile(std::string file, ElementType type, const Shape& shape, const Facts& work, bool resume);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Rows from the first on that are there.
  int64_t rows() const;

  /// Whether all is done: the file itself is there, too.
  bool whole() const { return whole_; }

  /// From now on rows from this one on are written, again where they are there.
  void go_back(int64_t row);

  /// Writes the next rows, of `bytes` bytes in all, and has the disk keep them from time to time.
  void write(const void* rows, size_t bytes);

  /// Has the disk keep all rows so far, and the journal say so.
  void keep();

  /// Makes a whole part the file.
  void finish();

  /// "y.npy.part"
  const std::string& part() const { return part_; }

 private:
  void open_part(bool resume);
  void begin();
  void check_journal();
  std::string journal_text() const;
  void keep_locked();

  std::string file_, part_, journal_;
  std::vector<uint8_t> header_;
  std::string work_;  ///< the facts, a line each
  int64_t total_rows_, row_bytes_;
  int descriptor_ = -1, journal_descriptor_ = -1;
  bool whole_ = false;
  int64_t rows_ = 0;
  Clock::time_point kept_at_ = Clock::now();
  mutable std::mutex mutex_;
};

}  // namespace convlab::app
