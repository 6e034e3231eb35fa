// Runs a course's kernel file on one problem and judges its output.

#include "convlab/verify/file_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/rng.h"
#include "convlab/kernel_file/passed_shapes.h"
#include "convlab/verify/compare.h"
#include "convlab/verify/diagnosis.h"
#include "convlab/verify/guards.h"
#include "convlab/verify/noticed.h"

namespace convlab {
namespace {

using Role = GuardedBuffer::Role;

constexpr double kToleranceOfFloat = 1e-4, kToleranceOfHalf = 2e-2;

/// The byte that fills guards, and outputs that are not zeroed: 13323083 as fp32.
constexpr int kUnzeroedByte = 0x4b;
const float kUnzeroed = std::bit_cast<float>(0x4b4b4b4b);

int fill_byte(FileJudge::Before before) { return before == FileJudge::Before::zeros ? 0 : kUnzeroedByte; }

/// A batch of any size with the images of a layer: the first ones in order, the others at random.
class Batch {
 public:
  Batch(const OracleLayer& layer, int64_t n, ThreadPool& threads)
      : images_(ElementType::f32, with_images(layer.convolved->x->shape(), n)), at_(static_cast<size_t>(n)) {
    const Tensor& from = *layer.convolved->x;
    const int64_t distinct = from.shape()[0], bytes = static_cast<int64_t>(from.bytes()) / distinct;
    Rng random(1);
    for (int64_t i = 0; i < n; ++i) at_[i] = i < distinct ? i : random.integer(0, distinct - 1);
    threads.parallel_for(n, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        std::memcpy(static_cast<char*>(images_.raw()) + i * bytes,
                    static_cast<const char*>(from.raw()) + at_[i] * bytes, static_cast<size_t>(bytes));
      }
    });
  }

  const Tensor& images() const { return images_; }
  /// For each image of the batch, its index in the layer.
  std::span<const int64_t> at() const { return at_; }

 private:
  static Shape with_images(Shape shape, int64_t n) {
    shape[0] = n;
    return shape;
  }
  Tensor images_;
  std::vector<int64_t> at_;
};

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double tolerance_of(const KernelSource& source) {
  return source.half || source.tf32 ? kToleranceOfHalf : kToleranceOfFloat;
}

/// Compares a batch's outputs, chunk by chunk, with those of the layer's images: every element must be within a
/// fraction of the largest value.
class Comparing {
 public:
  Comparing(const Expected& expected, std::span<const int64_t> at, const KernelSource& source, ThreadPool& threads)
      : expected_(expected),
        at_(at),
        threads_(threads),
        largest_(largest_of(expected.value)),
        model_{.absolute = tolerance_of(source) * largest_, .relative_l2 = INFINITY},
        all_(expected, model_),
        largest_errors_(static_cast<size_t>(threads.size()), 0.0) {}

  int64_t per_image() const { return element_count(expected_.shape) / expected_.shape[0]; }

  /// Adds the outputs of the batch's images first, first + 1, ...
  void add(int64_t first, std::span<const float> got) {
    const int64_t size = per_image(), count = std::ssize(got) / size;
    const std::span<const int64_t> at = at_.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    all_.add(first, at, got, threads_);
    threads_.parallel_for(count, 1, [&](int64_t begin, int64_t end, int thread) {
      double& largest = largest_errors_[static_cast<size_t>(thread)];
      for (int64_t i = begin; i < end; ++i) {
        const double* expected = &expected_.value[at[i] * size];
        for (int64_t j = 0; j < size; ++j) {
          const double error = std::abs(got[i * size + j] - expected[j]);
          largest = std::isnan(error) ? INFINITY : std::max(largest, error / largest_);
        }
      }
    });
  }

  bool found_wrong() const { return !all_.verdict().passed(); }

  /// Looks for the mistake in the whole output.
  void explain(const ConvStep& step, const OracleLayer& layer, std::span<const float> got, DeviceKind device,
               std::optional<float> before = {}) {
    const WrongOutput wrong{step, layer, at_, got, model_, before, device};
    const Cause cause = likely_cause(wrong);
    explained_ = cause.kind != Cause::Kind::uninitialized;
    finding_ = wrong_output(all_.verdict(), wrong, cause);
  }

