// Places arrays in larger ones, as a plan does with the parts of a concatenation.

#include "convlab/verify/pitched.h"

#include <algorithm>
#include <cstring>

#include "convlab/base/error.h"
#include "convlab/verify/download.h"

namespace convlab {
namespace {

constexpr int64_t kMoreChannels = 8;
constexpr uint8_t kMarker = 0xff;  // NaN in each type of floating-point numbers, and not a value that a kernel writes

bool may_have_pitch(const Operand& operand) {
  const bool images = operand.shape.size() == 4 && !operand.constant;
  return images && (operand.format == kNchw8c || operand.format.order == Order::nhwc);
}

/// The rows of an operand with a pitch, in bytes.
struct Rows {
  size_t count, bytes, pitch;

  explicit Rows(const Operand& operand) {
    const int64_t elements = element_count(operand.shape), element_bytes = size_of(operand.format.type);
    const int64_t rows = operand.format.order == Order::nhwc ? elements / operand.shape[1] : operand.shape[0];
    count = static_cast<size_t>(rows);
    bytes = static_cast<size_t>(elements / rows * element_bytes);
    pitch = static_cast<size_t>(operand.pitch * element_bytes);
  }
};

}  // namespace

Step with_pitches(Step step) {
  for (std::vector<Operand>* const operands : {&step.inputs, &step.outputs}) {
    for (Operand& each : *operands) {
      if (!may_have_pitch(each)) continue;
      const Shape& shape = each.shape;
      const int64_t pixels = each.format.order == Order::nhwc ? 1 : shape[2] * shape[3];
      each.pitch = (shape[1] + kMoreChannels) * pixels;
    }
  }
  return step;
}

size_t bytes_of(const Operand& operand) {
  if (operand.pitch == 0) return static_cast<size_t>(byte_count(operand.shape, operand.format));
  const Rows rows(operand);
  return rows.count * rows.pitch;
}

Tensor with_gaps(Tensor packed, const Operand& operand) {
  if (operand.pitch == 0) return packed;
  const Rows rows(operand);
  Tensor larger(packed.type(), {static_cast<int64_t>(rows.count), operand.pitch});
  auto* to = static_cast<uint8_t*>(larger.raw());
  const auto* from = static_cast<const uint8_t*>(packed.raw());
  std::memset(to, kMarker, larger.bytes());
  for (size_t row = 0; row < rows.count; ++row) std::memcpy(to + row * rows.pitch, from + row * rows.bytes, rows.bytes);
  return larger;
}

std::vector<float> download_operand(Stream& stream, const void* array, const Operand& operand) {
  if (operand.pitch == 0) return download_plain(stream, array, operand.shape, operand.format);
  const Rows rows(operand);
  std::vector<uint8_t> larger(rows.count * rows.pitch), packed(rows.count * rows.bytes);
  stream.download(larger.data(), array, larger.size());
  stream.synchronize();
  for (size_t row = 0; row < rows.count; ++row) {
    const uint8_t* const begin = larger.data() + row * rows.pitch;
    std::memcpy(packed.data() + row * rows.bytes, begin, rows.bytes);
    const uint8_t* const written =
        std::find_if(begin + rows.bytes, begin + rows.pitch, [](uint8_t byte) { return byte != kMarker; });
    if (written == begin + rows.pitch) continue;
    throw wrong_result("writes element {} of row {} of y, whose rows have {} elements and are {} apart",
                       (written - begin) / size_of(operand.format.type), row, rows.bytes / size_of(operand.format.type),
                       operand.pitch);
  }
  return unpack(packed.data(), operand.shape, operand.format);
}

}  // namespace convlab
