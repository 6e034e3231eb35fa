#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

// The spool: a folder in which everybody may create files and nobody but the class's owner may list or remove them. A
// submission is a file NUMBER.json, written under another name and linked into place, so that it is whole, and has a
// number that no other has. Its student is the file's owner; what the file says decides nothing.

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

/// Gives the entry the first free number from `first` on and returns it. Error(bad_input) where the spool cannot be
/// written.
int64_t write_entry(const std::filesystem::path& spool, const SpoolEntry& entry, int64_t first);

/// What lies in the spool under a number.
struct Arrival {
  int64_t number = 0;    ///< 0: its name is no number that was free
  std::string name;      ///< of the file
  uid_t uid = 0;         ///< its owner
  double arrived_s = 0;  ///< when it was linked into place, as the file system knows it; nobody can set that back
  std::optional<SpoolEntry> entry;
  std::string misfit;  ///< without an entry: why it is no submission
};

/// The files of the spool that `is_known` does not know, in the order of their numbers; what is no submission, too, but
/// not what somebody is writing just now. Numbers from `next` + 1000 on are misfits.
std::vector<Arrival> read_spool(const std::filesystem::path& spool, int64_t next,
                                const std::function<bool(int64_t)>& is_known);

/// Removes what was taken in, and what somebody began to write, an hour ago or earlier. Names stay so long so that
/// nobody who read an old queue.json gets a number that is taken.
void sweep_spool(const std::filesystem::path& spool, const std::function<bool(int64_t)>& is_known);

/// The login name of a user, or "uid 1234".
std::string name_of_user(uid_t uid);

}  // namespace convlab::classroom
