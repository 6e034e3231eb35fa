// Streams the content of plain and gzipped files.

#include "convlab/dataset/content_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "convlab/base/error.h"
#include "convlab/base/file.h"

namespace convlab {

/// zlib also reads files that are not gzipped; it reads large parts directly into the caller's memory.
struct ContentFile::Handle {
  ~Handle() {
    if (file != nullptr) {
      gzclose_r(file);  // also closes the descriptor
    } else if (descriptor >= 0) {
      ::close(descriptor);
    }
  }

  int descriptor = -1;
  gzFile file = nullptr;
  bool gzipped = false;
};

ContentFile::ContentFile(const std::filesystem::path& path)
    : name_(path.string()), handle_(std::make_unique<Handle>()) {
  require_regular_file(path);
  handle_->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle_->descriptor < 0) throw bad_input("cannot open {}: {}", name_, std::strerror(errno));
  handle_->file = ::gzdopen(handle_->descriptor, "rb");
  if (handle_->file == nullptr) throw bad_input("{}: not enough memory to read the file", name_);
  handle_->gzipped = ::gzdirect(handle_->file) == 0;
}

ContentFile::~ContentFile() = default;

std::optional<int64_t> ContentFile::size() const {
  struct stat status {};
  if (handle_->gzipped || ::fstat(handle_->descriptor, &status) != 0) return std::nullopt;
  return status.st_size;
}

int64_t ContentFile::position() const { return ::gztell(handle_->file); }

void ContentFile::seek(int64_t position) {
  if (::gzseek(handle_->file, position, SEEK_SET) < 0) throw bad_input("{}: cannot seek to byte {}", name_, position);
}

size_t ContentFile::read(std::span<uint8_t> to) {
  // zlib returns nothing of a part with corrupt data, so small parts lose less.
  const size_t most = handle_->gzipped ? size_t{256} << 10 : size_t{1} << 30;
  size_t done = 0;
  while (done < to.size()) {
    const std::span<uint8_t> part = to.subspan(done, std::min(most, to.size() - done));
    size_t got = 0;
    try {
      got = read_some(part);
    } catch (const Error&) {
      if (done == 0) throw;  // otherwise the next call throws it
    }
    done += got;
    if (got < part.size()) break;
  }
  return done;
}

size_t ContentFile::read_some(std::span<uint8_t> to) {
  errno = 0;
  const int got = ::gzread(handle_->file, to.data(), static_cast<unsigned>(to.size()));
  if (got > 0) return static_cast<size_t>(got);
  int code = Z_OK;
  const char* const message = ::gzerror(handle_->file, &code);
  if (code == Z_BUF_ERROR) throw bad_input("{}: truncated gzip data", name_);
  if (code == Z_ERRNO) throw bad_input("cannot read {}: {}", name_, std::strerror(errno));
  if (code != Z_OK) throw bad_input("{}: corrupt gzip data: {}", name_, message);
  return 0;
}

}  // namespace convlab
