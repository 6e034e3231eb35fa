// Compiles, verifies and measures the variants of `convlab ablate`.

#include "app/guests/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "app/guests/guest_kernels.h"
#include "app/results/progress_line.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/limits.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/step_text.h"

namespace convlab::app {
namespace {

using Json = nlohmann::ordered_json;

/// The compiled libraries of a variant, to run and to count.
struct Compiled {
  std::string library, counted;  ///< "" for a kernel of this program that runs as it is
  std::optional<Error> error = {};
};

/// Calls work(i) for each i below `count`, on as many threads as this process may use.
template <class Work>
void on_threads(size_t count, const Work& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < std::min(count, static_cast<size_t>(usable_threads())); ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < count; i = next++) work(i);
    });
  }
}

class Measuring {
 public:
  Measuring(const VariantsOptions& options, std::vector<Variant>& variants)
      : options_(options), variants_(variants), compiled_(variants.size()), device_(options.device) {}

  VariantsMeasured run() {
    choose_device();
    measured_.device = device_;
    compile();
    {
      Progress progress("verifying", std::ssize(variants_));
      for (size_t i = 0; i < variants_.size(); ++i) {
        verify(i);
        progress.advance(1);
      }
    }
    measure();
    if (options_.code) read_code();
    return measured_;
  }

 private:
  bool counts() const { return device_ == "simt"; }

  /// Chooses the device that suits the files and the option --device.
  void choose_device() {
    for (const Variant& each : variants_) {
      if (each.source) device_ = device_for(*each.source, device_);
    }
  }

  void compile() {
    on_threads(variants_.size(), [&](size_t i) { compile(i); });
    for (size_t i = 0; i < variants_.size(); ++i) {
      const std::optional<Error>& error = compiled_[i].error;
      if (!error) continue;
      if (error->kind() == ErrorKind::unavailable) throw Error(*error);
      fail(i, FileOutcome::not_compiled, error->what());
    }
  }

  void compile(size_t i) {
    const Variant& variant = variants_[i];
    Compiled& result = compiled_[i];
    try {
      if (variant.source)
        result.library =
            compile_for(*variant.source, device_, GuestWork::running, variant.definitions).library.string();
      if (!counts()) return;
      const KernelSource source = variant.source ? *variant.source : read_kernel_source(path_of_kernel(variant.label));
      result.counted = compile_for(source, device_, GuestWork::counting, variant.definitions).library.string();
    } catch (const Error& error) {
      result.error = error;
    }
  }

  /// Verifies a file in child processes, which it may crash.
  void verify(size_t i) {
    const Variant& variant = variants_[i];
    if (!variant.source || !variant.measured()) return;
    const FileTrial trial({.threads = options_.threads, .limit_seconds = options_.limit_seconds}, *variant.source,
                          device_, compiled_[i].library);
    ConvProblem few = conv_step(options_.step).problem;
    few.n = std::min<int64_t>(few.n, 2);
    std::string printed;
    try {
      const CaseReport report =
          trial.ask(cases_of({few}, FileCase::Purpose::verdict), printed, [](const CaseReport&) {}).front();
      if (report.passed()) return;
      fail(i, report.outcome == FileOutcome::skipped ? FileOutcome::refused : report.outcome,
           fmt::format("{}: {}", to_text(few), report.reason));
    } catch (const Error& error) {  // it cannot be loaded
      if (error.kind() == ErrorKind::unavailable) throw;
      fail(i, FileOutcome::not_compiled, error.what());
    }
  }

  void fail(size_t i, FileOutcome outcome, std::string reason) {
    variants_[i].outcome = outcome;
    variants_[i].reason = std::move(reason);
  }

