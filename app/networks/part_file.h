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

/// Name-value pairs that identify what a result is computed from, and how: {"math", "fp32"}.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// A .npy file that is written row by row. Until it is complete, it is FILE.part, and FILE.part.journal holds the facts
/// of the run and the number of rows, which counts only rows that are already on disk. An interrupted run can be
/// resumed even if its process was killed.
///
/// Thread-safe.
class PartFile {
 public:
  /// Creates FILE.part and preallocates its disk space; with `resume`, opens an existing one instead, if any. Throws
  /// Error(bad_input), with path, reason and what to do: if there is a part but not `resume`, if it belongs to a
  /// different run or is in use, if a file cannot be written, or if the disk has too little space.
  PartFile(std::string file, ElementType type, const Shape& shape, const Facts& work, bool resume);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Returns the number of rows written.
  int64_t rows() const;

  /// Whether an earlier run has already completed the file.
  bool whole() const { return whole_; }

  /// Continues writing at this row; overwrites existing rows from there on.
  void go_back(int64_t row);

  /// Writes the next rows, `bytes` bytes in total, and calls keep() from time to time.
  void write(const void* rows, size_t bytes);

  /// Flushes all rows to disk, and then updates the journal.
  void keep();

  /// Renames the complete part to the file and deletes the journal.
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
  std::string work_;  ///< the facts, one per line
  int64_t total_rows_, row_bytes_;
  int descriptor_ = -1, journal_descriptor_ = -1;
  bool whole_ = false;
  int64_t rows_ = 0;
  Clock::time_point kept_at_ = Clock::now();
  mutable std::mutex mutex_;
};

}  // namespace convlab::app
