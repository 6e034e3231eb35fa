#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/outline.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// Text that the translation inserts before a part of the source.
struct Insertion {
  std::string_view before;
  std::string text;
};

/// Finds cross-side errors that nvcc reports but the host compiler cannot see, because for it both sides are the same:
/// calls across sides, and host variables used in kernels.
///
/// Tokens alone cannot resolve a name with several meanings, so they only yield candidates. The compiler then decides:
/// the candidates' declarations are marked as deprecated, and the compiler's warnings show where they are used.
class SideCheck {
 public:
  /// The source must outlive the check.
  explicit SideCheck(const KernelSource& source);

  /// Returns whether there are candidates for the compiler to decide.
  bool suspects() const { return !uses_.empty(); }

  /// Returns the marks to insert into the text that is compiled.
  std::vector<Insertion> marks() const;

  /// Converts the compiler's deprecation warnings to nvcc's errors, at most eight.
  std::vector<Finding> errors(std::string_view warnings) const;

 private:
  struct Use {
    size_t token;          ///< the name
    const Entity* entity;  ///< the entity it may refer to
    const Body* body;
  };

  void look_at(size_t token);
  Finding error(const Use& use) const;

  const KernelSource& source_;
  Outline outline_;
  std::vector<Use> uses_;
};

/// Returns a section attribute for each `__device__` variable of the file and each `static` variable in device code, by
/// which simt tells them from host variables. The views point into `source`.
std::vector<Insertion> device_sections(std::string_view source);

/// Returns whether a header next to the file, or one included by it, declares device variables. Those get no sections.
bool has_device_variables_in_headers(const KernelSource& source);

}  // namespace convlab
