#include "convlab/classroom/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"
#include "convlab/classroom/secrets.h"
#include "convlab/measure/json_members.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".json";
constexpr const char* kUnfinished = ".new-";
constexpr int64_t kMostEntryBytes = 2 * kMostSourceBytes;  // JSON writes some bytes as several
constexpr int64_t kMostAhead = 1000;
constexpr double kKept_s = 3600;
constexpr double kMostLinking_s = 60;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double now_s() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return seconds(time);
}

/// Sources need not be UTF-8, JSON must be: each byte becomes the character of that number.
std::string characters_of(const std::string& bytes) {
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x80) {
      text += each;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
    } else {
      if (byte > 0xc3 || i + 1 == text.size()) throw bad_input("'source' has a character beyond U+00FF");
      bytes += static_cast<char>((byte & 0x03) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    }
  }
  return bytes;
}

std::optional<int64_t> number_of(const std::string& name) {
  int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || std::string_view(rest, end) != kEnding || number < 1) return std::nullopt;
  // "007.json" would be a second name of 7.
  return name == std::to_string(number) + kEnding ? std::optional(number) : std::nullopt;
}

SpoolEntry parse_entry(const std::string& text, const std::string& name) {
  const auto json = parse_json(text, name);
  const JsonMembers from(json, name);
  SpoolEntry entry;
  from.read("assignment", entry.assignment);
  from.read_if_there("as", entry.as);
  from.read("secret", entry.secret);
  from.read("file", entry.file);
  from.read("source", entry.source);
  entry.source = bytes_of(entry.source);
  require_file_name(entry.file);
  if (!entry.as.empty()) require_student_name(entry.as);
  if (!is_secret(entry.secret)) throw bad_input("'secret' is no 32 hexadecimal digits");
  if (static_cast<int64_t>(entry.source.size()) > kMostSourceBytes) {
    throw bad_input("the source has {} bytes; at most {} are taken", entry.source.size(), kMostSourceBytes);
  }
  return entry;
}

std::string text_of(int descriptor, int64_t size) {
  std::string text(static_cast<size_t>(size), '\0');
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::pread(descriptor, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (count <= 0) throw bad_input("it cannot be read: {}", count < 0 ? std::strerror(errno) : "it became shorter");
    at += static_cast<size_t>(count);
  }
  return text;
}

/// nullopt: it is still being linked into place, or gone.
std::optional<Arrival> arrival_at(const fs::path& path, int64_t next) {
  Arrival arrival{.name = path.filename().string()};
  // Links are not followed, and a pipe without a writer does not keep us waiting.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const int failure = errno;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  arrival.uid = status.st_uid;
  arrival.arrived_s = seconds(status.st_ctim);
  try {
    const std::optional<int64_t> number = number_of(arrival.name);
    if (!number) throw bad_input("its name is no number with {}", kEnding);
    if (*number >= next + kMostAhead) throw bad_input("its number was not free; the next one is {}", next);
    arrival.number = *number;
    if (!S_ISREG(status.st_mode)) throw bad_input("it is a link, a folder or a pipe, and no file");
    if (file.number() < 0) throw bad_input("it cannot be opened: {}", std::strerror(failure));
    struct stat opened {};
    ::fstat(file.number(), &opened);
    if (!S_ISREG(opened.st_mode) || opened.st_ino != status.st_ino) return std::nullopt;
    if (opened.st_nlink != 1) {
      if (now_s() - arrival.arrived_s < kMostLinking_s) return std::nullopt;
      throw bad_input("it has other names, too");
    }
    if (opened.st_size > kMostEntryBytes) {
      throw bad_input("it has {} bytes; at most {} are read", opened.st_size, kMostEntryBytes);
    }
    arrival.uid = opened.st_uid;
    arrival.entry = parse_entry(text_of(file.number(), opened.st_size), arrival.name);
  } catch (const Error& error) {
    arrival.misfit = printable(error.what());
  }
  return arrival;
}

