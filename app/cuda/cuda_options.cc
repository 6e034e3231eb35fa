// Parses nvcc's options and those of `convlab cuda`.

#include "app/cuda/cuda_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab::app {
namespace {

using Apply = void (*)(CudaOptions&, const std::string& value);

void ignore(CudaOptions&, const std::string&) {}

void pass_to_host(CudaOptions& options, const std::string& value) {
  for (std::string& each : split(value, ',')) {
    const bool of_linker = each.starts_with("-Wl") || each.starts_with("-l") || each.starts_with("-L");
    (of_linker ? options.sources.link_options : options.sources.host_options).push_back(std::move(each));
  }
}

template <const char* kVariable>
void set(CudaOptions& options, const std::string& value) {
  options.environment[kVariable] = value;
}
constexpr char kFormat[] = "CONVLAB_FORMAT", kJson[] = "CONVLAB_JSON", kColor[] = "CONVLAB_COLOR",
               kExit[] = "CONVLAB_FINDINGS_EXIT", kTimeout[] = "CONVLAB_TIMEOUT", kThreads[] = "CONVLAB_THREADS",
               kAs[] = "CONVLAB_AS", kMemory[] = "CONVLAB_MAX_MEMORY";

/// The words of CUDA's libraries, which all are in the one that programs link here.
constexpr std::string_view kCudaLibraries[] = {
    "cudart",   "cudart_static",   "cudadevrt",  "cuda",          "cublas",   "cublas_static",
    "cublasLt", "cublasLt_static", "curand",     "curand_static", "cufft",    "cufft_static",
    "cusparse", "culibos",         "nvToolsExt", "nvrtc",         "nvidia-ml"};

void link_library(CudaOptions& options, const std::string& name) {
  if (std::ranges::find(kCudaLibraries, name) == std::end(kCudaLibraries)) {
    options.sources.link_options.push_back("-l" + name);
  }
}

/// --check: what is not to be found need not be instrumented. The program itself checks the words.
void set_checks(CudaOptions& options, const std::string& value) {
  options.environment["CONVLAB_CHECK"] = value;
  if (value == "all") return;
  const std::vector<std::string> checks = split(value, ',');
  const auto has = [&](const char* check) { return std::ranges::find(checks, check) != checks.end(); };
  options.sources.seen = {.accesses = value != "none",
                          .bounds = has("bounds"),
                          .alignment = has("alignment"),
                          .counted = options.sources.seen.counted};
}

/// --schedule: random:1..20 stands for twenty runs.
void set_schedules(CudaOptions& options, const std::string& value) {
  constexpr std::string_view kRandom = "random:";
  constexpr int64_t kMost = 100000;
  const size_t dots = value.find("..");
  if (!value.starts_with(kRandom) || dots == std::string::npos) {
    options.schedules = {value};
    return;
  }
  const std::string first_text = value.substr(kRandom.size(), dots - kRandom.size());
  const int64_t first = parse_int(first_text, "--schedule random", 0, INT64_MAX / 2);
  const int64_t last = parse_int(value.substr(dots + 2), "--schedule random", first, first + kMost);
  options.schedules.clear();
  for (int64_t seed = first; seed <= last; ++seed) options.schedules.push_back(fmt::format("{}{}", kRandom, seed));
}

template <Product kProduct>
void make(CudaOptions& options, const std::string&) {
  options.product = kProduct;
}

enum class Value { none, joined, separate };  ///< joined: -Ifolder, too; separate: --name VALUE or --name=VALUE

struct KnownOption {
  std::string_view name;
  Value value;
  Apply apply;
};

constexpr KnownOption kOptions[] = {
    {"-I", Value::joined, [](CudaOptions& o, const std::string& v) { o.sources.folders.emplace_back(v); }},
    {"--include-path", Value::separate,
     [](CudaOptions& o, const std::string& v) { o.sources.folders.emplace_back(v); }},
    {"-isystem", Value::separate, [](CudaOptions& o, const std::string& v) { o.sources.folders.emplace_back(v); }},
    {"-D", Value::joined, [](CudaOptions& o, const std::string& v) { o.sources.definitions.push_back(v); }},
    {"-U", Value::joined, [](CudaOptions& o, const std::string& v) { o.sources.definitions.push_back("-" + v); }},
    {"-include", Value::separate, [](CudaOptions& o, const std::string& v) { o.sources.includes.emplace_back(v); }},
    {"-L", Value::joined, [](CudaOptions& o, const std::string& v) { o.sources.link_options.push_back("-L" + v); }},
    {"-l", Value::joined, link_library},
    {"-Xlinker", Value::separate,
     [](CudaOptions& o, const std::string& v) { o.sources.link_options.push_back("-Wl," + v); }},
    {"-Xcompiler", Value::separate, pass_to_host},
    {"--compiler-options", Value::separate, pass_to_host},
    {"-ccbin", Value::separate, [](CudaOptions& o, const std::string& v) { o.sources.compiler = v; }},
    {"--compiler-bindir", Value::separate, [](CudaOptions& o, const std::string& v) { o.sources.compiler = v; }},
    {"-o", Value::joined, [](CudaOptions& o, const std::string& v) { o.output = v; }},
    {"--output-file", Value::separate, [](CudaOptions& o, const std::string& v) { o.output = v; }},
    {"--library", Value::separate, link_library},
    {"-c", Value::none, make<Product::object>},
    {"--compile", Value::none, make<Product::object>},
    {"-dc", Value::none, make<Product::object>},
    {"--device-c", Value::none, make<Product::object>},
    {"-dw", Value::none, make<Product::object>},
    {"-dlink", Value::none, make<Product::device_link>},
    {"--device-link", Value::none, make<Product::device_link>},
    {"-lib", Value::none, make<Product::archive>},
    {"--lib", Value::none, make<Product::archive>},
    {"-shared", Value::none, [](CudaOptions& o, const std::string&) { o.sources.shared_library = true; }},
    {"--shared", Value::none, [](CudaOptions& o, const std::string&) { o.sources.shared_library = true; }},
    {"-M", Value::none, make<Product::dependencies>},
    {"-MM", Value::none, make<Product::dependencies>},
    {"--generate-dependencies", Value::none, make<Product::dependencies>},
    {"-MD", Value::none, [](CudaOptions& o, const std::string&) { o.dependencies.beside = true; }},
    {"-MMD", Value::none, [](CudaOptions& o, const std::string&) { o.dependencies.beside = true; }},
    {"-MP", Value::none, [](CudaOptions& o, const std::string&) { o.dependencies.phony = true; }},
    {"-MF", Value::separate, [](CudaOptions& o, const std::string& v) { o.dependencies.file = v; }},
    {"-MT", Value::separate, [](CudaOptions& o, const std::string& v) { o.dependencies.target = v; }},
    {"-odir", Value::separate, [](CudaOptions& o, const std::string& v) { o.folder = v; }},
    {"--output-directory", Value::separate, [](CudaOptions& o, const std::string& v) { o.folder = v; }},
    {"-x", Value::separate, [](CudaOptions& o, const std::string& v) { o.sources.all_cuda = v == "cu"; }},
    {"--x", Value::separate, [](CudaOptions& o, const std::string& v) { o.sources.all_cuda = v == "cu"; }},
    {"-V", Value::none, [](CudaOptions& o, const std::string&) { o.version = true; }},
    {"--version", Value::none, [](CudaOptions& o, const std::string&) { o.version = true; }},
    // Of this program.
    {"--check", Value::separate, set_checks},
    {"--schedule", Value::separate, set_schedules},
    {"--max-memory", Value::separate, set<kMemory>},
    {"--counters", Value::none,
     [](CudaOptions& o, const std::string&) {
       o.environment["CONVLAB_COUNTERS"] = "1";
       o.sources.seen.counted = true;
     }},
    {"--format", Value::separate, set<kFormat>},
    {"--json", Value::separate,
     [](CudaOptions& o, const std::string& v) { o.environment[kJson] = std::filesystem::absolute(v).string(); }},
    {"--color", Value::separate, set<kColor>},
    {"--findings-exit", Value::separate, set<kExit>},
    {"--timeout", Value::separate, set<kTimeout>},
    {"--threads", Value::separate, set<kThreads>},
    {"--as", Value::separate, set<kAs>},
    {"--all", Value::none, [](CudaOptions& o, const std::string&) { o.environment["CONVLAB_ALL"] = "1"; }},
    {"--help", Value::none, [](CudaOptions& o, const std::string&) { o.help = true; }},
    {"-h", Value::none, [](CudaOptions& o, const std::string&) { o.help = true; }},
    // Of nvcc, without effect here: what concerns GPUs, optimization and debug information.
    {"-arch", Value::separate, ignore},
    {"--gpu-architecture", Value::separate, ignore},
    {"-code", Value::separate, ignore},
    {"--gpu-code", Value::separate, ignore},
    {"-gencode", Value::separate, ignore},
    {"--generate-code", Value::separate, ignore},
    {"-std", Value::separate, ignore},
    {"--std", Value::separate, ignore},
    {"-rdc", Value::separate, ignore},
    {"--relocatable-device-code", Value::separate, ignore},
    {"-maxrregcount", Value::separate, ignore},
    {"--maxrregcount", Value::separate, ignore},
    {"-Xptxas", Value::separate, ignore},
    {"--ptxas-options", Value::separate, ignore},
    {"-Xnvlink", Value::separate, ignore},
    {"-cudart", Value::separate, ignore},
    {"--cudart", Value::separate, ignore},
    {"-t", Value::separate, ignore},
    {"-Werror", Value::separate, ignore},
    {"-Xcudafe", Value::separate, ignore},
    {"-diag-suppress", Value::separate, ignore},
    {"--diag-suppress", Value::separate, ignore},
    {"-default-stream", Value::separate, ignore},
    {"--default-stream", Value::separate, ignore},
    {"-ftz", Value::separate, ignore},
    {"-fmad", Value::separate, ignore},
    {"-prec-div", Value::separate, ignore},
    {"-prec-sqrt", Value::separate, ignore},
    {"-keep", Value::none, ignore},
    {"-forward-unknown-to-host-compiler", Value::none, ignore},
    {"-O", Value::joined, ignore},
    {"-g", Value::none, ignore},
    {"-G", Value::none, ignore},
    {"-w", Value::none, ignore},
    {"-m64", Value::none, ignore},
    {"-lineinfo", Value::none, ignore},
    {"--generate-line-info", Value::none, ignore},
    {"-use_fast_math", Value::none, ignore},
    {"--use_fast_math", Value::none, ignore},
    {"--extended-lambda", Value::none, ignore},
    {"-extended-lambda", Value::none, ignore},
    {"--expt-extended-lambda", Value::none, ignore},
    {"-expt-extended-lambda", Value::none, ignore},
    {"--expt-relaxed-constexpr", Value::none, ignore},
    {"-expt-relaxed-constexpr", Value::none, ignore},
    {"-Wno-deprecated-gpu-targets", Value::none, ignore},
};

constexpr std::string_view kForGpus[] = {"-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin"};

/// An option as a word has it, with the value that the word contains.
struct Found {
  const KnownOption* option;
  std::optional<std::string> value;
};

std::optional<Found> found_option(const std::string& word) {
  for (const KnownOption& each : kOptions) {
    if (word == each.name) return Found{&each, std::nullopt};
  }
  for (const KnownOption& each : kOptions) {
    if (!word.starts_with(each.name)) continue;
    const std::string rest = word.substr(each.name.size());
    if (each.value == Value::separate && rest.starts_with('=')) return Found{&each, rest.substr(1)};
    if (each.value == Value::joined) return Found{&each, rest.starts_with('=') ? rest.substr(1) : rest};
  }
  return std::nullopt;
}

[[noreturn]] void refuse_option(const std::string& word) {
  if (std::ranges::find(kForGpus, word) != std::end(kForGpus)) {
    throw bad_input("{}: convlab makes no code for GPUs; use nvcc for that", word);
  }
  std::vector<std::string> names;
  for (const KnownOption& each : kOptions) names.emplace_back(each.name);
  const std::string nearest = closest(word, names);
  throw bad_input("unknown option {}{}; 'convlab cuda --help' shows all", word,
                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

}  // namespace

CudaOptions parse_cuda_options(const std::vector<std::string>& words) {
  CudaOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      options.arguments.assign(words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (!word.starts_with('-') || word == "-") {
      options.sources.files.emplace_back(word);
      continue;
    }
    const std::optional<Found> found = found_option(word);
    if (!found) refuse_option(word);
    std::string value = found->value.value_or("");
    if (!found->value && found->option->value != Value::none) {
      if (found->option->name == "-O") continue;  // alone, it is -O1
      if (++i == words.size()) throw bad_input("{} needs a value", word);
      value = words[i];
    }
    found->option->apply(options, value);
  }
  return options;
}

std::string cuda_help() {
  return R"(Run CUDA programs without a GPU, and check every access of their kernels

Usage: convlab cuda run PROGRAM.cu [MORE.cu MORE.cpp ...] [OPTIONS] [-- ARGUMENTS]
       convlab cuda build PROGRAM.cu [MORE.cu MORE.cpp ...] [-o FILE] [OPTIONS]

Examples:
  convlab cuda run vecadd.cu
  convlab cuda run main.cu kernels.cu -I include -DN=1024 -- input.txt
  convlab cuda build vecadd.cu -o vecadd && ./vecadd

`run` compiles the program with the host's C++ compiler and runs it. The program's own output is unchanged. What is
found follows on standard error. The exit status is the program's, or 1 if that is 0 and an error was found.
`build` writes a program that runs so by itself.

Options of nvcc (those about GPUs, optimization and debug information, such as -arch and -O3, have no effect):
  -I DIR                                search headers there
  -D NAME[=VALUE]                       define a macro
  -U NAME                               remove a macro
  -include FILE                         include it first in each source
  -Xcompiler LIST                       options of the C++ compiler, separated by commas
  -L DIR                                search libraries there
  -l NAME                               link a library
  -Xlinker LIST                         options of the linker
  -ccbin COMPILER                       the C++ compiler: g++ or clang++ (default: the one that compiled convlab)
  -c, -lib, -shared                     build writes objects, an archive, a shared library
  -M, -MD                               build writes a Makefile's rule of the headers
  -x cu                                 all sources have CUDA code
  -o FILE                               what build writes (default: a.out)

Options:
  --format text|gcc|json|sarif|github   form of the findings (default: text)
  --json FILE                           also write results there
  --findings-exit N                     exit status if an error was found (default: 1)
  --check all|none|LIST                 what to find: races-block, races-global, races-warp, bounds, uninitialized,
                                        alignment, barriers, leaks, api (default: all)
  --schedule in-order|reverse|random:N  order of blocks, warps and lanes; random:1..20 runs the program with each seed
  --counters                            count memory requests, bank conflicts and branches of kernels; checks nothing
  --timeout SECONDS                     end the program after this time
  --max-memory BYTES                    memory of the device: 1048576, 512M, 2G (default: that of this machine)
  --as DEVICE                           properties that the program reads: those of a100, h100, t4, ...
                                        (default: simt's own)
  --threads N                           host threads that execute blocks (default: all)
  --color auto|always|never             (default: auto)
  --all                                 show all findings with all details
)";
}

}  // namespace convlab::app
