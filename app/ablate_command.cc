// convlab ablate: measures what each of several optimizations gains, alone and combined with the others.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/guest_kernels.h"
#include "app/guests/variants.h"
#include "app/problems.h"
#include "app/results/ablation_table.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_text.h"

namespace convlab::app {
namespace {

constexpr int kMostSwitches = 10;       // 22 variants
constexpr int kMostForEverySubset = 5;  // 32 variants
constexpr int kMostKernels = kMostFiles;
constexpr const char* kProblem = "c12h33w33_k24r5s5";  // fa19's second convolution

struct AblateOptions {
  std::vector<std::string> kernels;
  std::string together, problem = kProblem, picture;
  int64_t images = 0;
  ComputeOptions compute;
  Effort effort;
  int64_t most_samples = 500;
  bool every = false, no_code = false;
};

/// Returns "none", "WITH_A", "WITH_A WITH_B", "all but WITH_C", or "all".
std::string label_of(const std::vector<Switch>& switches, SwitchSet set) {
  const SwitchSet all = all_of(static_cast<int>(switches.size()));
  if (set == 0) return "none";
  if (set == all) return "all";
  std::vector<std::string> on, off;
  for (size_t i = 0; i < switches.size(); ++i) ((set >> i & 1U) != 0 ? on : off).push_back(switches[i].name);
  return off.size() == 1 && on.size() > 1 ? "all but " + off.front() : fmt::format("{}", fmt::join(on, " "));
}

/// Returns the ablation of one file's switches: a variant for each subset that is measured.
Ablation of_switches(const AblateOptions& options) {
  const std::string& file = options.kernels.front();
  if (!names_kernel_file(file)) {
    throw bad_input("{}: only one kernel given; add another to compare with, or use a kernel file that has switches",
                    file);
  }
  const KernelSource source = read_kernel_source(file);
  Ablation ablation{.file = file, .switches = switches_of(source)};
  const auto count = static_cast<int>(ablation.switches.size());
  if (count == 0) {
    throw bad_input(
        "{}: no switches found; put each optimization between '#ifdef WITH_SOMETHING' and '#endif', and the code "
        "without it after '#else'",
        file);
  }
  const int most = options.every ? kMostForEverySubset : kMostSwitches;
  if (count > most) {
    throw bad_input("{}: {} switches are too many; {} supports at most {}{}", file, count,
                    options.every ? "--all" : "convlab ablate", most,
                    options.every && count <= kMostSwitches ? "; omit --all" : "");
  }
  if (!options.together.empty()) throw bad_input("--together {} needs several kernels, not one file", options.together);
  ablation.sets = ablation_subsets(count, options.every ? Subsets::every : Subsets::alone_and_left_out);
  for (const SwitchSet set : ablation.sets) {
    ablation.variants.push_back({.label = label_of(ablation.switches, set),
                                 .source = source,
                                 .definitions = definitions_of(ablation.switches, set)});
  }
  return ablation;
}

/// Returns the comparison of several kernels, each with the first.
Ablation of_kernels(const AblateOptions& options) {
  if (options.every) throw bad_input("--all needs one file with switches, not several kernels");
  if (std::ssize(options.kernels) > kMostKernels) {
    throw bad_input("too many kernels: at most {} are supported, got {}", kMostKernels, options.kernels.size());
  }
  Ablation ablation{.together = options.together};
  for (const std::string& name : options.kernels) {
    if (std::ranges::find(ablation.variants, name, &Variant::label) != ablation.variants.end()) {
      throw bad_input("kernel {} appears twice", name);
    }
    ablation.variants.push_back({.label = name});
    if (names_kernel_file(name)) ablation.variants.back().source = read_kernel_source(name);
  }
  const auto others = options.kernels.begin() + 1;
  if (!options.together.empty() &&
      std::find(others, options.kernels.end(), options.together) == options.kernels.end()) {
    throw bad_input("--together {} must be one of the kernels after the first", options.together);
  }
  return ablation;
}

/// Enough to keep a GPU busy, or a host for some milliseconds. simt counts one image: its counts are the same for each
/// image.
int64_t default_images(const std::string& device) { return device == "simt" ? 1 : device == "cpu" ? 100 : 10000; }

/// Returns the problem; a convolution with the number of images that the options or the device choose.
Step problem_of(const AblateOptions& options, const Ablation& ablation, const std::string& device) {
  Step step = parse_step(options.problem);
  if (is_conv(step)) {
    ConvProblem problem = conv_step(step).problem;
    const bool has_images = options.problem.starts_with("n") || options.problem.starts_with("conv_n");
    if (options.images > 0 || !has_images) problem.n = options.images > 0 ? options.images : default_images(device);
    validate(problem);
    return ConvStep{.problem = problem};
  }
  if (options.images > 0) throw bad_input("-n: only for convolutions, got {}", options.problem);
  for (const Variant& each : ablation.variants) {
    if (each.source) throw bad_input("{}: kernel files compute convolutions, not {}", each.label, options.problem);
  }
  return step;
}

/// Resolves `auto`: for files by their kind, for this program's kernels by their names.
std::string device_of(const AblateOptions& options, const Ablation& ablation) {
  const auto file =
      std::ranges::find_if(ablation.variants, [](const Variant& each) { return each.source.has_value(); });
  if (file != ablation.variants.end()) return device_for(*file->source, options.compute.device);
  if (options.compute.device != "auto") return options.compute.device;
  return find_kernel(options.kernels.front(), DeviceKind::cpu) != nullptr ? "cpu" : "auto";
}

void finish(const Ablation& ablation) {
  const auto count_of = [&](FileOutcome outcome) {
    return std::ranges::count(ablation.variants, outcome, &Variant::outcome);
  };
  const auto wrong = count_of(FileOutcome::failed) + count_of(FileOutcome::timed_out);
  const auto total = ablation.variants.size();
  if (wrong > 0) throw wrong_result("{} of {} variants are wrong and were not measured", wrong, total);
  if (count_of(FileOutcome::passed) == 0) throw bad_input("none of the {} variants could be measured", total);
}

void ablate(const AblateOptions& options, Output& output) {
  if (!options.picture.empty()) {
    require_ending("--output", options.picture, {".svg"});
    require_writable("--output", options.picture);
  }
  Ablation ablation = options.kernels.size() == 1 ? of_switches(options) : of_kernels(options);
  const std::string device = device_of(options, ablation);
  ablation.step = problem_of(options, ablation, device);

  VariantsOptions how{.step = ablation.step,
                      .device = device,
                      .threads = options.compute.threads,
                      .effort = options.effort,
                      .code = !options.no_code && !ablation.switches.empty()};
  how.effort.seconds *= static_cast<double>(ablation.variants.size());
  how.effort.most = static_cast<int>(options.most_samples);
  ablation.where = measure_variants(how, ablation.variants);
  add_figures(ablation);

  output.print("{}{}{}\n", ablation.file, ablation.file.empty() ? "" : ": ",
               fmt::format("{} variants, {} on {}", ablation.variants.size(), problem_text(ablation.step),
                           ablation.where.description.empty() ? device : ablation.where.description));
  print_ablation(output, ablation);
  if (!ablation.where.no_code_why.empty()) note("machine code is not available: {}", ablation.where.no_code_why);
  if (!options.picture.empty()) {
    write_file(options.picture, ablation_picture(ablation));
    output.print("\npicture: {}\n", options.picture);
  }
  write_json(output, ablation);
  finish(ablation);
}

}  // namespace

Action declare_ablate(CLI::App& parser) {
  auto options = std::make_shared<AblateOptions>();
  add_texts(
      parser, "KERNELS", options->kernels, 1, kAnyNumber, "",
      "a kernel file with switches (#ifdef WITH_SOMETHING), or several kernels or kernel files, each compared with "
      "the first");
  add_flag(parser, "--all", options->every,
           "measure all subsets of at most 5 switches: main effects and interactions of pairs");
  add_text(parser, "--together", options->together, "KERNEL",
           "the kernel that combines the ideas of all others; compare it with the product of their speedups");
  add_text(parser, "--problem", options->problem, "TEXT",
           fmt::format("{} (default: c12h33w33_k24r5s5)", kOperatorHelp));
  add_int(parser, "-n,--images", options->images, 1, kMostImages,
          "batch size of convolutions (default: 10000 on cuda, 100 on cpu, 1 on simt)");
  add_device(parser, options->compute);
  add_threads(parser, options->compute);
  add_text(parser, "-o,--output", options->picture, "FILE.svg", "also draw the result");
  add_flag(parser, "--no-code", options->no_code, "do not compare the machine code of the variants");
  add_real(parser, "--seconds", options->effort.seconds, 0.001, 3600, "maximum seconds for each variant (default: 1)");
  add_int(parser, "--samples", options->most_samples, 1, 1'000'000,
          "maximum number of interleaved rounds (default: 500)");
  add_real(parser, "--spread", options->effort.spread, 0.0001, 1,
           "stop when all ratios to the first variant are known to this relative error (default: 0.01)");
  return [options](Output& output) { ablate(*options, output); };
}

}  // namespace convlab::app
