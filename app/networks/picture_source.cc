// Reads images from a folder or a tar archive.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/networks/image_source.h"
#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/text.h"
#include "convlab/dataset/tar_file.h"
#include "convlab/device/thread_pool.h"
#include "convlab/image/decode.h"

namespace convlab::app {

namespace fs = std::filesystem;

namespace {

/// Whether a name has the extension of an image and is not that of a hidden file.
bool is_picture_name(const std::string& name) {
  const fs::path path(name);
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return (ending == ".jpg" || ending == ".jpeg" || ending == ".png") && !path.filename().string().starts_with('.');
}

/// An image that is not decoded yet.
struct PictureFile {
  std::string name;
  std::optional<std::vector<uint8_t>> bytes;  ///< nullopt: they are in the file `name`
};

/// A folder or archive of images, in a fixed order.
class PicturePlace {
 public:
  virtual ~PicturePlace() = default;
  virtual int64_t count() const = 0;
  virtual Facts facts() const = 0;

  /// Makes read() continue with this image.
  virtual void seek(int64_t picture) = 0;

  /// Returns the next image. Throws Error(bad_input) if it cannot be read.
  virtual PictureFile read() = 0;
};

class PictureFolder : public PicturePlace {
 public:
  explicit PictureFolder(const std::string& folder) : folder_(folder) {
    int64_t others = 0;
    try {
      for (const fs::directory_entry& each : fs::recursive_directory_iterator(folder)) {
        if (each.is_directory()) continue;
        const std::string name = each.path().lexically_relative(folder).generic_string();
        is_picture_name(name) ? names_.push_back(name) : static_cast<void>(++others);
      }
    } catch (const fs::filesystem_error& error) {
      throw bad_input("cannot list {}: {}", folder, error.code().message());
    }
    std::ranges::sort(names_);
    if (others > 0) note("{}: skipped {} files that are not .jpg, .jpeg or .png", folder, others);
  }

  int64_t count() const override { return std::ssize(names_); }

  /// The facts do not include the contents, so that a broken image may be replaced before the run is resumed.
  Facts facts() const override {
    Fingerprint names;
    for (const std::string& name : names_) names.add(name);
    return {{"input", fs::absolute(folder_).string()},
            {"images", fmt::format("{} pictures, whose names have the sum {}", count(), names.hex())}};
  }

  void seek(int64_t picture) override { next_ = picture; }

  PictureFile read() override {
    const std::string path = (fs::path(folder_) / names_[static_cast<size_t>(next_)]).string();
    ++next_;
    return {.name = path};
  }

 private:
  std::string folder_;
  std::vector<std::string> names_;
  int64_t next_ = 0;
};

class PictureArchive : public PicturePlace {
 public:
  explicit PictureArchive(const std::string& path) : path_(path) {
    int64_t others = 0;
    TarFile all(path);
    while (const std::optional<TarFile::Entry> entry = all.next()) {
      is_picture_name(entry->name) ? ++count_ : ++others;
    }
    if (others > 0) note("{}: skipped {} files that are not .jpg, .jpeg or .png", path, others);
  }

  int64_t count() const override { return count_; }

  Facts facts() const override {
    return {{"input", fs::absolute(path_).string()},
            {"state", state_of_file(path_)},
            {"images", fmt::format("{} pictures", count_)}};
  }

  void seek(int64_t picture) override {
    archive_ = std::make_unique<TarFile>(path_);
    for (int64_t i = 0; i < picture; ++i) next_picture();
  }

  PictureFile read() override {
    const TarFile::Entry entry = next_picture();
    const std::string name = fmt::format("{}: {}", path_, printable(entry.name));
    if (entry.link)
      throw bad_input("{}: links are not supported; create the archive with tar --hard-dereference", name);
    return {.name = name, .bytes = archive_->content()};
  }

 private:
  TarFile::Entry next_picture() {
    while (std::optional<TarFile::Entry> entry = archive_->next()) {
      if (is_picture_name(entry->name)) return *entry;
    }
    throw bad_input("{}: archive has fewer images than when it was opened", path_);
  }

  std::string path_;
  int64_t count_ = 0;
  std::unique_ptr<TarFile> archive_ = std::make_unique<TarFile>(path_);
};

std::string describe(const Preparation& how) {
  const auto extent = [](const std::optional<Extent>& size) {
    return !size              ? "-"
           : size->width == 0 ? std::to_string(size->height)
                              : fmt::format("{}x{}", size->height, size->width);
  };
  const char* const channels = how.channels == Channels::rgb ? "rgb" : how.channels == Channels::bgr ? "bgr" : "gray";
  return fmt::format("{} resize {} {} crop {} {} mean {} deviation {} {}", channels, extent(how.resize),
                     how.filter == Filter::bilinear ? "bilinear" : "bicubic", extent(how.crop),
                     how.to_one ? "0..1" : "0..255", fmt::join(how.mean, ","), fmt::join(how.deviation, ","),
                     how.order == PixelOrder::nchw ? "nchw" : "nhwc");
}

class PictureSource : public ImageSource {
 public:
  PictureSource(std::unique_ptr<PicturePlace> place, std::string input, const ImageOptions& options, int64_t threads)
      : place_(std::move(place)), preparation_(options.preparation()), pool_(static_cast<int>(threads)) {
    place_->seek(0);
    const PictureFile first = place_->read();
    first_ = {.name = std::move(input), .files = {first.name}, .pixels = as_one(prepare(first))};
    set_shape(input_shape(first_.pixels.shape(), preparation_.order));
  }