  /// Returns whether a wrong output needs no other finding to explain it.
  bool is_explained() const { return explained_; }

  void report(FileVerdict& verdict, const KernelSource& source) const {
    const Verdict all = all_.verdict();
    verdict.largest_error = std::ranges::max(largest_errors_);
    if (verdict.largest_error > kToleranceOfFloat && tolerance_of(source) > kToleranceOfFloat) {
      verdict.math = source.half ? Math::fp16 : Math::tf32;
    }
    verdict.outcome = all.passed() ? Outcome::passed : Outcome::failed;
    if (!all.passed()) verdict.findings.push_back(finding_);
  }

 private:
  const Expected& expected_;
  std::span<const int64_t> at_;
  ThreadPool& threads_;
  double largest_;
  ErrorModel model_;
  BatchComparison all_;
  Finding finding_;
  bool explained_ = true;
  std::vector<double> largest_errors_;  ///< per thread
};

/// A host array between guards.
class HostArray {
 public:
  HostArray(std::string name, int64_t count)
      : name_(std::move(name)), count_(static_cast<size_t>(count)), values_(count_ + 2 * kGuard) {
    std::fill_n(values_.begin(), kGuard, kUnzeroed);
    std::fill_n(values_.end() - kGuard, kGuard, kUnzeroed);
    known_.emplace(data(), values().size_bytes());
  }

  float* data() { return values_.data() + kGuard; }
  std::span<float> values() { return {data(), count_}; }

  void check(std::span<const float> unchanged) const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (values_[kGuard - 1 - i] != kUnzeroed)
        throw wrong_result("the file writes before the start of host array '{}'", name_);
      if (values_[kGuard + count_ + i] != kUnzeroed)
        throw wrong_result("the file writes past the end of host array '{}'", name_);
    }
    if (!unchanged.empty() && std::memcmp(unchanged.data(), values_.data() + kGuard, unchanged.size_bytes()) != 0) {
      throw wrong_result("the file changes its input, host array '{}'", name_);
    }
  }

 private:
  static constexpr size_t kGuard = 4096;
  std::string name_;
  size_t count_;
  std::vector<float> values_;
  std::optional<SimtHostArray> known_;
};

/// Calls the file with host arrays, which its own code copies to the device and back.
void run_on_host(const FileEntry& entry, const ConvStep& step, const OracleLayer& layer, const Tensor& images,
                 FileJudge::Before before, DeviceKind device, PhaseSeconds& seconds, Comparing& comparing) {
  const ConvProblem& problem = step.problem;
  const Tensor& filters = layer.convolved->w;
  const std::span<const float> all_images = images.values<float>(), all_filters = filters.values<float>();
  HostArray x("x", problem.input_count()), w("w", problem.filter_count()), y("y", problem.output_count());
  std::ranges::copy(all_images, x.data());
  std::ranges::copy(all_filters, w.data());
  std::memset(y.data(), fill_byte(before), y.values().size_bytes());
  seconds = call_file(entry, problem, y.data(), x.data(), w.data());
  x.check(all_images);
  w.check(all_filters);
  y.check({});
  comparing.add(0, y.values());
  const float fill = before == FileJudge::Before::zeros ? 0 : kUnzeroed;
  if (comparing.found_wrong()) comparing.explain(step, layer, y.values(), device, fill);
}

