// Translates a byte offset of an access into an element of the program's array.

#include "convlab/simt/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace convlab::simt {
namespace {

constexpr int64_t kFloatBytes = 4;

std::mutex mutex;
std::vector<ArrayShape> known_shapes;

/// Returns the shape of the array: the one with its name, otherwise the only one with its size.
std::optional<ArrayShape> shape_of(const std::string& array, size_t bytes) {
  std::lock_guard lock(mutex);
  const auto fits = [&](const ArrayShape& each) { return each.count() * kFloatBytes == static_cast<int64_t>(bytes); };
  const auto named = std::ranges::find(known_shapes, array, &ArrayShape::name);
  if (named != known_shapes.end()) return fits(*named) ? std::optional(*named) : std::nullopt;
  if (std::ranges::count_if(known_shapes, fits) != 1) return std::nullopt;
  return *std::ranges::find_if(known_shapes, fits);
}

/// Returns "image 0, channel 0, row 3, column 4".
std::string coordinates(const ArrayShape& shape, int64_t index) {
  std::string text;
  for (size_t i = shape.extents.size(); i-- > 0; index /= shape.extents[i]) {
    text = fmt::format("{} {}{}{}", shape.axes[i], index % shape.extents[i], text.empty() ? "" : ", ", text);
  }
  return text;
}

int64_t element_bytes(int access_bytes) { return access_bytes > 8 || access_bytes <= 0 ? kFloatBytes : access_bytes; }

}  // namespace

void set_array_shapes(std::vector<ArrayShape> shapes) {
  std::lock_guard lock(mutex);
  known_shapes = std::move(shapes);
}

namespace internal {

int64_t element_index(int64_t offset, int access_bytes) {
  const int64_t unit = element_bytes(access_bytes);
  return (offset - (offset < 0 ? unit - 1 : 0)) / unit;
}

std::string element_text(const std::string& array, int64_t offset, int access_bytes) {
  const int64_t index = element_index(offset, access_bytes);
  const bool is_name = array.find(' ') == std::string::npos;
  return is_name ? fmt::format("{}[{}]", array, index) : fmt::format("element {} of {}", index, array);
}

std::string meaning_text(const std::string& array, size_t bytes, int64_t offset, int access_bytes) {
  if (element_bytes(access_bytes) != kFloatBytes || offset < 0 || offset >= static_cast<int64_t>(bytes)) return "";
  const std::optional<ArrayShape> shape = shape_of(array, bytes);
  if (!shape) return "";
  const std::string text = coordinates(*shape, element_index(offset, access_bytes));
  return shape->name == array ? text : fmt::format("{} of {}", text, shape->name);
}

std::string size_remedy(size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  std::lock_guard lock(mutex);
  const auto found = std::ranges::find(known_shapes, count, &ArrayShape::count);
  if (found == known_shapes.end()) return "";
  return fmt::format("possibly sizeof(float) is missing: {} has {} floats, {} bytes", found->name, count,
                     count * kFloatBytes);
}

std::string elements_text(size_t bytes, int access_bytes) {
  const int64_t unit = element_bytes(access_bytes);
  const std::string of = unit == kFloatBytes ? "" : fmt::format(" of {} byte{}", unit, unit == 1 ? "" : "s");
  const int64_t count = static_cast<int64_t>(bytes) / unit;
  return fmt::format("{} element{}{}", count, count == 1 ? "" : "s", of);
}

}  // namespace internal
}  // namespace convlab::simt