  void read_code() {
    const Toolchain toolchain = device_ == "cpu" ? Toolchain::cpu : Toolchain::nvcc;
    if (counts() && found_tool("nvcc").empty()) return;  // without nvcc, there is no GPU code to show
    std::vector<std::optional<Error>> errors(variants_.size());
    try {
      require_disassembler(toolchain);
      on_threads(variants_.size(), [&](size_t i) {
        try {
          if (variants_[i].source && variants_[i].measured()) variants_[i].code = code_of(i);
        } catch (const Error& error) {
          errors[i] = error;
        }
      });
    } catch (const Error& error) {
      errors.front() = error;
    }
    const auto error = std::ranges::find_if(errors, [](const auto& each) { return each.has_value(); });
    if (error != errors.end()) {
      measured_.no_code_why = (*error)->what();
      for (Variant& each : variants_) each.code.reset();
    } else if (toolchain == Toolchain::cpu) {
      measured_.code_of = "the host compiler";
    } else if (counts()) {
      measured_.code_of = fmt::format("nvcc for compute capability {}.{}", kCapability / 10, kCapability % 10);
    } else {
      measured_.code_of = "nvcc for this GPU";
    }
  }

  MachineCode code_of(size_t i) const {
    if (device_ == "cpu") return machine_code_of(compiled_[i].library, Toolchain::cpu);
    if (!counts()) return machine_code_of(compiled_[i].library, Toolchain::nvcc);
    const CompileOptions options{.compute_capability = kCapability,
                                 .output = CompilerOutput::machine_code,
                                 .definitions = variants_[i].definitions};
    return machine_code_of(compile_kernel_file(*variants_[i].source, Toolchain::nvcc, options).library, Toolchain::nvcc,
                           variants_[i].launched);
  }

  /// Measures all variants that passed, in one child process.
  void measure() {
    std::vector<std::string> arguments{"convlab", "measure-variants", "--device",
                                       device_,   "--problem",        problem_text(options_.step)};
    const auto add = [&](const char* name, const auto& value) {
      arguments.insert(arguments.end(), {name, fmt::format("{}", value)});
    };
    if (options_.threads > 0) add("--threads", options_.threads);
    add("--seconds", options_.effort.seconds);
    add("--samples", options_.effort.most);
    add("--spread", options_.effort.spread);
    if (counts()) arguments.emplace_back("--count");
    std::vector<GuestKernel> kernels;
    std::vector<size_t> asked;
    for (size_t i = 0; i < variants_.size(); ++i) {
      const Variant& each = variants_[i];
      if (!each.measured()) continue;
      const std::string& library = counts() ? compiled_[i].counted : compiled_[i].library;
      const std::string path = each.source ? each.source->path.string() : counts() ? path_of_kernel(each.label) : "";
      if (!library.empty()) kernels.push_back({device_, library, path, each.label});
      asked.push_back(i);
      arguments.push_back(each.label);
    }
    if (asked.empty()) return;
    run_guest_with(kernels, std::move(arguments), [&](std::string_view line) {
      try {
        receive(parse_json(line, "answer of a child process"), asked);
      } catch (const std::exception&) {  // not our line: a file wrote to our file descriptor
      }
    });
  }

  void receive(const Json& json, const std::vector<size_t>& asked) {
    if (json.contains("kernel")) {
      const size_t i = asked.at(json.at("kernel").get<size_t>());
      if (json.contains("reason")) {
        fail(i, json.at("refused").get<bool>() ? FileOutcome::refused : FileOutcome::failed,
             json.at("reason").get<std::string>());
      } else if (json.contains("ms")) {
        variants_[i].ms = json.at("ms").get<std::vector<double>>();
      } else {
        for (const auto& [name, value] : json.at("counts").items()) {
          variants_[i].counts.emplace_back(name, value.get<int64_t>());
        }
        variants_[i].launched = json.at("launched").get<std::vector<std::string>>();
      }
    } else if (json.contains("machine")) {
      measured_.members = json_text(json, -1);
      measured_.description = json.at("machine").at("device").get<std::string>();
      if (json.contains("waited_share")) measured_.waited_share = json.at("waited_share").get<double>();
    } else if (json.contains("device")) {
      measured_.device = json.at("device").get<std::string>();
    }
  }

  /// The compute capability whose machine code is shown on simt: Hopper's.
  static constexpr int kCapability = 90;

  const VariantsOptions& options_;
  std::vector<Variant>& variants_;
  std::vector<Compiled> compiled_;
  std::string device_;
  VariantsMeasured measured_;
};

}  // namespace

VariantsMeasured measure_variants(const VariantsOptions& options, std::vector<Variant>& variants) {
  return Measuring(options, variants).run();
}

}  // namespace convlab::app
