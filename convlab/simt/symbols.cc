// Reads symbols, sections, and source lines from the ELF file of a program or library.

#include "convlab/simt/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "convlab/base/error.h"
#include "convlab/base/names.h"
#include "convlab/base/symbol.h"
#include "convlab/simt/fault.h"
#include "convlab/simt/thread_local_code.h"

#ifdef CONVLAB_SIMT_HAS_BACKTRACE
#include <backtrace.h>
#endif

extern "C" void* __tls_get_addr(void* index);  // NOLINT(bugprone-reserved-identifier): of the system's loader

namespace convlab::simt::internal {
namespace {

// A read-only mapping of a file; empty if the file cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      void* memory = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        data_ = static_cast<const char*>(memory);
        size_ = static_cast<size_t>(status.st_size);
      }
    }
    if (file >= 0) close(file);
  }
  ~MappedFile() {
    if (data_) munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Returns `count` objects of type T at `offset`, or nullptr if they would extend past the end of the file.
  template <class T>
  const T* at(uint64_t offset, uint64_t count = 1) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

const Symbol* symbol_at(const std::vector<Symbol>& symbols, uintptr_t address) {
  auto above = std::upper_bound(symbols.begin(), symbols.end(), address,
                                [](uintptr_t a, const Symbol& symbol) { return a < symbol.begin; });
  // Symbols may nest or share a start address; the nearest one that covers the address is among the few before it.
  for (int tries = 0; above != symbols.begin() && tries < 8; ++tries) {
    --above;
    if (address - above->begin < above->bytes) return &*above;
  }
  return nullptr;
}

// Returns whether it is a static variable of the function or of a lambda in it: "_ZZ4demoPfE4tile" belongs to
// "_Z4demoPf", and "_ZZ4demoE4tile" to "demo", which has C linkage.
bool is_local_to(const Symbol& variable, const Symbol& function) {
  if (variable.file != 0 && function.file != 0 && variable.file != function.file) return false;
  const std::string_view name = variable.mangled, of = function.mangled;
  if (name.substr(0, 3) != "_ZZ") return false;
  const std::string_view local = name.substr(name.find_first_not_of('Z', 2));
  const std::string encoded = of.starts_with("_Z") ? std::string(of.substr(2)) : fmt::format("{}{}", of.size(), of);
  return local.substr(0, encoded.size()) == encoded && local.substr(encoded.size(), 1) == "E";
}

// Returns whether the variable is declared outside functions, as "_ZL4tile" is: it may belong to any kernel. Guard
// variables and thread-local wrappers that compilers add do not count.
bool is_at_file_scope(const Symbol& variable) {
  constexpr std::string_view kOthers[] = {"_ZZ", "_ZGV", "_ZTH", "_ZTW", "convlab_simt_"};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](std::string_view other) { return variable.mangled.starts_with(other); });
}

#ifdef CONVLAB_SIMT_HAS_BACKTRACE
struct Line {
  std::string file;
  int line = 0;
};

// Called for each inlined function at the instruction, innermost first. Stops at the first one that is the kernel's own
// code and not a library function such as std::copy().
int keep_line(void* data, uintptr_t, const char* file, int line, const char*) {
  auto& kept = *static_cast<Line*>(data);
  if (!file || line == 0) return 0;
  kept = {file, line};
  constexpr std::string_view kOthers[] = {"/convlab/simt/", "/convlab/base/", "/include/c++/"};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](std::string_view other) { return kept.file.find(other) != std::string::npos; });
}

Line line_of(uintptr_t address) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto ignore = [](void*, const char*, int) {};
  // libbacktrace finds the program in /proc, which a jail does not have.
  static const char* const program =
      ::access("/proc/self/exe", R_OK) == 0 ? nullptr : reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  static backtrace_state* const state = backtrace_create_state(program, 0, ignore, nullptr);
  Line line;
  if (state) backtrace_pcinfo(state, address, keep_line, ignore, &line);
  return line;
}
#endif

