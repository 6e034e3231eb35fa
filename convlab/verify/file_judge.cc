#include "convlab/verify/file_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/verify/compare.h"
#include "convlab/verify/guards.h"

namespace convlab {
namespace {

using Role = GuardedBuffer::Role;

constexpr double kToleranceOfFloat = 1e-4, kToleranceOfHalf = 2e-2;

/// Of guards, and of an output that is not zeros.
constexpr float kPoisonValue = 13323083;

/// An array of the host's between guards.
class HostArray {
 public:
  HostArray(std::string name, size_t count) : name_(std::move(name)), count_(count), values_(count + 2 * kGuard) {
    std::ranges::fill(values_, kPoisonValue);
  }

  float* data() { return values_.data() + kGuard; }
  std::span<float> values() { return {data(), count_}; }
  void set(std::span<const float> from) { std::ranges::copy(from, data()); }

  void check(std::span<const float> unchanged) const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (values_[kGuard - 1 - i] != kPoisonValue)
        throw wrong_result("it wrote before the beginning of the host's {}", name_);
      if (values_[kGuard + count_ + i] != kPoisonValue)
        throw wrong_result("it wrote beyond the end of the host's {}", name_);
    }
    if (!unchanged.empty() && std::memcmp(unchanged.data(), values_.data() + kGuard, unchanged.size_bytes()) != 0) {
      throw wrong_result("it changed its input, the host's {}", name_);
    }
  }

 private:
  static constexpr size_t kGuard = 4096;
  std::string name_;
  size_t count_;
  std::vector<float> values_;
};

/// Calls the file with arrays of the host. Its own code takes them to the device and back.
std::vector<float> run_on_host(const FileEntry& entry, const ConvProblem& problem, const OracleLayer& layer,
                               FileJudge::Before before, FileVerdict& verdict) {
  const std::span<const float> images = layer.convolved->x->values<float>(),
                               filters = layer.convolved->w.values<float>();
  HostArray x("x", images.size()), w("w", filters.size()), y("y", static_cast<size_t>(problem.output_count()));
  x.set(images);
  w.set(filters);
  std::ranges::fill(y.values(), before == FileJudge::Before::zeros ? 0.0f : kPoisonValue);
  verdict.seconds = call_file(entry, problem, y.data(), x.data(), w.data());
  x.check(images);
  w.check(filters);
  y.check({});
  return {y.values().begin(), y.values().end()};
}

/// Calls the file with arrays of the device.
std::vector<float> run_on_device(const FileEntry& entry, const ConvProblem& problem, const OracleLayer& layer,
                                 FileJudge::Before before, Device& device, FileVerdict& verdict) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  const auto bytes = [](int64_t count) { return static_cast<size_t>(count) * sizeof(float); };
  GuardedBuffer x(device, *stream, "x", bytes(problem.input_count()), Role::input);
  GuardedBuffer w(device, *stream, "w", bytes(problem.filter_count()), Role::input);
  GuardedBuffer y(device, *stream, "y", bytes(problem.output_count()), Role::output);
  x.upload(*stream, layer.convolved->x->raw());
  w.upload(*stream, layer.convolved->w.raw());
  std::vector<float> output(static_cast<size_t>(problem.output_count()),
                            before == FileJudge::Before::zeros ? 0.0f : kPoisonValue);
  y.upload(*stream, output.data());
  stream->synchronize();
  verdict.seconds = call_file(entry, problem, static_cast<float*>(y.data()), static_cast<float*>(x.data()),
                              static_cast<float*>(w.data()));
  for (const GuardedBuffer* buffer : {&x, &w, &y}) buffer->check_guards(*stream, "it");
  x.check_unchanged(*stream, layer.convolved->x->raw(), "it");
  w.check_unchanged(*stream, layer.convolved->w.raw(), "it");
  y.download(*stream, output.data());
  return output;
}

/// Every element within `tolerance` of the largest value.
ErrorModel model_of(double tolerance, double largest) {
  return {.absolute = tolerance * largest, .relative_l2 = INFINITY};
}

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

