// Reads and writes submissions in the spool.

#include "convlab/classroom/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <tuple>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/sha256.h"
#include "convlab/measure/json_members.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".json";
constexpr const char* kUnfinished = ".new-";
constexpr int64_t kMostEntryBytes = 2 * kMostSourceBytes;  // JSON escapes some bytes as several
constexpr double kMostWriting_s = 3600;

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

/// Encodes bytes as the characters U+0000 to U+00FF, because JSON must be UTF-8 and sources need not be.
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
      if (byte > 0xc3 || i + 1 == text.size()) throw bad_input("'source' has a character above U+00FF");
      bytes += static_cast<char>((byte & 0x03) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    }
  }
  return bytes;
}

/// Returns the receipt of a file, which is both a hash of its bytes and its name.
std::string receipt_of(const std::string& bytes) { return sha256(bytes).substr(0, 2 * kSecretBytes); }

/// Returns the receipt in a file name, or "" if it is not a receipt.
std::string receipt_in(const std::string& name) {
  std::string receipt = name.substr(0, name.find('.'));
  return is_secret(receipt) && name == receipt + kEnding ? receipt : "";
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
  if (!is_secret(entry.secret)) throw bad_input("'secret' must be 32 hexadecimal digits");
  if (entry.source.empty()) throw bad_input("the submitted file is empty");
  if (static_cast<int64_t>(entry.source.size()) > kMostSourceBytes) {
    throw bad_input("the source has {} bytes; the limit is {} bytes", entry.source.size(), kMostSourceBytes);
  }
  return entry;
}

std::string text_of(int descriptor, int64_t size) {
  std::string text(static_cast<size_t>(size), '\0');
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::pread(descriptor, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (count <= 0) throw bad_input("cannot read the file: {}", count < 0 ? std::strerror(errno) : "it became shorter");
    at += static_cast<size_t>(count);
  }
  return text;
}

SpoolEntry read_entry(const Descriptor& file, const struct stat& status, const std::string& receipt) {
  if (receipt.empty()) throw bad_input("file name must be a receipt of 'convlab class submit'");
  if (!S_ISREG(status.st_mode)) throw bad_input("not a regular file");
  if (status.st_nlink != 1) throw bad_input("file has more than one hard link");
  if (status.st_size > kMostEntryBytes) {
    throw bad_input("file has {} bytes; the limit is {} bytes", status.st_size, kMostEntryBytes);
  }
  const std::string text = text_of(file.number(), status.st_size);
  if (receipt_of(text) != receipt) throw bad_input("content was changed after arrival");
  return parse_entry(text, receipt + kEnding);
}

void write_whole(const Descriptor& file, const fs::path& path, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file.number(), text.data() + at, text.size() - at);
    if (count < 0) throw bad_input("cannot write {}: {}", path.string(), std::strerror(errno));
    at += static_cast<size_t>(count);
  }
  if (::fsync(file.number()) != 0) throw bad_input("cannot write {}: {}", path.string(), std::strerror(errno));
}

}  // namespace

void require_file_name(const std::string& name) {
  constexpr size_t kMost = 64;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  constexpr std::array kEndings{".cu", ".cuh", ".cc", ".cpp", ".h", ".hpp"};
  const bool plain = !name.empty() && name.size() <= kMost && name[0] != '.' && name[0] != '-' &&
                     name.find_first_not_of(kPlain) == std::string::npos;
  if (!plain)
    throw bad_input(
        "'{}': file names must have at most {} letters, digits, '.', '-' and '_', and begin with none of '.-'",
        printable(name), kMost);
  if (std::ranges::find(kEndings, fs::path(name).extension().string()) == kEndings.end()) {
    throw bad_input("'{}': kernel file names must end in one of {}", name, fmt::join(kEndings, ", "));
  }
}

void require_student_name(const std::string& name) {
  constexpr size_t kMost = 64;
  const bool fits = !name.empty() && name.size() <= kMost && name == printable(name) && name.front() != ' ' &&
                    name.back() != ' ' && name.find('/') == std::string::npos;
  if (!fits) {
    throw bad_input("'{}': student names must have 1 to {} printable bytes, no '/' and no space at either end",
                    printable(name), kMost);
  }
}

fs::path entry_path(const fs::path& spool, const std::string& receipt) { return spool / (receipt + kEnding); }

std::string write_entry(const fs::path& spool, const SpoolEntry& entry) {
  nlohmann::ordered_json json{{"assignment", entry.assignment}, {"as", entry.as}, {"secret", entry.secret}};
  json["file"] = entry.file;
  json["source"] = characters_of(entry.source);
  json["nonce"] = random_hex(kSecretBytes);
  const std::string text = json_text(json, -1);
  std::string receipt = receipt_of(text);
  const fs::path unfinished = spool / (kUnfinished + receipt);
  constexpr mode_t kMode = 0640;  // the class owner reads it through the spool's group
  const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (file.number() < 0) throw bad_input("cannot write {}: {}", spool.string(), std::strerror(errno));
  try {
    write_whole(file, unfinished, text);
    if (::rename(unfinished.c_str(), entry_path(spool, receipt).c_str()) != 0) {
      throw bad_input("cannot write {}: {}", spool.string(), std::strerror(errno));
    }
  } catch (const Error&) {
    ::unlink(unfinished.c_str());
    throw;
  }
  return receipt;
}

std::vector<Arrival> list_spool(const fs::path& spool) {
  std::vector<Arrival> arrivals;
  for (const fs::directory_entry& each : fs::directory_iterator(spool)) {
    std::error_code error;
    if (each.symlink_status(error).type() == fs::file_type::directory) continue;
    if (each.path().filename().string().starts_with(kUnfinished)) continue;
    struct stat status {};
    if (::lstat(each.path().c_str(), &status) != 0) continue;
    arrivals.push_back({.path = each.path(), .uid = status.st_uid, .arrived_s = seconds(status.st_ctim)});
  }
  std::ranges::sort(arrivals, {}, [](const Arrival& each) { return std::tie(each.arrived_s, each.path); });
  return arrivals;
}

std::optional<Arrival> read_arrival(const fs::path& path) {
  // O_NOFOLLOW: do not follow links. O_NONBLOCK: do not wait for a pipe's writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const int failure = errno;
  struct stat status {};
  if (file.number() < 0 ? ::lstat(path.c_str(), &status) != 0 : ::fstat(file.number(), &status) != 0) {
    return std::nullopt;
  }
  Arrival arrival{.path = path,
                  .uid = status.st_uid,
                  .arrived_s = seconds(status.st_ctim),
                  .receipt = receipt_in(path.filename().string())};
  try {
    if (file.number() < 0 && S_ISREG(status.st_mode))
      throw bad_input("cannot open the file: {}", std::strerror(failure));
    arrival.entry = read_entry(file, status, arrival.receipt);
  } catch (const Error& error) {
    arrival.misfit = printable(error.what());
  }
  return arrival;
}

void sweep_spool(const fs::path& spool) {
  for (const fs::directory_entry& each : fs::directory_iterator(spool)) {
    struct stat status {};
    if (::lstat(each.path().c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) {
      ::rmdir(each.path().c_str());
    } else if (each.path().filename().string().starts_with(kUnfinished) &&
               now_s() - seconds(status.st_ctim) > kMostWriting_s) {
      ::unlink(each.path().c_str());
    }
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