/// Returns what follows the parameters of `#define macro(parameters)`, to the end of its last line; "" if there is
/// none.
std::string_view body_of_macro(std::string_view source, std::string_view macro) {
  constexpr std::string_view kDefine = "define";
  for (size_t at = source.find(kDefine); at != std::string_view::npos; at = source.find(kDefine, at + 1)) {
    size_t begin = at + kDefine.size();
    while (begin < source.size() && (source[begin] == ' ' || source[begin] == '\t')) ++begin;
    const std::string_view rest = source.substr(begin);
    if (!rest.starts_with(macro) || !rest.substr(macro.size()).starts_with('(')) continue;
    const size_t close = rest.find(')');
    size_t end = rest.find('\n');
    while (end != std::string_view::npos && end > 0 && rest[end - 1] == '\\') end = rest.find('\n', end + 1);
    return close < end ? rest.substr(close + 1, end == std::string_view::npos ? end : end - close - 1) : "";
  }
  return "";
}

/// Returns the first name directly before a `bracket`: "mask" for "(mask[a + b])".
std::string name_before(std::string_view text, char bracket) {
  for (size_t at = text.find(bracket); at != std::string_view::npos; at = text.find(bracket, at + 1)) {
    size_t end = at;
    while (end > 0 && text[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > 0 && is_name_character(text[begin - 1])) --begin;
    if (begin < end) return std::string(text.substr(begin, end - begin));
  }
  return "";
}

}  // namespace

std::string subscripted_name(std::string_view line, int column) {
  if (column < 1 || static_cast<size_t>(column) > line.size()) return "";
  size_t i = static_cast<size_t>(column);  // one past the bracket to match
  if (is_name_character(line[i - 1])) {    // clang reports the column of the name
    size_t end = i;
    while (end < line.size() && is_name_character(line[end])) ++end;
    return std::string(line.substr(i - 1, end - (i - 1)));
  }
  if (line[i - 1] != ']') return "";
  while (i > 0 && line[i - 1] == ']') {
    int depth = 0;
    do {
      --i;
      depth += (line[i] == ']') - (line[i] == '[');
    } while (depth > 0 && i > 0);
    if (depth != 0) return "";
    while (i > 0 && line[i - 1] == ' ') --i;
  }
  size_t begin = i;
  while (begin > 0 && is_name_character(line[begin - 1])) --begin;
  return std::string(line.substr(begin, i - begin));
}

std::string array_of_macro(std::string_view source, std::string_view macro) {
  constexpr int kMostMacros = 8;  // macros may refer to each other in a cycle
  std::string name(macro);
  for (int i = 0; i < kMostMacros && !name.empty(); ++i) {
    const std::string_view body = body_of_macro(source, name);
    std::string array = name_before(body, '[');
    if (!array.empty()) return array;
    name = name_before(body, '(');
  }
  return "";
}

const Module& Module::of(const void* function) {
  struct Found {
    uintptr_t address;
    uintptr_t bias = 0;
    std::string path;
    std::vector<Segment> segments;
    size_t thread_local_bytes = 0;
  } found{reinterpret_cast<uintptr_t>(function), 0, {}, {}, 0};
  auto look = [](dl_phdr_info* info, size_t, void* data) {
    auto& f = *static_cast<Found*>(data);
    std::vector<Segment> segments;
    size_t thread_local_bytes = 0;
    bool here = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& header = info->dlpi_phdr[i];
      if (header.p_type == PT_TLS) thread_local_bytes = header.p_memsz;
      if (header.p_type != PT_LOAD) continue;
      const uintptr_t base = info->dlpi_addr + header.p_vaddr;
      segments.push_back({base, header.p_memsz, (header.p_flags & PF_W) != 0});
      here = here || f.address - base < header.p_memsz;
    }
    if (!here) return 0;
    f.bias = info->dlpi_addr;
    f.path = info->dlpi_name;
    f.segments = std::move(segments);
    f.thread_local_bytes = thread_local_bytes;
    return 1;
  };
  if (dl_iterate_phdr(look, &found) == 0) throw unavailable("simt: the kernel's address is not in any loaded library");

  static std::mutex mutex;
  static auto& modules = *new std::map<uintptr_t, std::unique_ptr<Module>>;  // by bias; never destroyed
  std::lock_guard lock(mutex);
  auto& module = modules[found.bias];
  if (!module) {
    module.reset(new Module(found.bias));
    module->segments_ = std::move(found.segments);
    module->thread_local_bytes_ = found.thread_local_bytes;
    module->is_program_ = found.path.empty();
    module->read_file(found.path.empty() ? "/proc/self/exe" : found.path);
  }
  return *module;
}

