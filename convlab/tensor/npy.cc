// Reads and writes NumPy .npy files.

#include "convlab/tensor/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeCode {
  std::string_view code;
  ElementType type;
};
constexpr TypeCode kTypeCodes[] = {
    {"<f4", ElementType::f32}, {"<f2", ElementType::f16}, {"<f8", ElementType::f64}, {"|u1", ElementType::u8},
    {"|i1", ElementType::i8},  {"<i4", ElementType::i32}, {"<i8", ElementType::i64},
};

/// Reads elements of a type that Tensor lacks into a wider type. Throws Error(bad_input) if a value is out of range.
template <class From, class To>
Tensor widened(const uint8_t* bytes, Shape shape, std::string_view name) {
  Tensor tensor(element_type_of<To>(), std::move(shape));
  for (To& value : tensor.values<To>()) {
    From from;
    std::memcpy(&from, bytes, sizeof from);
    bytes += sizeof from;
    if (!std::in_range<To>(from))
      throw bad_input("{}: value {} is out of range for {}", name, from, name_of(tensor.type()));
    value = static_cast<To>(from);
  }
  return tensor;
}
struct WidenedCode {
  std::string_view code;
  size_t bytes;
  ElementType type;  ///< of the tensor
  Tensor (*widen)(const uint8_t* bytes, Shape shape, std::string_view name);
};
constexpr WidenedCode kWidenedCodes[] = {
    {"<i2", 2, ElementType::i32, widened<int16_t, int32_t>},
    {"<u2", 2, ElementType::i32, widened<uint16_t, int32_t>},
    {"<u4", 4, ElementType::i64, widened<uint32_t, int64_t>},
    {"<u8", 8, ElementType::i64, widened<uint64_t, int64_t>},
};

/// Returns the text after `'key':` in the header, a Python dictionary literal with three known keys.
std::string_view after_key(std::string_view header, std::string_view key, std::string_view name) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) throw bad_input("{}: npy header does not have '{}'", name, key);
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

/// Returns the element type code, such as "<f4", or "" if it is malformed.
std::string_view parse_code(std::string_view header, std::string_view name) {
  const std::string_view text = after_key(header, "descr", name);
  constexpr size_t kLength = 3;  // without the quotes
  return text.size() >= kLength + 2 && text[0] == '\'' && text[kLength + 1] == '\'' ? text.substr(1, kLength) : "";
}

/// Returns the element type for a code. bool is read as uint8 values 0 and 1.
std::optional<ElementType> find_type(std::string_view code) {
  if (code == "|b1") return ElementType::u8;
  const auto found = std::ranges::find(kTypeCodes, code, &TypeCode::code);
  return found == std::end(kTypeCodes) ? std::nullopt : std::optional(found->type);
}

Shape parse_shape(std::string_view header, std::string_view name) {
  const std::string_view text = after_key(header, "shape", name);
  const size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) throw bad_input("{}: malformed npy shape", name);
  Shape shape;
  for (std::string part : split(text.substr(1, close - 1), ',')) {
    std::erase(part, ' ');
    if (!part.empty()) shape.push_back(parse_int(part, fmt::format("{}: npy shape", name), 0, INT64_MAX));
  }
  return shape;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const uint8_t> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < 10 || !text.starts_with(kMagic)) throw bad_input("{}: not an .npy file (no NUMPY magic)", name);
  const int version = bytes[6];
  if (version < 1 || version > 3) throw bad_input("{}: npy version {} is not supported", name, version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  size_t length = 0;
  if (bytes.size() < 8 + length_bytes) throw bad_input("{}: truncated npy header", name);
  for (size_t i = 0; i < length_bytes; ++i) length |= static_cast<size_t>(bytes[8 + i]) << (8 * i);
  const size_t begin = 8 + length_bytes + length;
  if (begin > bytes.size())
    throw bad_input("{}: truncated: the npy header ends at byte {} of {}", name, begin, bytes.size());

  const std::string_view header = text.substr(8 + length_bytes, length);
  const std::string_view code = parse_code(header, name);
  const std::optional<ElementType> type = find_type(code);
  const auto* const wide = std::ranges::find(kWidenedCodes, code, &WidenedCode::code);
  if (!type && wide == std::end(kWidenedCodes)) {
    const std::string_view text = after_key(header, "descr", name);
    throw bad_input("{}: npy element type {} is not supported; use bool or little-endian floats and integers", name,
                    printable(text.substr(0, text.find(','))));
  }
  if (after_key(header, "fortran_order", name).starts_with("True")) {
    throw bad_input("{}: Fortran order is not supported; save the array with numpy.ascontiguousarray", name);
  }
  return {.code = std::string(code),
          .shape = parse_shape(header, name),
          .type = type ? *type : wide->type,
          .element_bytes = type ? size_of(*type) : wide->bytes,
          .bytes = begin};
}

Tensor npy_elements(const NpyHeader& header, std::span<const uint8_t> bytes, Shape shape, std::string_view name) {
  const int64_t wanted = checked_mul(element_count(shape), static_cast<int64_t>(header.element_bytes));
  const auto present = static_cast<int64_t>(bytes.size());
  const auto* const wide = std::ranges::find(kWidenedCodes, header.code, &WidenedCode::code);
  if (wanted != present) {
    throw bad_input("{}: shape {} of {} needs {} bytes, the file has {}", name, to_text(shape),
                    wide == std::end(kWidenedCodes) ? name_of(header.type) : header.code, wanted, present);
  }
  if (wide != std::end(kWidenedCodes)) return wide->widen(bytes.data(), std::move(shape), name);
  Tensor tensor(header.type, std::move(shape));
  std::memcpy(tensor.raw(), bytes.data(), tensor.bytes());
  return tensor;
}

Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  return npy_elements(header, bytes.subspan(header.bytes), header.shape, name);
}

std::vector<uint8_t> npy_header(ElementType type, const Shape& shape) {
  std::string_view code;
  for (const TypeCode& candidate : kTypeCodes) {
    if (candidate.type == type) code = candidate.code;
  }
  const std::string comma = shape.size() == 1 ? "," : "";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", code, fmt::join(shape, ", "), comma);
  constexpr size_t kPreamble = 10, kAlignment = 64;
  header.append(kAlignment - (kPreamble + header.size() + 1) % kAlignment, ' ').push_back('\n');

  std::vector<uint8_t> bytes(kMagic.begin(), kMagic.end());
  for (const size_t byte : {size_t{1}, size_t{0}, header.size(), header.size() >> 8}) {
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  bytes.insert(bytes.end(), header.begin(), header.end());
  return bytes;
}

std::vector<uint8_t> to_npy(const Tensor& tensor) {
  std::vector<uint8_t> bytes = npy_header(tensor.type(), tensor.shape());
  const auto* data = static_cast<const uint8_t*>(tensor.raw());
  bytes.insert(bytes.end(), data, data + tensor.bytes());
  return bytes;
}

}  // namespace convlab
