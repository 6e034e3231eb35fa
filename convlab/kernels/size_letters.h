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

extern const SizeLetters kMatMulLetters, kGemmLetters, kQLinearMatMulLetters, kMatMulIntegerLetters;
extern const SizeLetters kConvLetters, kConvTransposeLetters, kQLinearConvLetters, kConvIntegerLetters,
    kByteConvLetters;
extern const SizeLetters kRowLetters, kNormalizedRowLetters;
extern const SizeLetters kImageLetters, kTwoImagesLetters, kBatchNormLetters, kGroupNormLetters, kSqueezeExciteLetters;

}  // namespace convlab
