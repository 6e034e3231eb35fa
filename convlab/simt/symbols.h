#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The program's own symbol table, read from its ELF file: names for kernels, shared arrays and constants, and the line
/// of an instruction. A stripped program still runs and is still checked; its reports then give offsets for names.
namespace convlab::simt::internal {

struct Symbol {
  uintptr_t begin = 0;  ///< an address in the file's own numbering; for thread-local variables the offset in the block
  size_t bytes = 0;
  std::string mangled;
};

/// "tile" of "convlab::(anonymous namespace)::kernel<16>(float const*)::tile", mangled or not: the last name, without
/// namespaces, return type and parameters, with template arguments.
std::string short_name(std::string_view symbol);

/// The array of a subscript in a line of source, given the column of its ']' (g++) or of its first letter (clang):
/// "tile" for `y = tile[a[1]][n];`. "" if the text there is no subscript.
std::string subscripted_name(std::string_view line, int column);

/// The executable or shared library that holds a kernel.
class Module {
 public:
  /// The module that `function` is in; kept for the process's life. Error(unavailable) if there is none.
  static const Module& of(const void* function);

  /// The thread-local block of this module in the calling thread: where __shared__ variables are. Error(unavailable) if
  /// the thread has none, which happens in libraries loaded by dlopen.
  uintptr_t thread_local_base() const;
  size_t thread_local_bytes() const { return thread_local_bytes_; }

  /// For each 4 bytes of the thread-local block: does a variable lie there?
  const std::vector<uint8_t>& thread_local_used() const { return thread_local_used_; }

  const Symbol* thread_local_at(size_t offset) const;
  const Symbol* thread_local_named(std::string_view short_name) const;  ///< any one of that name
  const Symbol* function_at(uintptr_t address) const;

  /// The variable at a run-time address; its `begin` stays in the file's numbering (add bias()).
  const Symbol* object_at(uintptr_t address) const;
  uintptr_t bias() const { return bias_; }

  /// The sum of the static shared arrays declared in the kernel itself.
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
  bool has_symbols() const { return !objects_.empty() || !functions_.empty(); }

  /// "conv.cu:31" for the instruction before `return_address`; without line tables "kernel+0x1f".
  std::string where(const void* return_address) const;

 private:
  explicit Module(uintptr_t bias) : bias_(bias) {}
  void read_file(const std::string& path);

  uintptr_t bias_;
  size_t thread_local_bytes_ = 0;
  std::vector<uint8_t> thread_local_used_;
  std::vector<Segment> segments_;
  std::vector<Symbol> functions_, objects_, thread_locals_;  // sorted by begin
};

}  // namespace convlab::simt::internal
