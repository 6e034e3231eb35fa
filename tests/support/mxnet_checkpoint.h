#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// The array formats of MXNet's versions.
enum class MxnetFormat { legacy, v1, v2, v3 };

/// Writes a .params file, array by array.
class MxnetParams {
 public:
  explicit MxnetParams(MxnetFormat format) : format_(format) {}

  template <class T>
  MxnetParams& add(const std::string& name, const Shape& shape, const std::vector<T>& values) {
    constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::u8,
                                      ElementType::i32, ElementType::i8,  ElementType::i64};
    if (format_ == MxnetFormat::v1) number<uint32_t>(0xF993FAC8);
    if (format_ == MxnetFormat::v2) number<uint32_t>(0xF993FAC9);
    if (format_ == MxnetFormat::v3) number<uint32_t>(0xF993FACA);
    if (format_ == MxnetFormat::v2 || format_ == MxnetFormat::v3) number<int32_t>(0);  // dense
    number<uint32_t>(static_cast<uint32_t>(shape.size()));
    for (int64_t size : shape) {
      if (format_ == MxnetFormat::legacy) {
        number<uint32_t>(static_cast<uint32_t>(size));
      } else {
        number<int64_t>(size);
      }
    }
    number<int32_t>(1);  // CPU
    number<int32_t>(0);
    for (int32_t flag = 0; flag < 7; ++flag) {
      if (kTypes[flag] == element_type_of<T>()) number<int32_t>(flag);
    }
    for (T value : values) number<T>(value);
    names_.push_back(name);
    return *this;
  }

  /// Adds a float32 array with all elements equal to `value`.
  MxnetParams& fill(const std::string& name, const Shape& shape, float value) {
    return add<float>(name, shape, std::vector<float>(static_cast<size_t>(element_count(shape)), value));
  }

  std::vector<uint8_t> bytes() const {
    MxnetParams file(format_);
    file.number<uint64_t>(0x112);
    file.number<uint64_t>(0);
    file.number<uint64_t>(names_.size());
    file.arrays_ += arrays_;
    file.number<uint64_t>(names_.size());
    for (const std::string& name : names_) {
      file.number<uint64_t>(name.size());
      file.arrays_ += name;
    }
    return {file.arrays_.begin(), file.arrays_.end()};
  }

 private:
  template <class T>
  void number(T value) {
    arrays_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  MxnetFormat format_;
  std::string arrays_;
  std::vector<std::string> names_;
};

/// Writes a symbol's JSON, node by node; add() returns the node's number. Attributes are passed as "a=1; b=(2, 2)".
class MxnetSymbolText {
 public:
  explicit MxnetSymbolText(std::string attributes_key = "attrs", bool with_version = true)
      : key_(std::move(attributes_key)), with_version_(with_version) {}

  int add(const std::string& op, const std::string& name, const std::vector<int>& inputs = {},
          const std::string& attributes = "") {
    if (count_ > 0) nodes_ += ",\n";
    nodes_ += "{\"op\": \"" + op + "\", \"name\": \"" + name + "\", \"inputs\": [";
    for (size_t i = 0; i < inputs.size(); ++i) {
      nodes_ += (i > 0 ? ", [" : "[") + std::to_string(inputs[i]) + (with_version_ ? ", 0, 0]" : ", 0]");
    }
    nodes_ += "]";
    if (!attributes.empty()) nodes_ += ", \"" + key_ + "\": {\"";
    for (size_t i = 0; i < attributes.size(); ++i) {
      if (attributes[i] == '=') {
        nodes_ += "\": \"";
      } else if (attributes[i] == ';') {
        nodes_ += "\", \"";
        ++i;  // skip the space after it
      } else {
        nodes_ += attributes[i];
      }
    }
    nodes_ += attributes.empty() ? "}" : "\"}}";
    return count_++;
  }
  int variable(const std::string& name) { return add("null", name); }

  /// The last node is the head.
  std::string text() const {
    return "{\"nodes\": [" + nodes_ + "],\n\"heads\": [[" + std::to_string(count_ - 1) + ", 0, 0]]}";
  }

 private:
  std::string key_, nodes_;
  bool with_version_;
  int count_ = 0;
};

}  // namespace convlab
