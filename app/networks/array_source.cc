// Reads images from a .npy or idx file.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/networks/image_source.h"
#include "convlab/base/error.h"
#include "convlab/dataset/array_file.h"

namespace convlab::app {
namespace {

/// Returns an array's shape, with a channel dimension added if it has none and the model expects one.
Shape with_channel(Shape shape, const Shape& model) {
  if (shape.size() != 3 || model.size() != 4) return shape;
  const bool last = model[3] == 1 && model[1] != 1;
  shape.insert(last ? shape.end() : shape.begin() + 1, 1);
  return shape;
}

class ArraySource : public ImageSource {
 public:
  explicit ArraySource(const NamedFile& place) : place_(place), file_(place.file), shape_(file_.shape()) {}

  const Shape& shape() const override { return shape_; }

  void fit(const Graph& graph) override {
    std::vector<GivenInput> given(1);
    given[0].name = place_.name;
    given[0].file = place_.file;
    in_order(graph, std::move(given));  // throws if the model has no such input
    shape_ = with_channel(file_.shape(), graph.inputs[0].shape);
    require_fitting(graph, graph.inputs[0], shape_);
  }

  /// uint8 stays uint8; other types are converted to float32.
  ElementType type() const override { return file_.type() == ElementType::u8 ? ElementType::u8 : ElementType::f32; }

  Facts facts() const override {
    return {{"input", std::filesystem::absolute(place_.file).string()},
            {"state", state_of_file(place_.file)},
            {"images", fmt::format("{} {}", to_text(file_.shape()), name_of(file_.type()))}};
  }

  void seek(int64_t image) override { file_.seek(image); }
  int64_t read(int64_t count, void* to) override { return file_.read(count, type(), to); }
  void expect_end() override { file_.expect_end(); }

 private:
  NamedFile place_;
  ArrayFile file_;
  Shape shape_;
};

}  // namespace

std::string state_of_file(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) throw bad_input("{}: {}", file, std::strerror(errno));
  return fmt::format("{} bytes, changed {:%Y-%m-%d %H:%M:%S}.{:09}", status.st_size, fmt::gmtime(status.st_mtim.tv_sec),
                     status.st_mtim.tv_nsec);
}

std::unique_ptr<ImageSource> open_array(const NamedFile& file) { return std::make_unique<ArraySource>(file); }

}  // namespace convlab::app