void Module::read_file(const std::string& path) {
  const MappedFile file(path);
  const auto* header = file.at<ElfW(Ehdr)>(0);
  if (header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0) {
    const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    for (int i = 0; sections && i < header->e_shnum; ++i) {
      const auto& table = sections[i];
      if (table.sh_type != SHT_SYMTAB || table.sh_link >= header->e_shnum) continue;
      const auto& strings = sections[table.sh_link];
      const char* text = file.at<char>(strings.sh_offset, strings.sh_size);
      const size_t count = table.sh_size / sizeof(ElfW(Sym));
      const auto* symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
      if (!text || !symbols) continue;
      int object_file = 0;  // index of the object file: its local symbols follow its name
      for (size_t s = 0; s < count; ++s) {
        const auto& symbol = symbols[s];
        object_file += ELF64_ST_TYPE(symbol.st_info) == STT_FILE;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 || symbol.st_name >= strings.sh_size) continue;
        const char* name = text + symbol.st_name;
        const int binding = ELF64_ST_BIND(symbol.st_info);
        Symbol entry{symbol.st_value,
                     symbol.st_size,
                     {name, strnlen(name, strings.sh_size - symbol.st_name)},
                     binding == STB_LOCAL ? object_file : 0,
                     binding == STB_WEAK || binding == STB_GNU_UNIQUE};
        const int type = ELF64_ST_TYPE(symbol.st_info);
        if (type == STT_FUNC) {
          functions_.push_back(std::move(entry));
        } else if (type == STT_OBJECT) {
          objects_.push_back(std::move(entry));
        } else if (type == STT_TLS) {
          thread_locals_.push_back(std::move(entry));
        }
      }
    }
  }
  for (auto* list : {&functions_, &objects_, &thread_locals_}) {
    std::sort(list->begin(), list->end(), [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  }
  if (!header) return;
  // Addresses of all __global__ functions: see keywords.h. The loader has relocated them.
  const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (!sections || header->e_shstrndx >= header->e_shnum) return;
  const auto& names = sections[header->e_shstrndx];
  const char* text = file.at<char>(names.sh_offset, names.sh_size);
  constexpr std::string_view kEntries = "__patchable_function_entries";
  for (int i = 0; text && i < header->e_shnum; ++i) {
    const auto& section = sections[i];
    if (section.sh_name >= names.sh_size) continue;
    const std::string_view name(text + section.sh_name,
                                strnlen(text + section.sh_name, names.sh_size - section.sh_name));
    const Segment place{section.sh_addr + bias_, section.sh_size, (section.sh_flags & SHF_WRITE) != 0};
    if (name.starts_with("convlab_device_") || name.starts_with("convlab_constant")) device_sections_.push_back(place);
    if (name == ".data" || name == ".bss") host_sections_.push_back(place);
    if (name == "convlab_constant") unset_constants_ = {section.sh_addr + bias_, section.sh_size};
    if (name == "convlab_constant_set") set_constants_ = {section.sh_addr + bias_, section.sh_size};
    if (name != kEntries) continue;
    const auto* entries = reinterpret_cast<const uintptr_t*>(section.sh_addr + bias_);
    for (size_t e = 0; e < section.sh_size / sizeof(uintptr_t); ++e) {
      if (const Symbol* kernel = function_at(entries[e])) kernels_.push_back(kernel);
    }
  }
}

const Symbol* SharedArrays::nearest(int64_t offset) const {
  const Symbol* best = nullptr;
  int64_t least = 0;
  for (const Symbol* symbol : symbols) {
    const auto begin = static_cast<int64_t>(symbol->begin), end = begin + static_cast<int64_t>(symbol->bytes);
    const int64_t distance = std::max({begin - offset, offset - end + 1, int64_t{0}});
    if (best && distance >= least) continue;
    best = symbol;
    least = distance;
  }
  return best;
}

bool Module::is_host_variable(const Symbol& variable) const {
  const bool may_be_of_template =
      variable.mangled.starts_with("_ZZ") && demangled(variable.mangled).find('<') != std::string::npos;
  if (variable.is_merged || may_be_of_template) return false;
  return std::ranges::any_of(
      host_sections_, [&](const Segment& section) { return variable.begin + bias_ - section.base < section.bytes; });
}

// Determines which code uses which array of a device function.
void Module::read_names() const {
  for (const Symbol& variable : thread_locals_) {
    const auto owner = std::find_if(kernels_.begin(), kernels_.end(),
                                    [&](const Symbol* kernel) { return is_local_to(variable, *kernel); });
    if (variable.mangled.rfind("_ZZ", 0) == 0 && owner == kernels_.end()) names_[&variable];
  }
  if (names_.empty() || !is_program_) return;  // a library accesses its thread-local variables in another way
  // In a CUDA program, each kernel may use each array of a device function: its code may compute the address from
  // another array's.
  if (has_fault_receiver()) return;
  const auto begin = static_cast<int64_t>(thread_local_base() - thread_pointer());
  for (const Symbol& function : functions_) {
    // The compiler may move parts of a kernel into functions such as kernel.part.0.
    const auto kernel = std::find_if(kernels_.begin(), kernels_.end(), [&](const Symbol* candidate) {
      const size_t length = candidate->mangled.size();
      return candidate->file == function.file && function.mangled.compare(0, length, candidate->mangled) == 0 &&
             (function.mangled.size() == length || function.mangled[length] == '.');
    });
    // A part of a kernel may use the thread pointer that the kernel has read.
    const auto* code = reinterpret_cast<const void*>(function.begin + bias_);
    if (kernel == kernels_.end() && !reads_thread_pointer(code, function.bytes)) continue;
    for (const int64_t distance : thread_local_distances(code, function.bytes)) {
      if (distance < begin) continue;
      const auto named = names_.find(symbol_at(thread_locals_, static_cast<uintptr_t>(distance - begin)));
      if (named == names_.end()) continue;
      const Symbol& array = *named->first;
      if (kernel == kernels_.end()) {
        // In another object file the same offset means another variable.
        named->second.others |= function.file == array.file || is_local_to(array, function);
      } else {
        named->second.kernels.insert(*kernel);
      }
    }
  }
}

const SharedArrays& Module::shared_arrays_of(const Symbol* kernel) const {
  std::lock_guard lock(mutex_);
  const auto [entry, is_new] = shared_arrays_.try_emplace(kernel);
  SharedArrays& arrays = entry->second;
  if (!is_new) return arrays;
  arrays.words.assign((thread_local_bytes_ + 3) / 4, kernel ? 0 : 1);
  if (!kernel) return arrays;
  if (!names_read_) read_names();
  names_read_ = true;
  // A kernel that is not local itself belongs to the object file of its arrays.
  int file = kernel->file;
  for (const Symbol& variable : thread_locals_) {
    if (file == 0 && is_local_to(variable, *kernel)) file = variable.file;
  }
  for (const Symbol& variable : thread_locals_) {
    const bool is_own = is_local_to(variable, *kernel);
    // A kernel file is one file. In a program, the file of a kernel with external linkage may be unknown.
    const bool is_near = !is_program_ || file == 0 || variable.file == 0 || variable.file == file;
    const auto names = names_.find(&variable);
    const bool is_of_device_function =
        is_near && names != names_.end() &&
        (names->second.others || names->second.kernels.empty() || names->second.kernels.count(kernel) != 0);
    // The object file of a kernel with external linkage is not known.
    const bool is_of_file = is_at_file_scope(variable) && (!is_program_ || file == 0 || variable.file == file);
    if (!is_own && !is_of_device_function && !is_of_file) continue;
    arrays.symbols.push_back(&variable);
    const size_t end = std::min((variable.begin + variable.bytes + 3) / 4, arrays.words.size());
    const auto number = static_cast<uint8_t>((arrays.symbols.size() - 1) % 255 + 1);
    std::fill(arrays.words.begin() + static_cast<ptrdiff_t>(std::min(variable.begin / 4, end)),
              arrays.words.begin() + static_cast<ptrdiff_t>(end), number);
  }
  return arrays;
}

uintptr_t Module::thread_local_base() const {
  if (thread_local_bytes_ == 0) return 0;
  struct Found {
    uintptr_t bias;
    size_t module;
  } found{bias_, 0};
  auto look = [](dl_phdr_info* info, size_t, void* data) {
    auto& f = *static_cast<Found*>(data);
    if (info->dlpi_addr != f.bias) return 0;
    f.module = info->dlpi_tls_modid;
    return 1;
  };
  dl_iterate_phdr(look, &found);
  // The TLS block of a library loaded by dlopen is allocated on the thread's first access.
  struct {
    size_t module, offset;
  } index{found.module, 0};
  return reinterpret_cast<uintptr_t>(__tls_get_addr(&index));
}

const Symbol* Module::function_at(uintptr_t address) const { return symbol_at(functions_, address - bias_); }
const Symbol* Module::object_at(uintptr_t address) const { return symbol_at(objects_, address - bias_); }

namespace {
const Symbol* named(const std::vector<Symbol>& symbols, std::string_view mangled) {
  const auto found =
      std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& each) { return each.mangled == mangled; });
  return found == symbols.end() ? nullptr : &*found;
}
}  // namespace

