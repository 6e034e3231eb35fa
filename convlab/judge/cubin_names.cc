// Matches the symbol names of a cubin with those of the host compiler.

#include "convlab/judge/cubin_names.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "convlab/base/error.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"

namespace convlab::judge {
namespace {

/// Reads the symbols of an untrusted ELF file.
class Elf {
 public:
  explicit Elf(std::span<const uint8_t> bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr)) {
      throw bad_input("the machine code is not a 64-bit ELF file");
    }
    for (size_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
  }

  std::vector<std::string> names_of_functions_and_variables() const {
    std::vector<std::string> names;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections_.size()) continue;
      const size_t count = section.sh_size / sizeof(Elf64_Sym);
      for (size_t i = 0; i < count; ++i) {
        const auto symbol = at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_OBJECT) continue;
        names.push_back(text_at(sections_[section.sh_link].sh_offset, symbol.st_name));
      }
    }
    return names;
  }

 private:
  template <class T>
  T at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) throw bad_input("the machine code is truncated");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  std::string text_at(uint64_t table, uint64_t offset) const {
    std::string text;
    for (uint64_t i = table + offset;; ++i) {
      const auto c = at<char>(i);
      if (c == 0) return text;
      text += c;
    }
  }

  std::span<const uint8_t> bytes_;
  std::vector<Elf64_Shdr> sections_;
};

/// Returns a demangled symbol without the parts that only one of the compilers adds: nvcc's name for the translation
/// unit, and the namespace that convlab uses per compiler.
std::string plain(const std::string& symbol) {
  std::string text = demangled(symbol);
  for (const std::string_view only_there : {"for_gpu::", "for_simt::"}) {
    for (size_t at = 0; (at = text.find(only_there, at)) != std::string::npos;) text.erase(at, only_there.size());
  }
  constexpr std::string_view kOfFile = "_INTERNAL_";
  for (size_t at = 0; (at = text.find(kOfFile, at)) != std::string::npos;) {
    const size_t end = text.find("::", at);
    text.erase(at, end == std::string::npos ? end : end + 2 - at);
  }
  return text;
}

}  // namespace

CubinNames::CubinNames(std::span<const uint8_t> cubin) {
  for (std::string& name : Elf(cubin).names_of_functions_and_variables()) {
    std::vector<std::string>& alike = by_short_name_[short_symbol(plain(name))];
    if (std::ranges::find(alike, name) == alike.end()) alike.push_back(std::move(name));
  }
}

const std::string& CubinNames::of(const std::string& symbol) const {
  const std::string wanted = plain(symbol);
  const auto alike = by_short_name_.find(short_symbol(wanted));
  if (alike == by_short_name_.end()) throw bad_input("the machine code has no symbol {}", printable(wanted));
  if (alike->second.size() == 1) return alike->second.front();
  const auto is_wanted = [&](const std::string& name) { return plain(name) == wanted; };
  const auto found = std::ranges::find_if(alike->second, is_wanted);
  if (found == alike->second.end() || std::any_of(found + 1, alike->second.end(), is_wanted)) {
    throw bad_input("the machine code has more than one {}; rename them", printable(wanted));
  }
  return *found;
}

}  // namespace convlab::judge
