#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// Where code runs, by its execution space specifiers. `unknown`: on both sides, or a word among the specifiers may be
/// a macro of another file.
enum class Side : uint8_t { host, device, unknown };

/// The body of a function or a lambda: tokens[first] to tokens[last] are its braces.
struct Body {
  size_t first, last;
  Side side;
  bool is_kernel = false;     ///< __global__
  std::string_view function;  ///< its name; of a lambda, the name of the function around it
};

/// A function or a variable that the file declares outside of functions and classes. Kernels are not among them.
struct Entity {
  enum class Kind : uint8_t { function, variable, constant };
  Kind kind;  ///< constant: nvcc lets both sides read it
  Side side;
  size_t declaration;  ///< the first token of its declaration, after `template <...>`
  std::string_view name;
};

/// What a CUDA file defines, and for which side, as far as its tokens say. There is no preprocessor: of `#if` and
/// `#else` the first branch counts.
struct Outline {
  std::vector<Token> tokens;  ///< of the branches that count, without directives
  std::vector<Body> bodies;
  std::vector<Entity> entities;

  /// The innermost body around a token; nullptr outside of all.
  const Body* body_around(size_t token) const;
};

/// An empty outline where brackets do not match, or where a kernel seems to be defined inside of a function: then a
/// macro hides what we would have to see.
Outline outline_of(std::string_view source);

/// The token after `<...>` that begins at `open`; `open` if nothing closes it.
size_t after_angles(const std::vector<Token>& tokens, size_t open);

}  // namespace convlab
