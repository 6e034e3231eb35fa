#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// Where code runs, from its execution space specifiers. `unknown`: it runs on both sides, or one of the specifiers may
/// be a macro of another file.
enum class Side : uint8_t { host, device, unknown };

/// The body of a function or a lambda: tokens[first] and tokens[last] are its braces.
struct Body {
  size_t first, last;
  Side side;
  bool is_kernel = false;     ///< __global__
  std::string_view function;  ///< its name; for a lambda, the name of the enclosing function
};

/// A function or a variable that the file declares outside of functions and classes. Excludes kernels.
struct Entity {
  enum class Kind : uint8_t { function, variable, constant };
  Kind kind;  ///< constant: nvcc lets both sides read it
  Side side;
  size_t declaration;  ///< the first token of its declaration, after `template <...>`
  std::string_view name;
  bool is_managed = false;  ///< __managed__, also through a macro
};

/// What a CUDA file defines, and for which side, as far as its tokens show. There is no preprocessor: for `#if` and
/// `#else` only the first branch counts.
struct Outline {
  std::vector<Token> tokens;  ///< of the first branches only, without directives
  std::vector<Body> bodies;
  std::vector<Entity> entities;

  /// Returns the innermost body around a token, or nullptr if there is none.
  const Body* body_around(size_t token) const;
};

/// Returns an empty outline if brackets do not match, or if a kernel appears to be defined inside a function: then a
/// macro hides the structure.
Outline outline_of(std::string_view source);

/// Returns the index after the `<...>` that begins at `open`, or `open` if it is not closed.
size_t after_angles(const std::vector<Token>& tokens, size_t open);

}  // namespace convlab
