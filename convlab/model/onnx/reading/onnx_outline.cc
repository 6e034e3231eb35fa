// Parses an ONNX file without its raw data.

#include "convlab/model/onnx/reading/onnx_outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "convlab/base/error.h"

namespace convlab {
namespace {

/// protobuf's encoding of a field's value: the three lowest bits of its tag.
enum WireType : uint8_t { kVarint = 0, kEightBytes = 1, kDelimited = 2, kFourBytes = 5 };

/// Visits the messages around the raw data. protobuf parses everything else; it would copy the raw data, too. Functions
/// return false if the bytes are corrupt.
class OutlineReader {
 public:
  explicit OutlineReader(const OnnxBytes& bytes) : bytes_(bytes) {}

  bool read(OnnxOutline& outline) {
    onnx::ModelProto& model = outline.model;
    std::string model_rest, graph_rest;
    const auto take_tensor = [&](OnnxPlace tensor) {
      std::optional<OnnxPlace>& raw_data = outline.raw_data.emplace_back();
      std::string rest;
      const auto take_raw = [&](OnnxPlace place) {
        raw_data = place;
        return true;
      };
      return go_through(tensor, onnx::TensorProto::kRawDataFieldNumber, rest, take_raw) &&
             model.mutable_graph()->add_initializer()->ParseFromString(rest);
    };
    const auto take_graph = [&](OnnxPlace graph) {
      model.mutable_graph();  // it exists even if it is empty
      return go_through(graph, onnx::GraphProto::kInitializerFieldNumber, graph_rest, take_tensor);
    };
    return go_through({0, bytes_.size}, onnx::ModelProto::kGraphFieldNumber, model_rest, take_graph) &&
           model.MergeFromString(model_rest) &&
           (!model.has_graph() || model.mutable_graph()->MergeFromString(graph_rest));
  }

  /// Returns the offset up to which the model has been read.
  int64_t position() const { return at_; }

  /// If read() failed because one of the model's own fields ends after the last byte: the bytes that the file needs at
  /// least. Otherwise 0.
  int64_t missing_end() const { return missing_end_; }

 private:
  /// Passes the contents of a message's length-delimited fields with this number to `take`, and appends all other
  /// fields to `rest` unchanged.
  template <class Take>
  bool go_through(OnnxPlace message, uint64_t wanted, std::string& rest, Take take) {
    const int64_t end = message.offset + message.bytes;
    int64_t rest_from = message.offset;
    at_ = message.offset;
    while (at_ < end) {
      const int64_t begin = at_;
      field_end_ = 0;
      const std::optional<uint64_t> tag = varint(end);
      const std::optional<OnnxPlace> content = tag ? content_of(static_cast<WireType>(*tag % 8), end) : std::nullopt;
      if (!content) {
        if (message.offset == 0 && field_end_ > end) missing_end_ = field_end_;
        return false;
      }
      const int64_t next = at_ = content->offset + content->bytes;
      if (*tag / 8 != wanted || *tag % 8 != kDelimited) continue;
      append(rest, rest_from, begin);
      rest_from = next;
      if (!take(*content)) return false;
      at_ = next;
    }
    append(rest, rest_from, end);
    return true;
  }

  /// Returns the range of a field's content; the field has this type, and its tag ends at at_. Returns nullopt if the
  /// content does not end before `end`.
  std::optional<OnnxPlace> content_of(WireType type, int64_t end) {
    uint64_t bytes = 0;
    if (type == kVarint) {
      if (!varint(end)) return std::nullopt;
    } else if (type == kDelimited) {
      const std::optional<uint64_t> length = varint(end);
      if (!length) return std::nullopt;
      bytes = *length;
    } else if (type == kEightBytes || type == kFourBytes) {
      bytes = type == kEightBytes ? 8 : 4;
    } else {
      return std::nullopt;  // groups, which ONNX does not have
    }
    if (bytes > INT32_MAX) return std::nullopt;
    field_end_ = at_ + static_cast<int64_t>(bytes);
    if (field_end_ > end) return std::nullopt;
    return OnnxPlace{at_, static_cast<int64_t>(bytes)};
  }

  /// Reads the varint at at_: seven bits per byte, the lowest first. If it does not end before `end`, field_end_ is
  /// after `end`.
  std::optional<uint64_t> varint(int64_t end) {
    uint64_t number = 0;
    for (int shift = 0; shift < 64 && at_ < end; shift += 7) {
      const uint8_t byte = next_byte();
      number |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return number;
    }
    if (at_ == end) field_end_ = end + 1;
    return std::nullopt;
  }

  uint8_t next_byte() {
    if (at_ < window_at_ || at_ >= window_at_ + window_bytes_) {
      window_at_ = at_;
      window_bytes_ = std::min(static_cast<int64_t>(window_.size()), bytes_.size - at_);
      bytes_.read(at_, std::span(window_).first(static_cast<size_t>(window_bytes_)));
    }
    return window_[static_cast<size_t>(at_++ - window_at_)];
  }

  void append(std::string& to, int64_t begin, int64_t end) const {
    const size_t before = to.size(), bytes = static_cast<size_t>(end - begin);
    to.resize(before + bytes);
    bytes_.read(begin, {reinterpret_cast<uint8_t*>(to.data() + before), bytes});
  }

  const OnnxBytes& bytes_;
  int64_t at_ = 0;
  int64_t field_end_ = 0;               ///< where the field at at_ ends, at least; 0 if unknown
  int64_t missing_end_ = 0;             ///< see missing_end()
  std::array<uint8_t, 4096> window_{};  ///< the bytes read last for tags and lengths
  int64_t window_at_ = 0, window_bytes_ = 0;
};

/// Returns the reason why the file is not an ONNX model. Every writer of ONNX begins a model with its ir_version.
std::string why_unreadable(const OnnxBytes& bytes, const OutlineReader& reader) {
  constexpr uint8_t kIrVersionTag = onnx::ModelProto::kIrVersionFieldNumber << 3 | kVarint;
  if (bytes.size == 0) return "the file is empty";
  uint8_t first = 0;
  bytes.read(0, {&first, 1});
  if (first != kIrVersionTag) return fmt::format("not an ONNX model: {} bytes of another format", bytes.size);
  if (reader.missing_end() > 0) {
    return fmt::format("the file is truncated: expected at least {} bytes, got {}", reader.missing_end(), bytes.size);
  }
  return fmt::format("not an ONNX model: the file ({} bytes) is corrupt after byte {}", bytes.size, reader.position());
}

}  // namespace

OnnxOutline read_outline(const OnnxBytes& bytes) {
  constexpr int64_t kMostBytes = INT32_MAX;  // protobuf's own limit
  if (bytes.size > kMostBytes)
    throw bad_input("the file has {} bytes; ONNX files must be smaller than 2 GiB", bytes.size);
  OnnxOutline outline;
  OutlineReader reader(bytes);
  if (bytes.size == 0 || !reader.read(outline)) throw bad_input("{}", why_unreadable(bytes, reader));
  if (!outline.model.has_graph()) throw bad_input("not an ONNX model: the file contains no graph");
  return outline;
}

}  // namespace convlab