const Symbol* Module::function_named(std::string_view mangled) const { return named(functions_, mangled); }
const Symbol* Module::object_named(std::string_view mangled) const { return named(objects_, mangled); }

std::vector<const Symbol*> Module::static_shared_of(const Symbol& kernel) const {
  std::vector<const Symbol*> found;
  for (const Symbol& symbol : thread_locals_)
    if (is_local_to(symbol, kernel)) found.push_back(&symbol);
  return found;
}

size_t Module::static_shared_bytes(const Symbol& kernel) const {
  size_t sum = 0;
  for (const Symbol* symbol : static_shared_of(kernel)) sum += symbol->bytes;
  return sum;
}

const Module::Segment* Module::segment_at(uintptr_t address) const {
  for (const Segment& segment : segments_) {
    if (address - segment.base < segment.bytes) return &segment;
  }
  return nullptr;
}

const void* Module::code_ending_in(uint32_t low, int bits) const {
  if (low == 0) return nullptr;
  const uintptr_t step = uintptr_t{1} << bits;
  uintptr_t found = 0;
  for (const Segment& segment : segments_) {
    if (segment.writable) continue;
    for (uintptr_t address = (segment.base & ~(step - 1)) | low; address < segment.base + segment.bytes;
         address += step) {
      if (address >= segment.base && (found == 0 || function_at(address))) found = address;
    }
  }
  return reinterpret_cast<const void*>(found);
}

SourcePlace Module::place(const void* return_address) const {
  const uintptr_t address = reinterpret_cast<uintptr_t>(return_address) - 1;
#ifdef CONVLAB_SIMT_HAS_BACKTRACE
  if (const Line line = line_of(address); line.line != 0) return {line.file, static_cast<int>(line.line), 0};
#endif
  if (const Symbol* function = function_at(address)) {
    return {fmt::format("{}+{:#x}", short_symbol(function->mangled), address - bias_ - function->begin), 0, 0};
  }
  return {fmt::format("{:#x}", address - bias_), 0, 0};
}

std::string Module::where(const void* return_address) const { return short_text(place(return_address)); }

}  // namespace convlab::simt::internal
