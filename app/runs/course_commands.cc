// convlab m1.1, m1.2, m2.1, m3.1, m4.1, final: the course's scripts, with their arguments and their output lines.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/guests/guest_kernels.h"
#include "app/results/course_lines.h"
#include "app/results/run_json.h"
#include "app/runs/classification.h"
#include "app/semester_option.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/cuda.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/registry.h"

namespace convlab::app {
namespace {

constexpr int64_t kCourseImages = 10000;
constexpr int64_t kSimtImages = 10;  ///< simt takes a second for each of them
constexpr const char* kSemester = "fa19";

/// One of the course's scripts: which convolution it runs, and where.
struct Script {
  std::string_view name, device;
  std::string_view kernel;         ///< --kernel's default; "auto": the planner's choice
  std::string_view instead;        ///< what to type without a GPU
  bool library = false;            ///< the library's convolution, and its output line
  bool model_in_fa17 = false;      ///< fa17's accepts MODEL IMAGES
  bool announced_in_fa17 = false;  ///< fa17's output begins with "New Inference"
};

constexpr Script kM11{.name = "m1.1", .device = "cpu", .kernel = "onednn", .library = true, .announced_in_fa17 = true};
constexpr Script kM12{.name = "m1.2",
                      .device = "cuda",
                      .kernel = "cudnn",
                      .instead = "m1.1 10",
                      .library = true,
                      .announced_in_fa17 = true};
constexpr Script kM21{
    .name = "m2.1", .device = "cpu", .kernel = "cpu.direct", .model_in_fa17 = true, .announced_in_fa17 = true};
// Our own convolution on the GPU, in the course's order: first the basic kernel, then the best one tried, and last the
// planner's choice. m4.1 runs the fastest fp32 rung, by the table of docs/measured/ladder.md.
constexpr Script kM31{.name = "m3.1",
                      .device = "cuda",
                      .kernel = "cuda.basic",
                      .instead = "m3.1 10 --device simt",
                      .model_in_fa17 = true};
constexpr Script kM41{
    .name = "m4.1", .device = "cuda", .kernel = "cuda.tensor_core_3xfp16", .instead = "m4.1 10 --device simt"};
constexpr Script kFinal{
    .name = "final", .device = "cuda", .kernel = "auto", .instead = "final 10 --device simt", .model_in_fa17 = true};

struct CourseOptions {
  std::string semester;  ///< "" for the kernel file's, otherwise kSemester
  std::vector<std::string> arguments;
  ClassifyOptions classify;
};

/// Returns the shipped model that a script loads for a semester; `course_model`: fa17's MODEL.
std::string model_of(const Script& script, const std::string& semester, const std::string& course_model) {
  if (semester == "fa17") return course_model == "ece408-low" ? "fa17-low" : "fa17-high";
  if (semester == "sp19" && script.library) return "sp19-library";
  return semester;
}

void read_arguments(const Script& script, CourseOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  std::string course_model = "ece408-high";
  const bool takes_model = options.semester == "fa17" && script.model_in_fa17;
  // A number alone is IMAGES, whatever the semester.
  if (takes_model && !arguments.empty() && !std::isdigit(static_cast<unsigned char>(arguments[0][0]))) {
    course_model = arguments[0];
    if (course_model != "ece408-high" && course_model != "ece408-low") {
      throw bad_input("MODEL must be ece408-high or ece408-low, got '{}'", course_model);
    }
    arguments.erase(arguments.begin());
  }
  if (arguments.size() > 1) {
    throw bad_input("{} {}: too many arguments; expected {} {}IMAGES", script.name, fmt::join(options.arguments, " "),
                    script.name, takes_model ? "MODEL " : "");
  }
  options.classify.images = options.classify.compute.device == "simt" ? kSimtImages : kCourseImages;
  if (!arguments.empty()) {
    // As in the scripts: any number is accepted and then clamped to the valid range.
    options.classify.images = std::clamp<int64_t>(parse_int(arguments[0], "IMAGES", 0, INT64_MAX), 1, kCourseImages);
  }
  options.classify.model = model_of(script, options.semester, course_model);
}

/// Whether simt can replace the script's GPU; libraries have only machine code, which it cannot run.
bool takes_simt(const Script& script) { return script.device == "cuda" && !script.library; }

/// Returns the device of a script without --device: simt executes the CUDA kernels if there is no GPU.
std::string default_device(const Script& script) {
  return std::string(takes_simt(script) && !cuda_present() && simt_present() ? "simt" : script.device);
}

/// Opens the script's device; if it is missing, throws an Error that says what to do.
std::unique_ptr<Device> open_device_of(const Script& script, const ComputeOptions& compute) {
  if (compute.device == "cuda" && !cuda_present()) {
    throw unavailable("{} needs a GPU; cuda is {}; without a GPU, use 'convlab {}'", script.name,
                      list_cuda().front().description, script.instead);
  }
  std::unique_ptr<Device> device = compute.open();
  if (script.device == "cuda" && !device->caps().runs_cuda()) {
    throw bad_input("--device {}: {} needs a GPU; use cuda, cuda:N or simt", compute.device, script.name);
  }
  return device;
}

/// For a kernel file: uses its semester, and throws Error(bad_input) if the script runs on another device.
void suit_kernel_file(const Script& script, CourseOptions& options) {
  const std::string& kernel = options.classify.compute.kernel;
  if (!names_kernel_file(kernel)) return;
  const KernelSource source = read_kernel_source(kernel);
  if (source.cuda != (script.device == "cuda")) {
    throw bad_input("{}: file is for {}, but {} runs on {}; use 'convlab {} --kernel {}'", kernel,
                    source.cuda ? "GPUs" : "CPUs", script.name, source.cuda ? "the CPU" : "a GPU",
                    source.cuda ? kM31.name : kM21.name, kernel);
  }
  if (options.semester.empty() && !source.semester_is_guess) options.semester = source.semester;
}

void run_script(const Script& script, CourseOptions& options, Output& output) {
  read_arguments(script, options);
  options.classify.plan = PlanMode::layers;
  const ComputeOptions& compute = options.classify.compute;
  const std::unique_ptr<Device> device = open_device_of(script, compute);
  if (script.library && find_kernel(compute.kernel, device->caps().kind) == nullptr) {
    throw unavailable("{} needs {}, which this build does not include; see 'convlab list kernels'", script.name,
                      compute.kernel);
  }
  const std::unique_ptr<Classifier> classifier = load_classifier(options.classify);
  const bool announced_first = options.semester == "fa17" && script.announced_in_fa17;
  if (announced_first) output.print("{}", kNewInference);
  output.print("{}{}", kLoadingData, kLoadingModel);
  if (!announced_first) output.print("{}", kNewInference);
  const Classification result = classify(*classifier, 1);
  if (script.library) {
    print_eval_metric(output, result);
  } else {
    print_op_times(output, result);
    print_correctness(output, result, classifier->course_model);
  }
  if (output.wants_json()) write_json(output, *run_json(options.classify, *classifier, result, output));
}

template <const Script& script>
Action declare_script(CLI::App& parser) {
  auto options = std::make_shared<CourseOptions>();
  ComputeOptions& compute = options->classify.compute;
  compute.kernel = script.kernel;
  add_texts(parser, "ARGS", options->arguments, 0, 2, "",
            fmt::format("IMAGES, from 1 to 10000{} (default: 10000{})",
                        script.model_in_fa17 ? "; for fa17, MODEL IMAGES with MODEL ece408-high or ece408-low" : "",
                        takes_simt(script) ? ", on simt 10" : ""));
  add_semester(parser, options->semester,
               "semester of the network and output lines; sp25 is the network since fall 2020, with fa19's lines "
               "(default: that of "
               "the kernel file, or fa19)");
  add_text(parser, "--data", options->classify.data, "DIR", "folder of the idx files, as for 'convlab run'");
  if (takes_simt(script)) {
    add_text(parser, "--device", compute.device, "D",
             "auto (cuda, or simt without a GPU), cuda, cuda:1, or simt, which runs the same CUDA kernels on the CPU "
             "(default: auto)");
  }
  if (!script.library) {
    add_text(parser, "--kernel", compute.kernel, "K",
             fmt::format("kernel or kernel file for all convolutions; auto: the planner chooses (default: {})",
                         script.kernel));
  }
  add_threads(parser, compute);
  return [options](Output& output) {
    ComputeOptions& asked = options->classify.compute;
    suit_kernel_file(script, *options);
    if (options->semester.empty()) options->semester = kSemester;
    const std::string device = asked.device == "auto" ? default_device(script) : asked.device;
    if (device == "simt" && asked.device == "auto") {
      note("no GPU found; running the CUDA kernels on the CPU (--device simt)");
    }
    if (run_in_guest({asked.kernel}, asked.device)) return;
    asked.device = device;
    run_script(script, *options, output);
  };
}

}  // namespace

Action declare_m11(CLI::App& parser) { return declare_script<kM11>(parser); }
Action declare_m12(CLI::App& parser) { return declare_script<kM12>(parser); }
Action declare_m21(CLI::App& parser) { return declare_script<kM21>(parser); }
Action declare_m31(CLI::App& parser) { return declare_script<kM31>(parser); }
Action declare_m41(CLI::App& parser) { return declare_script<kM41>(parser); }
Action declare_final(CLI::App& parser) { return declare_script<kFinal>(parser); }

}  // namespace convlab::app
