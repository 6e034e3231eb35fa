// Registers loaded kernel files as convolution kernels.

#include "convlab/kernel_file/file_kernel.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernel_file/passed_shapes.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// State that a Kernel's plain function pointers cannot carry: each loaded file has a slot and its own functions.
struct Place {
  std::string name;  ///< of the kernel
  const FileEntry* entry = nullptr;
  bool zero_before = false;
  PassedShapes shapes;
};
std::array<Place, kMostFiles> places;
int taken = 0;

Refusal refusal(const Place& place, const ConvStep& step) {
  if (Refusal refusal = refuse_unless_plain(step)) return refusal;
  return place.shapes.refuses(step.problem);
}

std::vector<FilePhases> phases;

void keep(const std::string& file, const std::string& problem, const PhaseSeconds& seconds) {
  auto at =
      std::ranges::find_if(phases, [&](const auto& each) { return each.file == file && each.problem == problem; });
  if (at == phases.end()) at = phases.insert(at, {.file = file, .problem = problem, .launches = {}});
  at->launches.push_back(seconds);
}

/// A host array that is kept for the next launch, because page faults on fresh memory take longer than many kernels.
class KeptArray {
 public:
  std::span<float> of(int64_t count) {
    if (std::ssize(values_) < count) values_ = std::vector<float>(static_cast<size_t>(count));
    return std::span(values_).first(static_cast<size_t>(count));
  }

 private:
  std::vector<float> values_;
};

/// Runs a file that copies host arrays to the device and back itself. Only its call counts as the operator's time.
void launch_from_host(const Place& place, const ConvArgs& args, Stream& stream) {
  static KeptArray kept_x, kept_w, kept_y;
  const ConvProblem& problem = args.step.problem;
  const Clock::time_point begin = Clock::now();
  const std::span<float> x = kept_x.of(problem.input_count()), w = kept_w.of(problem.filter_count()),
                         y = kept_y.of(problem.output_count());
  std::ranges::fill(y, 0.0f);
  stream.download(x.data(), args.x, x.size_bytes());
  stream.download(w.data(), args.w, w.size_bytes());
  stream.synchronize();
  const PhaseSeconds seconds = call_file(*place.entry, problem, y.data(), x.data(), w.data());
  SetAside& aside = stream.attached<SetAside>();
  if (place.entry->forward == nullptr) {
    keep(place.name, to_text(problem), seconds);
    aside.layer_seconds += seconds.layer();
    aside.early |= seconds.early;
  }
  stream.upload(args.y, y.data(), y.size_bytes());
  stream.synchronize();
  aside.seconds += seconds_since(begin) - seconds.call;
}

void launch_at(const Place& place, const ConvArgs& args, Stream& stream) {
  const FileEntry& entry = *place.entry;
  if (entry.on_host && !stream.caps().shares_host_memory()) {
    return launch_from_host(place, args, stream);
  }
  if (place.zero_before) {
    stream.fill(args.y, 0, static_cast<size_t>(args.step.problem.output_count()) * sizeof(float));
  }
  stream.synchronize();  // the file launches work on its own streams
  call_file(entry, args.step.problem, args.y, const_cast<float*>(static_cast<const float*>(args.x)),
            const_cast<float*>(args.w));
}

template <int kPlace>
Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  return refusal(places[kPlace], step);
}

template <int kPlace>
void launch(const ConvArgs& args, Stream& stream) {
  launch_at(places[kPlace], args, stream);
}

template <int... kPlace>
Kernel kernel_at(int place, std::integer_sequence<int, kPlace...>) {
  constexpr std::array kKernels{Kernel{.refuses = of_conv<refuses<kPlace>>, .launch = of_conv<launch<kPlace>>}...};
  return kKernels[static_cast<size_t>(place)];
}

void register_entry(const std::string& name, const FileEntry& entry, const KernelSource& source, DeviceKind device) {
  if (taken == kMostFiles) throw bad_input("at most {} kernel files are supported at once", kMostFiles);
  places[static_cast<size_t>(taken)] = {
      .name = name, .entry = &entry, .zero_before = source.kind != FileKind::function, .shapes = passed_shapes(source)};
  Kernel kernel = kernel_at(taken++, std::make_integer_sequence<int, kMostFiles>());
  kernel.info = {.device = device,
                 .math = source.half   ? Math::fp16
                         : source.tf32 ? Math::tf32
                                       : Math::fp32,
                 .repeat = Repeat::order_dependent,
                 .idea = "a kernel file"};
  const RegisterKernel registered(kernel);
}

}  // namespace

const std::vector<FilePhases>& file_phases() { return phases; }

bool computes_in_prolog(std::string_view kernel) {
  return std::ranges::any_of(phases, [&](const FilePhases& each) { return each.file == kernel && each.early(); });
}

void load_kernel_file(const KernelSource& source, const std::filesystem::path& library, const std::string& name,
                      DeviceKind device) {
  const FileRegistration registration(name);
  const LoadedFile file(library);
  if (file.entry() != nullptr) register_entry(name, *file.entry(), source, device);
  if (registration.count() != 1) {
    throw bad_input("{}: a kernel file must register exactly one convolution kernel, got {}", name,
                    registration.count());
  }
  if (find_kernel(name, device) == nullptr) {
    throw bad_input("{}: the kernel is not for device {}", name, name_of(device));
  }
}

}  // namespace convlab