  const Shape& shape() const override { return shape_; }

  void fit(const Graph& graph) override {
    const GivenInput given = to_input(first_, preparation_, graph);
    type_ = given.tensor.type();
    image_bytes_ = given.tensor.bytes();
    set_shape(given.tensor.shape());
  }

  ElementType type() const override { return type_; }

  Facts facts() const override {
    Facts facts = place_->facts();
    facts.emplace_back("prepared", describe(preparation_));
    return facts;
  }

  void seek(int64_t image) override { place_->seek(image); }

  int64_t read(int64_t count, void* to) override {
    auto* const into = static_cast<uint8_t*>(to);
    int64_t done = 0;
    while (done < count && failure_ == nullptr) done += read_some(count - done, into + done * image_bytes_);
    if (done == 0 && failure_ != nullptr) std::rethrow_exception(failure_);
    return done;
  }

 private:
  /// Reads and decodes up to `count` images, fewer if their files have more than 16 MiB, so that large files in an
  /// archive do not fill the memory. Returns how many.
  int64_t read_some(int64_t count, uint8_t* to) {
    constexpr size_t kMostBytes = size_t{16} << 20;
    std::vector<PictureFile> files;
    size_t bytes = 0;
    while (std::ssize(files) < count && bytes < kMostBytes && failure_ == nullptr) {
      try {
        files.push_back(place_->read());
        bytes += files.back().bytes ? files.back().bytes->size() : 0;
      } catch (const Error&) {
        failure_ = std::current_exception();
      }
    }
    std::vector<std::exception_ptr> failures(files.size());
    pool_.parallel_for(std::ssize(files), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        try {
          decode(files[static_cast<size_t>(i)], to + i * static_cast<int64_t>(image_bytes_));
        } catch (const Error&) {
          failures[static_cast<size_t>(i)] = std::current_exception();
        }
      }
    });
    const auto broken = std::ranges::find_if(failures, [](const std::exception_ptr& each) { return each != nullptr; });
    if (broken != failures.end()) failure_ = *broken;
    return broken - failures.begin();
  }

  /// Returns an image as a batch of one.
  static Tensor as_one(Tensor picture) {
    Shape shape = picture.shape();
    shape.insert(shape.begin(), 1);
    return std::move(picture).reshaped(std::move(shape));
  }

  void set_shape(Shape one) {
    shape_ = std::move(one);
    shape_[0] = place_->count();
  }

  Tensor prepare(const PictureFile& file) const {
    const std::vector<uint8_t> bytes = file.bytes ? std::vector<uint8_t>() : read_file(file.name);
    return prepared(decode_picture(file.bytes ? *file.bytes : bytes, file.name), preparation_, file.name);
  }

  void decode(const PictureFile& file, uint8_t* to) const {
    const Tensor picture = as_one(prepare(file));
    if (picture.shape() != first_.pixels.shape()) {
      throw bad_input("{} is {}, but {} is {}; use --resize HxW or --crop N", file.name,
                      to_text(input_shape(picture.shape(), preparation_.order)), first_.files[0],
                      to_text(input_shape(first_.pixels.shape(), preparation_.order)));
    }
    const Tensor input = as_input(picture, preparation_, type_ == ElementType::u8);
    std::memcpy(to, input.raw(), input.bytes());
  }

  std::unique_ptr<PicturePlace> place_;
  Preparation preparation_;
  ThreadPool pool_;
  Pictures first_;
  Shape shape_;
  ElementType type_ = ElementType::f32;
  size_t image_bytes_ = 0;
  std::exception_ptr failure_;  ///< why no more images can be read
};

}  // namespace

std::unique_ptr<ImageSource> open_pictures(const NamedFile& place, const ImageOptions& options, int64_t threads) {
  std::unique_ptr<PicturePlace> pictures;
  if (fs::is_directory(place.file)) {
    pictures = std::make_unique<PictureFolder>(place.file);
  } else {
    pictures = std::make_unique<PictureArchive>(place.file);
  }
  if (pictures->count() == 0)
    throw bad_input("{}: no images found; no file name ends in .jpg, .jpeg or .png", place.file);
  return std::make_unique<PictureSource>(std::move(pictures), place.name, options, threads);
}

}  // namespace convlab::app
