#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

// The spool: a folder in which everybody may create files, but only the class owner may list or remove them. A
// submission is a file RECEIPT.json, written under another name and renamed into place, so that it is complete. The
// receipt is the SHA-256 of the file's bytes, which include a random number: nobody can occupy another student's file
// name, and nobody can change the content afterwards without a rename, which gives it a new arrival time. The student
// is the file's owner; the file's content does not decide that. Numbers are assigned at intake (intake.h).

/// A student's submission.
struct SpoolEntry {
  std::string assignment;
  std::string as;      ///< the student's name if the class owner submits for somebody; otherwise ""
  std::string secret;  ///< names the student's answers file: 32 hexadecimal digits
  std::string file;    ///< the kernel file's name, see require_file_name()
  std::string source;  ///< its contents

  bool operator==(const SpoolEntry&) const = default;
};

inline constexpr int64_t kMostSourceBytes = 1 << 20;

/// Throws Error(bad_input) unless `name` is a plain name with the suffix of a kernel file: "new-forward.cuh".
void require_file_name(const std::string& name);

/// Throws Error(bad_input) unless `name` is a valid student name: 1 to 64 bytes, printable, no '/', no leading or
/// trailing space.
void require_student_name(const std::string& name);

/// Writes the entry and returns its receipt: 32 hexadecimal digits that only the sender knows. Throws Error(bad_input)
/// if the spool is not writable.
std::string write_entry(const std::filesystem::path& spool, const SpoolEntry& entry);

/// Returns the path of an entry in the spool.
std::filesystem::path entry_path(const std::filesystem::path& spool, const std::string& receipt);

/// A spool item that is not a folder.
struct Arrival {
  std::filesystem::path path;
  uid_t uid = 0;         ///< its owner
  double arrived_s = 0;  ///< when it was renamed into place (ctime), which nobody can set back

  // After reading:
  std::string receipt;  ///< "" if its name is not a receipt
  std::optional<SpoolEntry> entry;
  std::string misfit;  ///< if there is no entry: why it is not a submission
};

/// Lists arrivals, oldest first, unread. Skips files that are still being written, and folders, because other users'
/// folders can be neither moved nor removed.
std::vector<Arrival> list_spool(const std::filesystem::path& spool);

/// Reads one arrival, with its entry or its misfit. Returns nullopt if it is gone.
std::optional<Arrival> read_arrival(const std::filesystem::path& path);

/// Removes files whose writing began over an hour ago, and empty folders.
void sweep_spool(const std::filesystem::path& spool);

/// Returns the login name of a user, or "uid 1234".
std::string name_of_user(uid_t uid);

}  // namespace convlab::classroom
