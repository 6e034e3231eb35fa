#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace convlab::simt::ptx {

/// A token of PTX: a word with its dots (add.rn.f32, %tid.x, .reg), a number, an operand of the asm statement (%0,
/// %[x]), or a sign. Comments are skipped.
struct PtxToken {
  enum class Kind : uint8_t { word, number, operand, sign };
  Kind kind = Kind::sign;
  std::string_view text;  ///< without % of an operand and a register

  bool is(char c) const { return kind == Kind::sign && text.size() == 1 && text[0] == c; }
};

/// An unknown character is a sign.
std::vector<PtxToken> ptx_tokens(std::string_view text);

}  // namespace convlab::simt::ptx
