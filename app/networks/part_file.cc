// Writes a .npy file row by row, so that an interrupted run can be resumed.

#include "app/networks/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/tensor/npy.h"

namespace convlab::app {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostJournalBytes = 1 << 20;
constexpr double kKeepEveryS = 0.25;  // flushing to disk takes some time
constexpr mode_t kMode = 0666;        // minus the umask

Error cannot_write(const std::string& file) { return bad_input("cannot write {}: {}", file, std::strerror(errno)); }

void write_at(int descriptor, int64_t offset, std::string_view bytes, const std::string& file) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw cannot_write(file);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
}

int open_file(const std::string& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, kMode);
  if (descriptor < 0) throw cannot_write(file);
  return descriptor;
}

/// Returns the journal's first line. It has the same length for any number of rows, so that it can be overwritten.
std::string rows_line(int64_t rows, int64_t total) { return fmt::format("rows: {:020} of {}\n", rows, total); }

std::string text_of_facts(const Facts& facts) {
  std::string text;
  for (auto [key, value] : facts) {
    std::ranges::replace(value, '\n', '?');
    text += fmt::format("{}: {}\n", key, value);
  }
  return text;
}

}  // namespace

PartFile::PartFile(std::string file, ElementType type, const Shape& shape, const Facts& work, bool resume)
    : file_(std::move(file)),
      header_(npy_header(type, shape)),
      work_(text_of_facts(work)),
      total_rows_(shape[0]),
      row_bytes_(checked_mul(image_element_count(shape), static_cast<int64_t>(size_of(type)))) {
  std::error_code error;
  if (fs::exists(file_, error)) require_regular_file(file_);
  if (const fs::path target = fs::weakly_canonical(file_, error); !error) file_ = target.string();  // keeps links
  part_ = file_ + ".part";
  journal_ = part_ + ".journal";
  try {
    open_part(resume);
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (journal_descriptor_ >= 0) ::close(journal_descriptor_);
    throw;
  }
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  ::close(journal_descriptor_);
}

void PartFile::open_part(bool resume) {
  const bool part = fs::exists(part_);
  if (part && !resume) {
    throw bad_input("{}: left by an earlier run; continue with --resume or delete the file", part_);
  }
  if (part && !fs::exists(journal_)) {
    throw bad_input("{}: journal {} is missing; delete the file", part_, journal_);
  }
  journal_descriptor_ = open_file(journal_, O_RDWR | O_CREAT);
  if (::flock(journal_descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw bad_input("{}: in use by another process", part_);
  }
  if (part) {
    check_journal();
    descriptor_ = open_file(part_, O_RDWR);
    const auto bytes = static_cast<int64_t>(fs::file_size(part_));
    if (bytes < static_cast<int64_t>(header_.size()) + rows_ * row_bytes_) {
      throw bad_input("{}: file has {} bytes, fewer than its journal {} says; delete the file", part_, bytes, journal_);
    }
    return;
  }
  // A process that was killed between renaming the file and deleting the journal leaves both.
  if (resume && fs::exists(file_) &&
      read_text(journal_, kMostJournalBytes) == rows_line(total_rows_, total_rows_) + work_) {
    rows_ = total_rows_;
    whole_ = true;
    fs::remove(journal_);
    return;
  }
  begin();
}

void PartFile::begin() {
  if (::ftruncate(journal_descriptor_, 0) != 0) throw cannot_write(journal_);
  write_at(journal_descriptor_, 0, rows_line(0, total_rows_) + work_, journal_);
  ::fdatasync(journal_descriptor_);
  descriptor_ = open_file(part_, O_RDWR | O_CREAT | O_EXCL);
  try {
    const int64_t bytes = checked_mul(total_rows_, row_bytes_) + static_cast<int64_t>(header_.size());
    // Fail now rather than after hours. If the file system does not support fallocate, writing rows detects a full
    // disk.
    if (::fallocate(descriptor_, 0, 0, bytes) != 0 && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) {
      throw bad_input("{}: no disk space for {} bytes of results: {}", part_, bytes, std::strerror(errno));
    }
    write_at(descriptor_, 0, {reinterpret_cast<const char*>(header_.data()), header_.size()}, part_);
  } catch (const Error&) {
    ::unlink(part_.c_str());
    ::unlink(journal_.c_str());
    throw;
  }
}

/// Throws Error(bad_input) unless the journal is of this run; reads the number of rows.
void PartFile::check_journal() {
  const std::string text = read_text(journal_, kMostJournalBytes);
  const size_t line = rows_line(0, total_rows_).size();
  const std::vector<std::string> there = split(text.substr(std::min(line, text.size())), '\n');
  const std::vector<std::string> wanted = split(work_, '\n');
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i < there.size() && there[i] == wanted[i]) continue;
    throw bad_input(
        "{}: belongs to a different run ({}: '{}' in the file, '{}' now); rerun with the same options or delete the "
        "file",
        part_, journal_, i < there.size() ? printable(there[i]) : "", wanted[i]);
  }
  constexpr size_t kRowsAt = 6, kDigits = 20;
  rows_ = parse_int(text.substr(kRowsAt, kDigits), journal_, 0, total_rows_);
}

int64_t PartFile::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

void PartFile::go_back(int64_t row) {
  const std::lock_guard lock(mutex_);
  rows_ = row;
}

void PartFile::write(const void* rows, size_t bytes) {
  const std::lock_guard lock(mutex_);
  write_at(descriptor_, static_cast<int64_t>(header_.size()) + rows_ * row_bytes_,
           {static_cast<const char*>(rows), bytes}, part_);
  rows_ += static_cast<int64_t>(bytes) / row_bytes_;
  if (seconds_since(kept_at_) >= kKeepEveryS) keep_locked();
}

void PartFile::keep() {
  const std::lock_guard lock(mutex_);
  keep_locked();
}

void PartFile::keep_locked() {
  if (::fdatasync(descriptor_) != 0) throw cannot_write(part_);
  write_at(journal_descriptor_, 0, rows_line(rows_, total_rows_), journal_);
  kept_at_ = Clock::now();
}

void PartFile::finish() {
  keep();
  std::error_code error;
  fs::rename(part_, file_, error);
  if (error) throw bad_input("cannot rename {} to {}: {}", part_, file_, error.message());
  ::unlink(journal_.c_str());
}

}  // namespace convlab::app