void compare_as_course(const Expected& expected, std::span<const float> got, const KernelSource& source,
                       FileVerdict& verdict) {
  const double largest = largest_of(expected.value);
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - expected.value[i]) / largest;
    verdict.largest_error = std::isnan(error) ? INFINITY : std::max(verdict.largest_error, error);
  }
  const Verdict as_float = compare(expected, got, model_of(kToleranceOfFloat, largest));
  if (as_float.passed()) {
    verdict.outcome = Outcome::passed;
    return;
  }
  if (source.half || source.tf32) {
    verdict.math = source.half ? Math::fp16 : Math::tf32;
    const Verdict as_half = compare(expected, got, model_of(kToleranceOfHalf, largest));
    verdict.outcome = as_half.passed() ? Outcome::passed : Outcome::failed;
    verdict.reason = describe(as_half);
    return;
  }
  verdict.reason = describe(as_float);
}

struct Layers {
  std::string_view semester;
  std::array<std::string_view, 2> layers;
};

constexpr std::array kSemesterLayers{
    Layers{"fa19", {"c1h70w70_k12r5s5", "c12h33w33_k24r5s5"}},
    Layers{"fa18", {"c1h72w72_k12r7s7", "c12h33w33_k24r7s7"}},
    Layers{"sp19", {"c1h48w48_k6r5s5", "c6h22w22_k16r5s5"}},
    Layers{"sp18", {"c1h64w64_k6r5s5", "c6h30w30_k16r5s5"}},
    Layers{"fa17", {"c1h28w28_k50r5s5", ""}},
    Layers{"mini-dnn", {"c1h86w86_k4r7s7", "c4h40w40_k16r7s7"}},
};

}  // namespace

FileJudge::FileJudge(const FileEntry& entry, const KernelSource& source, Device& device, Oracle& oracle)
    : entry_(entry), source_(source), device_(device), oracle_(oracle) {}

FileVerdict FileJudge::judge(const ConvProblem& problem, Before before) const {
  const ConvStep step{problem};
  const std::shared_ptr<const OracleLayer> layer = oracle_.layer(step, Fill::reals, {}, 0);
  FileVerdict verdict;
  take_simt_complaint();
  take_simt_notes();
  try {
    device_.make_current();
    const std::vector<float> got = entry_.on_host ? run_on_host(entry_, problem, *layer, before, verdict)
                                                  : run_on_device(entry_, problem, *layer, before, device_, verdict);
    compare_as_course(layer->expected(), got, source_, verdict);
  } catch (...) {
    verdict.reason = message_of_exception();
    verdict.faults = simt_faults();
  }
  std::vector<SimtFault> noted = take_simt_notes();
  if (verdict.outcome == Outcome::failed && verdict.faults.empty() && !noted.empty()) {
    // Elements are wrong, and this may be why.
    verdict.reason += fmt::format("; {}", noted.front().text);
    verdict.faults = std::move(noted);
  }
  verdict.note = take_simt_complaint();
  if (verdict.outcome == Outcome::passed && verdict.note.empty() && !noted.empty()) verdict.note = noted.front().text;
  if (verdict.outcome == Outcome::failed && verdict.faults.empty() && !verdict.note.empty()) {
    verdict.reason += fmt::format("; before, {}", verdict.note);
  }
  return verdict;
}

std::vector<ConvProblem> semester_layers(const std::string& semester, int64_t n) {
  std::vector<ConvProblem> problems;
  const auto found = std::ranges::find(kSemesterLayers, semester, &Layers::semester);
  if (found == kSemesterLayers.end()) return problems;
  for (const std::string_view layer : found->layers) {
    if (layer.empty()) continue;
    problems.push_back(parse_problem(layer));
    problems.back().n = n;
  }
  return problems;
}

std::vector<std::string> possible_semesters(const KernelSource& source) {
  std::vector<std::string> semesters{source.semester};
  if (source.kind != FileKind::mxnet) return semesters;
  for (const Layers& each : kSemesterLayers) {
    if (each.semester != source.semester && each.semester != "mini-dnn") semesters.emplace_back(each.semester);
  }
  return semesters;
}

std::vector<ConvProblem> awkward_problems(const KernelSource& source) {
  // Square images and filters: all that the course's interfaces tell.
  std::vector<ConvProblem> problems;
  for (const std::string_view text : {"n1_c1h9w9_k1r3s3", "n2_c3h17w17_k5r3s3", "n3_c2h35w35_k7r5s5"}) {
    problems.push_back(parse_problem(text));
  }
  const FileFunction* call = source.find("conv_forward_gpu");
  if (call != nullptr && call->number_count() == 7) problems.push_back(parse_problem("n2_c3h17w17_k4r3s3_st2"));
  return problems;
}

}  // namespace convlab
