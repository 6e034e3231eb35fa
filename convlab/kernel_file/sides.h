#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/outline.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// What a translation puts before a part of the source.
struct Insertion {
  std::string_view before;
  std::string text;
};

/// Finds what nvcc refuses and a host's compiler, for which both sides are one, does not see: calls across the sides
/// and host variables in kernels.
///
/// Tokens alone do not tell which of several things a name means, so they only raise suspicions. Then a compiler
/// decides: what is suspected to be used on the wrong side is marked as deprecated, and the compiler says where it is
/// used.
class SideCheck {
 public:
  /// The source must outlive the check.
  explicit SideCheck(const KernelSource& source);

  /// Whether a compiler has to decide anything.
  bool suspects() const { return !uses_.empty(); }

  /// For the text that the compiler gets.
  std::vector<Insertion> marks() const;

  /// The compiler's warnings as nvcc's errors, at most a few.
  std::vector<Finding> errors(std::string_view warnings) const;

 private:
  struct Use {
    size_t token;          ///< the name
    const Entity* entity;  ///< what it may mean
    const Body* body;
  };

  void look_at(size_t token);
  Finding error(const Use& use) const;

  const KernelSource& source_;
  Outline outline_;
  std::vector<Use> uses_;
};

/// Before the file's `__device__` variables, and `static` ones of device code: a section for each, by which simt tells
/// them from the host's. The views are of `source`.
std::vector<Insertion> device_sections(const KernelSource& source);

/// Whether a header beside the file, or one that it includes, has variables of the device: those get no sections.
bool has_device_variables_in_headers(const KernelSource& source);

}  // namespace convlab