void write_whole(const Descriptor& file, const fs::path& path, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file.number(), text.data() + at, text.size() - at);
    if (count < 0) throw bad_input("{}: cannot write: {}", path.string(), std::strerror(errno));
    at += static_cast<size_t>(count);
  }
  if (::fsync(file.number()) != 0) throw bad_input("{}: cannot write: {}", path.string(), std::strerror(errno));
}

}  // namespace

void require_file_name(const std::string& name) {
  constexpr size_t kMost = 64;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  constexpr std::array kEndings{".cu", ".cuh", ".cc", ".cpp", ".h", ".hpp"};
  const bool plain = !name.empty() && name.size() <= kMost && name[0] != '.' && name[0] != '-' &&
                     name.find_first_not_of(kPlain) == std::string::npos;
  if (!plain)
    throw bad_input("'{}': a file's name may have letters, digits, dots, dashes, underscores", printable(name));
  if (std::ranges::find(kEndings, fs::path(name).extension().string()) == kEndings.end()) {
    throw bad_input("'{}': a kernel file ends in one of {}", name, fmt::join(kEndings, ", "));
  }
}

void require_student_name(const std::string& name) {
  constexpr size_t kMost = 64;
  const bool fits = !name.empty() && name.size() <= kMost && name == printable(name) && name.front() != ' ' &&
                    name.back() != ' ' && name.find('/') == std::string::npos;
  if (!fits) {
    throw bad_input("'{}': a student's name has 1 to {} bytes, all printable, no '/' and no blank at its ends",
                    printable(name), kMost);
  }
}

int64_t write_entry(const fs::path& spool, const SpoolEntry& entry, int64_t first) {
  nlohmann::ordered_json json{{"assignment", entry.assignment}, {"as", entry.as}, {"secret", entry.secret}};
  json["file"] = entry.file;
  json["source"] = characters_of(entry.source);
  const fs::path unfinished = spool / (kUnfinished + random_hex(16));
  constexpr mode_t kMode = 0640;  // the class's owner reads it by the spool's group
  const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (file.number() < 0) throw bad_input("{}: cannot write: {}", spool.string(), std::strerror(errno));
  try {
    write_whole(file, unfinished, json_text(json, -1));
    for (int64_t number = first;; ++number) {
      const fs::path path = spool / (std::to_string(number) + kEnding);
      if (::link(unfinished.c_str(), path.c_str()) == 0) {
        ::unlink(unfinished.c_str());
        return number;
      }
      if (errno != EEXIST) throw bad_input("{}: cannot write: {}", path.string(), std::strerror(errno));
    }
  } catch (const Error&) {
    ::unlink(unfinished.c_str());
    throw;
  }
}

std::vector<Arrival> read_spool(const fs::path& spool, int64_t next, const std::function<bool(int64_t)>& is_known) {
  std::vector<Arrival> arrivals;
  for (const fs::directory_entry& each : fs::directory_iterator(spool)) {
    const std::string name = each.path().filename().string();
    const std::optional<int64_t> number = number_of(name);
    if (name.starts_with(kUnfinished) || (number && is_known(*number))) continue;
    if (std::optional<Arrival> arrival = arrival_at(each.path(), next)) arrivals.push_back(std::move(*arrival));
  }
  std::ranges::sort(arrivals, {}, &Arrival::number);
  return arrivals;
}

void sweep_spool(const fs::path& spool, const std::function<bool(int64_t)>& is_known) {
  for (const fs::directory_entry& each : fs::directory_iterator(spool)) {
    const std::string name = each.path().filename().string();
    const std::optional<int64_t> number = number_of(name);
    struct stat status {};
    if (::lstat(each.path().c_str(), &status) != 0 || now_s() - seconds(status.st_ctim) < kKept_s) continue;
    if (name.starts_with(kUnfinished) || (number && is_known(*number))) ::unlink(each.path().c_str());
  }
}

std::string name_of_user(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return fmt::format("uid {}", uid);
}

}  // namespace convlab::classroom
