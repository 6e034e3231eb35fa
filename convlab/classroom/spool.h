#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

// The spool: a folder in which everybody may create files and nobody but the class's owner may list or remove them. A
// submission is a file RECEIPT.json, written under another name and renamed into place, so that it is whole. The
// receipt is the SHA-256 of the file's bytes, which hold a random number: nobody can take a name that another will
// want, and nobody can change the text afterwards without a rename, which the file system stamps with a new time of
// arrival. Its student is the file's owner; what the file says decides nothing. Numbers are assigned at intake
// (intake.h).

/// What a student hands in.
struct SpoolEntry {
  std::string assignment;
  std::string as;      ///< the student's name, if the class's owner hands in for somebody; otherwise ""
  std::string secret;  ///< under which the student's answers lie: 32 hexadecimal digits
  std::string file;    ///< the kernel file's name, see require_file_name()
  std::string source;  ///< its bytes

  bool operator==(const SpoolEntry&) const = default;
};

inline constexpr int64_t kMostSourceBytes = 1 << 20;

/// Error(bad_input) unless it is a plain name with the ending of a kernel file: "new-forward.cuh".
void require_file_name(const std::string& name);

/// Error(bad_input) unless a student can be called so: 1 to 64 bytes, printable, no '/', no blank at the ends.
void require_student_name(const std::string& name);

/// Writes the entry and returns its receipt: 32 hexadecimal digits, by which only its sender knows it. Error(bad_input)
/// where the spool cannot be written.
std::string write_entry(const std::filesystem::path& spool, const SpoolEntry& entry);

/// Where an entry waits to be taken in.
std::filesystem::path entry_path(const std::filesystem::path& spool, const std::string& receipt);

/// What lies in the spool, and is no folder.
struct Arrival {
  std::filesystem::path path;
  uid_t uid = 0;         ///< its owner
  double arrived_s = 0;  ///< when it was renamed into place, as the file system knows it; nobody can set that back

  // Of what was read:
  std::string receipt;  ///< "": its name is none
  std::optional<SpoolEntry> entry;
  std::string misfit;  ///< without an entry: why it is no submission
};

/// What has arrived, in that order, unread; not what somebody is writing just now. Folders are passed over: other
/// users' can be neither moved nor removed.
std::vector<Arrival> list_spool(const std::filesystem::path& spool);

/// One of them with its entry or its misfit; nullopt: it is gone.
std::optional<Arrival> read_arrival(const std::filesystem::path& path);

/// Removes what somebody began to write an hour ago or earlier, and empty folders.
void sweep_spool(const std::filesystem::path& spool);

/// The login name of a user, or "uid 1234".
std::string name_of_user(uid_t uid);

}  // namespace convlab::classroom