/// Calls the file with device arrays.
void run_on_device(const FileEntry& entry, const ConvStep& step, const OracleLayer& layer, const Tensor& images,
                   FileJudge::Before before, Device& device, PhaseSeconds& seconds, Comparing& comparing) {
  const ConvProblem& problem = step.problem;
  const Tensor& filters = layer.convolved->w;
  const std::unique_ptr<Stream> stream = device.make_stream();
  const auto bytes = [](int64_t count) { return static_cast<size_t>(count) * sizeof(float); };
  GuardedBuffer x(device, *stream, "x", images.bytes(), Role::input);
  GuardedBuffer w(device, *stream, "w", filters.bytes(), Role::input);
  GuardedBuffer y(device, *stream, "y", bytes(problem.output_count()), Role::output);
  x.upload(*stream, images.raw());
  w.upload(*stream, filters.raw());
  stream->fill(y.data(), fill_byte(before), y.bytes());
  stream->synchronize();
  seconds = call_file(entry, problem, static_cast<float*>(y.data()), static_cast<float*>(x.data()),
                      static_cast<float*>(w.data()));
  for (const GuardedBuffer* buffer : {&x, &w, &y}) buffer->check_guards(*stream, "it");
  x.check_unchanged(*stream, images.raw(), "it");
  w.check_unchanged(*stream, filters.raw(), "it");
  constexpr int64_t kMostValues = int64_t{4} << 20;  // downloaded at a time
  const int64_t size = comparing.per_image(), at_once = std::max<int64_t>(kMostValues / size, 1);
  std::vector<float> piece(static_cast<size_t>(std::min(at_once, problem.n) * size));
  for (int64_t first = 0; first < problem.n; first += at_once) {
    const std::span<float> got =
        std::span(piece).first(static_cast<size_t>(std::min(at_once, problem.n - first) * size));
    stream->download(got.data(), static_cast<const float*>(y.data()) + first * size, got.size_bytes());
    stream->synchronize();
    comparing.add(first, got);
  }
  if (!comparing.found_wrong()) return;
  std::vector<float> all(static_cast<size_t>(problem.output_count()));
  y.download(*stream, all.data());
  comparing.explain(step, layer, all, device.caps().kind);
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
    Layers{"sp25", {"c1h86w86_k4r7s7", "c4h40w40_k16r7s7"}},
};

}  // namespace

FileJudge::FileJudge(const FileEntry& entry, const KernelSource& source, Device& device, Oracle& oracle)
    : entry_(entry), source_(source), device_(device), oracle_(oracle) {}

FileVerdict FileJudge::judge(const ConvProblem& problem, Before before) const {
  if (Refusal refusal = passed_shapes(source_).refuses(problem)) {
    return {.outcome = Outcome::skipped, .reason = std::move(*refusal)};
  }
  constexpr int64_t kMostDistinct = 64;  // images; larger batches repeat some
  ConvStep few{.problem = problem};
  few.problem.n = std::min(problem.n, kMostDistinct);
  const std::shared_ptr<const OracleLayer> layer = oracle_.layer(few, Fill::reals, {}, 0);
  const Batch batch(*layer, problem.n, oracle_.threads());
  const ConvStep step{.problem = problem};
  Comparing comparing(layer->expected(), batch.at(), source_, oracle_.threads());
  FileVerdict verdict;
  take_noticed();
  name_elements_of(step);
  try {
    device_.make_current();
    if (entry_.on_host) {
      run_on_host(entry_, step, *layer, batch.images(), before, device_.caps().kind, verdict.seconds, comparing);
    } else {
      run_on_device(entry_, step, *layer, batch.images(), before, device_, verdict.seconds, comparing);
    }
    comparing.report(verdict, source_);
  } catch (...) {
    verdict.findings = findings_of_exception();
  }
  add_noticed(take_noticed(), comparing.is_explained(), verdict.outcome, verdict.findings);
  if (verdict.outcome == Outcome::failed) verdict.reason = reason_of(verdict.findings);
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
    if (each.semester != source.semester && each.semester != "sp25") semesters.emplace_back(each.semester);
  }
  return semesters;
}

std::vector<ConvProblem> awkward_problems(const KernelSource& source) {
  std::vector<ConvProblem> problems;
  for (const std::string_view text : {"n1_c1h9w9_k1r3s3", "n2_c3h17w19_k5r3s3", "n3_c2h35w31_k7r5s5"}) {
    problems.push_back(parse_problem(text));
  }
  if (passed_shapes(source).strides) problems.push_back(parse_problem("n2_c3h17w19_k4r3s3_st2"));
  return problems;
}

}  // namespace convlab
