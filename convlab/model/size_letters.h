#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/text_reader.h"
#include "convlab/model/op.h"

namespace convlab {

/// The sizes of a problem by their letters, such as m, n and k of a matrix product; 1 if the text has none.
class LetterSizes {
 public:
  LetterSizes() { of_letter_.fill(1); }
  int64_t& operator[](char letter) { return of_letter_[static_cast<size_t>(letter - 'a')]; }
  int64_t operator[](char letter) const { return of_letter_[static_cast<size_t>(letter - 'a')]; }
  bool operator==(const LetterSizes&) const = default;

  bool bias = false;         ///< "_bias": the optional last operand, a vector
  bool per_channel = false;  ///< "_perchannel": a scale and a zero point for each output channel or column

 private:
  std::array<int64_t, 26> of_letter_{};
};

/// The short form of operands: a size for each letter instead of the shapes.
struct SizeLetters {
  std::string_view pattern;                ///< letters in order; those in [] may be omitted: "[n]_chw_krs"
  std::string_view example;                ///< "n2_c12h33w33_k24r5s5"
  bool bias = false, per_channel = false;  ///< whether the text may have these flags
  std::vector<Shape> (*shapes)(const Op&, const LetterSizes&);
  /// Returns the sizes that have these shapes, if any have.
  LetterSizes (*sizes)(const Op&, std::span<const Shape>);
};

/// Reads the sizes of the letters. Each is between 1 and 2^31.
LetterSizes read_sizes(TextReader& reader, const SizeLetters& letters);

/// Returns "n2_c12h33w33_k24r5s5".
std::string to_text(const LetterSizes& sizes, const SizeLetters& letters);

/// One operand of images: "n2_c8h32w32". Returned by several operators' OpInfo::names().
extern const SizeLetters kImageLetters;
inline constexpr std::string_view kImagePattern = "[n]_chw", kImageExample = "n2_c8h32w32";

// Parts of the functions above that several operators share.

/// Returns a dimension's size, 1 if there is none.
int64_t size_at(std::span<const Shape> shapes, size_t operand, size_t dimension);

/// Returns the sizes with letters set to the dimensions of an operand: "nchw".
LetterSizes sizes_of(std::span<const Shape> shapes, size_t operand, std::string_view letters);

Shape images_of(const LetterSizes& sizes);
LetterSizes image_sizes(const Op&, std::span<const Shape> shapes);

Shape scalar_or(bool vector, int64_t count);

// Matrix products.
inline constexpr std::string_view kProductPattern = "[b]mnk", kProductExample = "m512n512k512";
Shape left_matrix(const LetterSizes& sizes);
Shape right_matrix(const LetterSizes& sizes);
LetterSizes product_sizes(std::span<const Shape> shapes, size_t left, size_t right);

// Convolutions. The number of groups may still be invalid.
inline constexpr std::string_view kConvPattern = "[n]_chw_krs", kConvExample = "n2_c12h33w33_k24r5s5";
int64_t per_group(int64_t channels, int64_t groups);
Shape filters_of(const ConvOp& op, const LetterSizes& sizes);
LetterSizes conv_sizes_of(std::span<const Shape> shapes, size_t filter_operand);
std::vector<Shape> with_bias(std::vector<Shape> shapes, const LetterSizes& sizes);

}  // namespace convlab
