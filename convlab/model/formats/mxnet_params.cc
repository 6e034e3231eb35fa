// Reads MXNet .params files.

#include "convlab/model/formats/mxnet_params.h"

#include <cstring>
#include <vector>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV1 = 0xF993FAC8, kV2 = 0xF993FAC9, kV3 = 0xF993FACA;
constexpr uint64_t kMostDimensions = 32;

/// Reads little-endian numbers from a file and tracks the position.
class ParamsReader {
 public:
  ParamsReader(std::span<const uint8_t> bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  template <class T>
  T number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof value, what), sizeof value);
    return value;
  }

  const uint8_t* take(uint64_t count, const char* what) {
    if (count > bytes_.size() - at_) {
      throw bad_input("{}: truncated at byte {}: {} needs {} bytes, got {}", name_, at_, what, count,
                      bytes_.size() - at_);
    }
    const uint8_t* here = bytes_.data() + at_;
    at_ += count;
    return here;
  }

  /// Reads a count of items with at least `least` bytes each, and rejects a count that the file cannot hold.
  uint64_t count(const char* what, uint64_t least) {
    const auto value = number<uint64_t>(what);
    if (value > (bytes_.size() - at_) / least) fail(fmt::format("{} is {}, more than the file can hold", what, value));
    return value;
  }

  size_t left() const { return bytes_.size() - at_; }

  [[noreturn]] void fail(const std::string& reason) const { throw bad_input("{}: at byte {}: {}", name_, at_, reason); }

 private:
  std::span<const uint8_t> bytes_;
  std::string_view name_;
  size_t at_ = 0;
};

ElementType type_of_flag(ParamsReader& reader, int32_t flag) {
  constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::u8,
                                    ElementType::i32, ElementType::i8,  ElementType::i64};
  if (flag < 0 || flag >= static_cast<int32_t>(std::size(kTypes)))
    reader.fail(fmt::format("unknown type flag {}", flag));
  return kTypes[flag];
}

Tensor read_array(ParamsReader& reader) {
  const auto magic = reader.number<uint32_t>("an array");
  const bool versioned = magic == kV1 || magic == kV2 || magic == kV3;
  if (magic == kV2 || magic == kV3) {
    const auto storage = reader.number<int32_t>("a storage type");
    if (storage != 0)
      reader.fail(fmt::format("sparse storage type {} is not supported; only dense arrays are", storage));
  }
  // In unversioned files the first word is the number of dimensions, and sizes have 32 bits.
  const uint32_t rank = versioned ? reader.number<uint32_t>("a number of dimensions") : magic;
  if (rank > kMostDimensions)
    reader.fail(fmt::format("unknown array format, or {} dimensions; at most {} are supported", rank, kMostDimensions));
  Shape shape;
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t size = versioned ? reader.number<int64_t>("a dimension") : reader.number<uint32_t>("a dimension");
    if (size < 0) reader.fail(fmt::format("dimension {} must not be negative, got {}", i, size));
    shape.push_back(size);
  }
  if (rank == 0) reader.fail("array has no dimensions: the checkpoint was saved before its weights were set");
  reader.number<int32_t>("a device type");
  reader.number<int32_t>("a device number");
  const ElementType type = type_of_flag(reader, reader.number<int32_t>("a type flag"));
  int64_t bytes = 0;
  try {
    bytes = checked_mul(element_count(shape), static_cast<int64_t>(size_of(type)));
  } catch (const Error& error) {
    reader.fail(error.what());
  }
  const uint8_t* data = reader.take(static_cast<uint64_t>(bytes), "an array's data");
  Tensor tensor(type, shape);
  std::memcpy(tensor.raw(), data, tensor.bytes());
  return tensor;
}

}  // namespace

std::map<std::string, Tensor> read_mxnet_params(std::span<const uint8_t> bytes, std::string_view name) {
  ParamsReader reader(bytes, name);
  const auto magic = reader.number<uint64_t>("the magic number");
  if (magic != kListMagic)
    throw bad_input("{}: not an MXNet .params file: expected magic number {:#x}, got {:#x}", name, kListMagic, magic);
  reader.number<uint64_t>("a reserved word");
  constexpr uint64_t kLeastArray = 16, kLeastName = 8;
  const uint64_t count = reader.count("the number of arrays", kLeastArray);
  std::vector<Tensor> arrays;
  for (uint64_t i = 0; i < count; ++i) arrays.push_back(read_array(reader));
  const uint64_t names = reader.count("the number of names", kLeastName);
  if (names != count) reader.fail(fmt::format("expected {} names, one for each array, got {}", count, names));
  std::map<std::string, Tensor> by_name;
  for (Tensor& array : arrays) {
    const uint64_t length = reader.count("a name's length", 1);
    const auto* text = reinterpret_cast<const char*>(reader.take(length, "a name"));
    std::string key(text, length);
    if (!by_name.emplace(key, std::move(array)).second) reader.fail(fmt::format("duplicate array name '{}'", key));
  }
  if (reader.left() > 0) reader.fail(fmt::format("{} unexpected bytes after the last name", reader.left()));
  return by_name;
}

}  // namespace convlab
