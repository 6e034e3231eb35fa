#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"

/// The program's own symbol table, read from its ELF file: names of kernels, shared arrays and constants, and the
/// source lines of instructions. A stripped program still runs and is still checked; its reports then show offsets
/// instead of names.
namespace convlab::simt::internal {

struct Symbol {
  uintptr_t begin = 0;  ///< link-time address; for thread-local variables the offset in the TLS block
  size_t bytes = 0;
  std::string mangled;
  int file = 0;            ///< index of the object file that it is local to; 0: not local
  bool is_merged = false;  ///< weak or unique: the linker may have merged several definitions
};

/// The static shared arrays that a kernel may access: its own and those of device functions.
struct SharedArrays {
  std::vector<const Symbol*> symbols;  ///< sorted by address
  std::vector<uint8_t> words;          ///< for each 4 bytes of the TLS block: the array's number, or 0

  /// Returns the array at the offset, otherwise the nearest one; nullptr if there is none.
  const Symbol* nearest(int64_t offset) const;
};

/// Returns the name of the array in a subscript of a source line, given the column of its ']' (g++) or of its first
/// letter (clang): "tile" for `y = tile[a[1]][n];`. Returns "" if the text there is not a subscript.
std::string subscripted_name(std::string_view line, int column);

/// Returns the array that a macro of a source indexes: "mask" for `#define k4d(m, c, p, q) mask[(m) * 9 + (q)]`, also
/// if the macro uses another one. Returns "" if there is no such macro or it has no subscript.
std::string array_of_macro(std::string_view source, std::string_view macro);

/// The executable or shared library that contains a kernel.
class Module {
 public:
  /// Returns the module that contains `function`; it lives as long as the process. Throws Error(unavailable) if none
  /// does.
  static const Module& of(const void* function);

  /// Returns this module's TLS block in the calling thread, which holds __shared__ variables; 0 if there is none.
  uintptr_t thread_local_base() const;
  size_t thread_local_bytes() const { return thread_local_bytes_; }

  /// Returns the arrays that `kernel` may access: its own, those at file scope of its object file, and those of device
  /// functions of its object file or of headers, unless the program's machine code shows (on x86-64 and AArch64) that
  /// only other kernels use them. All other thread-local variables are off limits. nullptr, a kernel of a program
  /// without symbols, may access all words. The result lives as long as the module.
  const SharedArrays& shared_arrays_of(const Symbol* kernel) const;
  const Symbol* function_at(uintptr_t address) const;

  /// By mangled name; nullptr if there is none.
  const Symbol* function_named(std::string_view mangled) const;
  const Symbol* object_named(std::string_view mangled) const;

  /// Returns the variable at a run-time address. Its `begin` is a link-time address: add bias().
  const Symbol* object_at(uintptr_t address) const;
  uintptr_t bias() const { return bias_; }

  /// Returns the total size of the static shared arrays declared in the kernel itself, in bytes.
  size_t static_shared_bytes(const Symbol& kernel) const;

  /// Returns the static shared arrays declared in the kernel itself.
  std::vector<const Symbol*> static_shared_of(const Symbol& kernel) const;

  struct Segment {
    uintptr_t base;
    size_t bytes;
    bool writable;
  };
  /// Returns the loaded segment that contains a run-time address, or nullptr.
  const Segment* segment_at(uintptr_t address) const;

  /// Returns the sections that hold the __device__ and __constant__ variables of a kernel file.
  const std::vector<Segment>& device_sections() const { return device_sections_; }

  /// Returns whether the variable belongs to the host alone, in a file whose host code is watched: see host_code.h.
  /// Variables of inline functions and templates cannot be placed in a section, so they count as shared by host and
  /// device.
  bool is_host_variable(const Symbol& variable) const;

  /// Returns whether a kernel file declares this variable __constant__. is_unset_constant(): __constant__ without an
  /// initializer. See convlab/kernel_file/translation.cc.
  bool is_constant(uintptr_t address) const { return unset_constants_.holds(address) || set_constants_.holds(address); }
  bool is_unset_constant(uintptr_t address) const { return unset_constants_.holds(address); }

  /// Returns an address in the code with these lowest bits, preferably inside a function; nullptr if there is none or
  /// `low` is 0.
  const void* code_ending_in(uint32_t low, int bits) const;

  /// Returns all __global__ functions.
  const std::vector<const Symbol*>& kernels() const { return kernels_; }

  bool has_symbols() const { return !objects_.empty() || !functions_.empty(); }

  /// Returns the source line of the instruction before `return_address`; without line tables, "kernel+0x1f" instead of
  /// a file.
  SourcePlace place(const void* return_address) const;

  /// Returns place() without folders: "conv.cu:31".
  std::string where(const void* return_address) const;

 private:
  explicit Module(uintptr_t bias) : bias_(bias) {}
  void read_file(const std::string& path);
  void read_names() const;

  uintptr_t bias_;
  bool is_program_ = false;  // not a library
  size_t thread_local_bytes_ = 0;
  std::vector<Segment> segments_;
  std::vector<Segment> device_sections_, host_sections_;
  struct Section {
    uintptr_t begin = 0;
    size_t bytes = 0;
    bool holds(uintptr_t address) const { return address - begin < bytes; }
  };
  Section unset_constants_, set_constants_;
  std::vector<Symbol> functions_, objects_, thread_locals_;  // sorted by begin
  std::vector<const Symbol*> kernels_;                       // point into functions_
  mutable std::mutex mutex_;                                 // guards the members below
  struct Names {
    std::set<const Symbol*> kernels;  // kernels whose code uses the array
    bool others = false;              // whether any other code uses it
  };
  mutable bool names_read_ = false;
  mutable std::map<const Symbol*, Names> names_;  // of static shared arrays that belong to no kernel
  mutable std::map<const Symbol*, SharedArrays> shared_arrays_;
};

}  // namespace convlab::simt::internal
