// Makes programs, objects, archives and rules for make, as nvcc does.

#include "app/cuda/build_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/process.h"
#include "convlab/kernel_file/program_compiler.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

void copy_to(const fs::path& made, const fs::path& target) {
  std::error_code error;
  fs::copy_file(made, target, fs::copy_options::overwrite_existing, error);
  if (error) throw bad_input("{}: {}", target.string(), error.message());
}

/// Returns the file that is made of a source: -o, or the source's name in -odir.
fs::path output_of(const fs::path& source, const char* suffix, const CudaOptions& options) {
  if (!options.output.empty()) return options.output;
  return options.folder / source.filename().replace_extension(suffix);
}

/// Returns a rule of make: the object's headers.
std::string rule_of(const fs::path& source, const CudaOptions& options) {
  const DependencyOptions& asked = options.dependencies;
  std::string target = asked.target;
  if (target.empty()) {
    // After -M, -o names the file of the rule.
    target = options.product == Product::dependencies ? source.filename().replace_extension(".o").string()
                                                      : output_of(source, ".o", options).string();
  }
  std::string rule = fmt::format("{}: {}", target, source.string()), phony;
  for (const fs::path& header : program_headers(source, options.sources)) {
    rule += fmt::format(" \\\n {}", header.string());
    if (asked.phony) phony += fmt::format("{}:\n", header.string());
  }
  return rule + "\n" + phony;
}

void write_rule_beside(const fs::path& source, const fs::path& object, const CudaOptions& options) {
  if (!options.dependencies.beside) return;
  const fs::path& file = options.dependencies.file;
  write_file(file.empty() ? fs::path(object).replace_extension(".d") : file, rule_of(source, options));
}

void make_objects(const CudaOptions& options) {
  const std::vector<fs::path>& files = options.sources.files;
  if (files.size() > 1 && !options.output.empty()) throw bad_input("-c with -o takes one source, not {}", files.size());
  for (const fs::path& file : files) {
    const fs::path object = output_of(file, ".o", options);
    copy_to(compile_program_source(file, options.sources), object);
    write_rule_beside(file, object, options);
  }
}

void make_archive(const CudaOptions& options) {
  const fs::path archive = options.output.empty() ? fs::path("a.a") : options.output;
  std::error_code error;
  fs::remove(archive, error);
  std::vector<std::string> command{"ar", "rcs", archive.string()};
  for (const fs::path& file : options.sources.files) {
    command.push_back(is_program_source(file) ? compile_program_source(file, options.sources).string() : file.string());
  }
  const ProcessRun run = run_process(command.front(), command, options.sources.limit_s);
  if (run.status != 0) throw bad_input("{}: {}{}", archive.string(), run.complaint, run.output);
}

void make_program(const CudaOptions& options) {
  const fs::path program = options.output.empty() ? fs::path("a.out") : options.output;
  copy_to(build_program(options.sources), program);
  const std::vector<fs::path>& files = options.sources.files;
  if (files.size() == 1 && is_program_source(files.front())) write_rule_beside(files.front(), program, options);
}

/// What links the objects of -dc for a GPU has nothing to do here: makes an object without code.
void make_device_link(const CudaOptions& options) {
  const fs::path object = options.output.empty() ? fs::path("a_dlink.o") : options.output;
  const fs::path empty = object.string() + ".cc";
  write_file(empty, std::string());
  ProgramSources nothing;
  copy_to(compile_program_source(empty, nothing), object);
  std::error_code error;
  fs::remove(empty, error);
}

void print_rules(const CudaOptions& options) {
  std::string rules;
  for (const fs::path& file : options.sources.files) rules += rule_of(file, options);
  const fs::path& target = options.output.empty() ? options.dependencies.file : options.output;
  target.empty() ? static_cast<void>(std::fputs(rules.c_str(), stdout)) : write_file(target, rules);
}

}  // namespace

void build(const CudaOptions& options) {
  switch (options.product) {
    case Product::program:
      return make_program(options);
    case Product::object:
      return make_objects(options);
    case Product::archive:
      return make_archive(options);
    case Product::device_link:
      return make_device_link(options);
    case Product::dependencies:
      return print_rules(options);
  }
}

}  // namespace convlab::app
