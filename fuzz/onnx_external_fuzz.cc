// Fuzzes ONNX models with external data. The input contains both files: the model's length (4 bytes, little-endian),
// the model, and the content of w.data. The model's folder has nothing else but a link and a pipe.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>

#include "convlab/base/file.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "fuzz/fuzz.h"

namespace convlab {
namespace {

/// A temporary folder with a link to /etc/passwd and a pipe, removed when the process exits.
class Place {
 public:
  Place() {
    std::string pattern = (std::filesystem::temp_directory_path() / "convlab-fuzz-XXXXXX").string();
    demand(mkdtemp(pattern.data()) != nullptr, "a folder can be made");
    path_ = pattern;
    std::filesystem::create_symlink("/etc/passwd", path_ / "link");
    demand(mkfifo((path_ / "pipe").c_str(), 0600) == 0, "a pipe can be made");
  }
  ~Place() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace
}  // namespace convlab

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  static const Place place;
  uint32_t length = 0;
  if (size < sizeof length) return 0;
  std::memcpy(&length, data, sizeof length);
  const std::span rest(data + sizeof length, size - sizeof length);
  const size_t model = std::min<size_t>(length, rest.size());
  write_file((place.path() / "w.data").string(), rest.subspan(model));
  refuse_or_take([&] {
    const Graph graph = import_onnx(rest.first(model), "input", {.folder = place.path()});
    size_t bytes = 0;
    for (const auto& [value, tensor] : graph.constants) bytes += tensor.bytes();
    constexpr size_t kSome = 1 << 26;
    demand(bytes <= kSome + 64 * size, "constants are not far larger than the files");
  });
  return 0;
}
