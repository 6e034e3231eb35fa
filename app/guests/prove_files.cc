// convlab verify FILE... --prove: proves kernel files in child processes.

#include "app/guests/prove_files.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/command.h"
#include "app/guests/guest.h"
#include "app/program.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/file_judge.h"
#include "convlab/verify/file_proof.h"

namespace convlab::app {
namespace {

constexpr const char* kWords[] = {"proved", "refuted", "not proved"};

struct FileResult {
  std::string file, problem;  ///< problem "": it concerns all
  FileProof proof;
};

FileProof not_provable(std::string why) { return {.reason = std::move(why)}; }

std::vector<ConvProblem> problems_of(const KernelSource& source, const ProveOptions& options) {
  if (!options.problems.empty()) return options.problems;
  const std::string& semester = options.semester.empty() ? source.semester : options.semester;
  std::vector<ConvProblem> layers = semester_layers(semester, options.images > 0 ? options.images : 1);
  return layers.empty() ? std::vector{parse_problem("n2_c3h17w19_k5r3s3")} : layers;
}

/// Runs the proof of one problem in a child process.
FileProof proof_of(const KernelSource& source, const std::string& library, const ConvProblem& problem, double limit_s) {
  std::optional<FileProof> proof;
  const auto on_line = [&](std::string_view line) {
    try {
      const Json json = parse_json(line, "answer of a child process");
      if (json.contains("error")) proof = not_provable(json.at("error").get<std::string>());
      if (!json.contains("outcome")) return;
      proof = FileProof{.outcome = static_cast<FileProof::Outcome>(json.at("outcome").get<int>()),
                        .reason = json.at("reason").get<std::string>(),
                        .points = json.at("points").get<int>(),
                        .degree = json.at("degree").get<uint32_t>(),
                        .log2_probability = json.at("log2_probability").get<double>()};
    } catch (const std::exception&) {  // not our line: the file wrote to our file descriptor
    }
  };
  const GuestEnd end = run_guest({"convlab", "prove-file", "--file", std::filesystem::absolute(source.path).string(),
                                  "--library", library, "--problem", to_text(problem)},
                                 limit_s, on_line);
  if (end.how != GuestEnd::How::done) return not_provable(describe(end, limit_s));
  return proof ? *std::move(proof) : not_provable("the file's code left no result");
}

/// Returns the compiler's first error: often a function that has no meaning over a prime field.
std::string compile_reason(const FindingError& error) {
  if (error.findings().empty()) return error.what();
  const Finding& first = error.findings().front();
  std::string text = first.text;
  constexpr std::string_view kType = "convlab::simt::Field";
  for (size_t at = text.find(kType); at != std::string::npos; at = text.find(kType))
    text.replace(at, kType.size(), "Field");
  return fmt::format("it does not compile with Field, a number modulo a prime, in place of float: {}: {}",
                     short_text(place_of(first)), text);
}

/// Proves a file for each of its problems, until one fails.
std::vector<FileResult> results_of(const std::string& file, const ProveOptions& options) {
  try {
    const KernelSource source = read_kernel_source(file);
    if (!source.cuda) throw bad_input("it has no CUDA kernels");
    const CompiledFile compiled = compile_kernel_file(source, Toolchain::simt, {.over_field = true});
    std::vector<FileResult> results;
    for (const ConvProblem& problem : problems_of(source, options)) {
      results.push_back(
          {file, to_text(problem), proof_of(source, compiled.library.string(), problem, options.limit_seconds)});
      if (results.back().proof.outcome != FileProof::Outcome::proved) break;
    }
    return results;
  } catch (const FindingError& error) {
    return {{file, "", not_provable(compile_reason(error))}};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unavailable) throw;
    return {{file, "", not_provable(error.what())}};
  }
}

void print(const FileResult& result, Output& output) {
  const FileProof& proof = result.proof;
  const std::string problem = result.problem.empty() ? "" : " " + result.problem;
  const std::string head = fmt::format("{:<10} {}{}", kWords[static_cast<int>(proof.outcome)], result.file, problem);
  if (proof.outcome != FileProof::Outcome::proved) return output.print("{}: {}\n", head, proof.reason);
  output.print("{}: for every input, but with a probability below 2^{:.0f} ({} points, degree {})\n", head,
               std::ceil(proof.log2_probability), proof.points, proof.degree);
}

struct ChildOptions {
  std::string file, library, problem;
};

void prove_one(const ChildOptions& options) {
  const KernelSource source = read_kernel_source(options.file);
  const std::unique_ptr<Device> device = open_device("simt", {});
  device->make_current();
  set_simt_strictness(SimtStrictness::lenient);
  const ConvProblem problem = parse_problem(options.problem);
  FileProof proof;
  if (source.kind == FileKind::own) {
    load_kernel_file(source, options.library, options.file, DeviceKind::simt);
    proof = prove_kernel(require_conv_kernel(options.file, DeviceKind::simt), problem, *device);
  } else {
    const LoadedFile file(options.library);
    proof = prove_file(*file.entry(), source, problem, *device);
  }
  tell_host(json_text(Json{{"outcome", static_cast<int>(proof.outcome)},
                           {"reason", proof.reason},
                           {"points", proof.points},
                           {"degree", proof.degree},
                           {"log2_probability", proof.log2_probability}},
                      -1));
}

}  // namespace

void prove_files(const ProveOptions& options, Output& output) {
  if (!simt_present()) throw unavailable("--prove needs simt: {}", how_to_get_simt());
  bool refuted = false, unproved = false;
  for (const std::string& file : options.files) {
    for (const FileResult& result : results_of(file, options)) {
      print(result, output);
      refuted |= result.proof.outcome == FileProof::Outcome::refuted;
      unproved |= result.proof.outcome == FileProof::Outcome::not_provable;
    }
  }
  if (refuted) throw ExitStatus{static_cast<int>(ErrorKind::wrong_result)};
  if (unproved) throw ExitStatus{static_cast<int>(ErrorKind::bad_input)};
}

Action declare_prove_file(CLI::App& options) {
  auto chosen = std::make_shared<ChildOptions>();
  add_text(options, "--file", chosen->file, "FILE", "");
  add_text(options, "--library", chosen->library, "FILE", "");
  add_text(options, "--problem", chosen->problem, "TEXT", "");
  return [chosen](Output&) {
    become_guest();
    try {
      prove_one(*chosen);
    } catch (const Error& error) {
      tell_host(json_text(Json{{"error", error.what()}}, -1));
    }
    std::fflush(nullptr);  // the parent does not wait for later output
    tell_host("done");
  };
}

}  // namespace convlab::app
