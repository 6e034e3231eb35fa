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

/// The program's own symbol table, read from its ELF file: names for kernels, shared arrays and constants, and the line
/// of an instruction. A stripped program still runs and is still checked; its reports then give offsets for names.
namespace convlab::simt::internal {

struct Symbol {
  uintptr_t begin = 0;  ///< an address in the file's own numbering; for thread-local variables the offset in the block
  size_t bytes = 0;
  std::string mangled;
  int file = 0;            ///< which of the program's object files it is local to; 0: it is not local
  bool is_merged = false;  ///< there may be several of it, of which the linker has chosen one
};

/// The static shared arrays that a kernel may touch: its own and those of device functions.
struct SharedArrays {
  std::vector<const Symbol*> symbols;  ///< by place
  std::vector<uint8_t> words;          ///< for each 4 bytes of the thread-local block: the array's number, or 0

  /// The array at the offset, otherwise the nearest; nullptr if there is none.
  const Symbol* nearest(int64_t offset) const;
};

/// The array of a subscript in a source line, given the column of its ']' (g++) or of its first letter (clang): "tile"
/// for `y = tile[a[1]][n];`. "" if the text there is no subscript.
std::string subscripted_name(std::string_view line, int column);

/// The array that a macro of a source indexes: "mask" for `#define k4d(m, c, p, q) mask[(m) * 9 + (q)]`, also where one
/// macro uses another. "" if there is no such macro, or it has no subscript.
std::string array_of_macro(std::string_view source, std::string_view macro);

/// The executable or shared library that holds a kernel.
class Module {
 public:
  /// The module that holds `function`; kept for the process's life. Error(unavailable) if there is none.
  static const Module& of(const void* function);

  /// The thread-local block of this module in the calling thread, which holds __shared__ variables; 0 if it has none.
  uintptr_t thread_local_base() const;
  size_t thread_local_bytes() const { return thread_local_bytes_; }

  /// What `kernel` may touch: its own arrays, and those of device functions of its object file or of headers, unless
  /// the machine code of a program shows (on x86-64) that only other kernels name them. No other thread-local variable
  /// of the program. nullptr, a kernel of a program without symbols, may touch all words. The result lives with the
  /// module.
  const SharedArrays& shared_arrays_of(const Symbol* kernel) const;
  const Symbol* function_at(uintptr_t address) const;

  /// By its mangled name; nullptr if there is none.
  const Symbol* function_named(std::string_view mangled) const;
  const Symbol* object_named(std::string_view mangled) const;

  /// The variable at a run-time address; its `begin` stays in the file's numbering (add bias()).
  const Symbol* object_at(uintptr_t address) const;
  uintptr_t bias() const { return bias_; }

  /// The total size of the static shared arrays declared in the kernel itself.
  size_t static_shared_bytes(const Symbol& kernel) const;

  /// The static shared arrays declared in the kernel itself.
  std::vector<const Symbol*> static_shared_of(const Symbol& kernel) const;

  struct Segment {
    uintptr_t base;
    size_t bytes;
    bool writable;
  };
  /// The loaded segment that holds a run-time address, or nullptr.
  const Segment* segment_at(uintptr_t address) const;

  /// Where a kernel file has its __device__ and __constant__ variables.
  const std::vector<Segment>& device_sections() const { return device_sections_; }

  /// Whether the variable is one of the host's alone, in a file whose host code is watched: see host_code.h. Those of
  /// inline functions and templates, to which no section can be given, are on both sides.
  bool is_host_variable(const Symbol& variable) const;

  /// Whether a kernel file has declared this variable __constant__, and without a value: see
  /// convlab/kernel_file/translation.cc.
  bool is_constant(uintptr_t address) const { return unset_constants_.holds(address) || set_constants_.holds(address); }
  bool is_unset_constant(uintptr_t address) const { return unset_constants_.holds(address); }

  /// An address in the code with these lowest bits; nullptr if there is none, or `low` is 0. Of several one in a
  /// function.
  const void* code_ending_in(uint32_t low, int bits) const;

  /// All __global__ functions.
  const std::vector<const Symbol*>& kernels() const { return kernels_; }

  bool has_symbols() const { return !objects_.empty() || !functions_.empty(); }

  /// The source line of the instruction before `return_address`; without line tables "kernel+0x1f" in place of a file.
  SourcePlace place(const void* return_address) const;

  /// "conv.cu:31": place() without folders.
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
  std::vector<const Symbol*> kernels_;                       // of functions_
  mutable std::mutex mutex_;                                 // guards what follows
  struct Names {
    std::set<const Symbol*> kernels;  // whose code names the array
    bool others = false;              // whether any other code names it
  };
  mutable bool names_read_ = false;
  mutable std::map<const Symbol*, Names> names_;  // of static shared arrays that belong to no kernel
  mutable std::map<const Symbol*, SharedArrays> shared_arrays_;
};

}  // namespace convlab::simt::internal
