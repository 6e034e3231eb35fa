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

/// Returns the array, "x", "w" or "y", that a program's name such as "device_input_ptr" suggests; "" if none.
std::string_view role_of(std::string_view array) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kRoles{
      {{"output", "y"}, {"input", "x"}, {"mask", "w"}, {"filter", "w"}, {"weight", "w"}, {"image", "x"}}};
  const auto found =
      std::ranges::find_if(kRoles, [&](const auto& each) { return array.find(each.first) != std::string_view::npos; });
  return found == kRoles.end() ? std::string_view() : found->second;
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

int64_t known_count(std::string_view name) {
  std::lock_guard lock(mutex);
  const auto found = std::ranges::find(known_shapes, name, &ArrayShape::name);
  return found == known_shapes.end() ? 0 : found->count();
}

std::string size_remedy(std::string_view array, size_t bytes) {
  const auto has = static_cast<int64_t>(bytes);
  const std::string_view role = role_of(array);
  std::lock_guard lock(mutex);
  const auto bytes_of = [](const ArrayShape& each) {
    return fmt::format("{} has {} floats, {} bytes", each.name, each.count(), each.count() * kFloatBytes);
  };
  const auto counted = std::ranges::find(known_shapes, has, &ArrayShape::count);
  if (counted != known_shapes.end()) return "possibly sizeof(float) is missing: " + bytes_of(*counted);
  const auto named = std::ranges::find(known_shapes, role, &ArrayShape::name);
  if (named == known_shapes.end() || named->count() * kFloatBytes <= has) return "";
  return "possibly the size is wrong: " + bytes_of(*named);
}

std::string elements_text(size_t bytes, int access_bytes) {
  const int64_t unit = element_bytes(access_bytes);
  const std::string of = unit == kFloatBytes ? "" : fmt::format(" of {} byte{}", unit, unit == 1 ? "" : "s");
  const int64_t count = static_cast<int64_t>(bytes) / unit;
  return fmt::format("{} element{}{}", count, count == 1 ? "" : "s", of);
}

}  // namespace internal
}  // namespace convlab::simt
