// Compares a kernel file with the convolution modulo a prime.

#include "convlab/verify/file_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/prime_numbers.h"
#include "convlab/base/rng.h"
#include "convlab/device/simt.h"
#include "convlab/kernel_file/passed_shapes.h"
#include "convlab/verify/guards.h"
#include "convlab/verify/noticed.h"

namespace convlab {
namespace {

using Numbers = std::vector<uint32_t>;

constexpr int kPoints = 3;

/// Returns random numbers that depend on inputs.
Numbers random_inputs(int64_t count, Rng& random) {
  Numbers numbers(static_cast<size_t>(count));
  for (uint32_t& each : numbers) {
    each = static_cast<uint32_t>(random.integer(0, prime::kPrime - 1)) | prime::kOfInput;
  }
  return numbers;
}

/// Runs what is to be proved on these inputs and returns its outputs, which are 0 before.
using Run = std::function<Numbers(const Numbers& x, const Numbers& w)>;

size_t bytes_of(const Numbers& numbers) { return numbers.size() * sizeof(uint32_t); }

/// The arrays of a convolution in device memory.
class DeviceArrays {
 public:
  DeviceArrays(const ConvProblem& problem, Device& device, const Numbers& x, const Numbers& w)
      : stream_(device.make_stream()),
        outputs_(static_cast<size_t>(problem.output_count())),
        x_(device, *stream_, "x", bytes_of(x), GuardedBuffer::Role::input),
        w_(device, *stream_, "w", bytes_of(w), GuardedBuffer::Role::input),
        y_(device, *stream_, "y", bytes_of(outputs_), GuardedBuffer::Role::output) {
    x_.upload(*stream_, x.data());
    w_.upload(*stream_, w.data());
    y_.upload(*stream_, outputs_.data());
    stream_->synchronize();
  }

  Stream& stream() { return *stream_; }
  float* x() const { return static_cast<float*>(x_.data()); }
  float* w() const { return static_cast<float*>(w_.data()); }
  float* y() const { return static_cast<float*>(y_.data()); }

  Numbers outputs() {
    y_.download(*stream_, outputs_.data());
    return outputs_;
  }

 private:
  std::unique_ptr<Stream> stream_;
  Numbers outputs_;
  GuardedBuffer x_, w_, y_;
};

Numbers run_file(const FileEntry& entry, const ConvProblem& problem, Device& device, Numbers x, Numbers w) {
  if (entry.on_host) {
    Numbers y(static_cast<size_t>(problem.output_count()));
    const auto as_floats = [](Numbers& numbers) { return reinterpret_cast<float*>(numbers.data()); };
    call_file(entry, problem, as_floats(y), as_floats(x), as_floats(w));
    return y;
  }
  DeviceArrays arrays(problem, device, x, w);
  call_file(entry, problem, arrays.y(), arrays.x(), arrays.w());
  return arrays.outputs();
}

Numbers run_kernel(const Kernel& kernel, const ConvProblem& problem, Device& device, const Numbers& x,
                   const Numbers& w) {
  const ConvStep step{.problem = problem};
  DeviceArrays arrays(problem, device, x, w);
  Stream& stream = arrays.stream();
  const auto scratch = [&](const char* name, size_t bytes) {
    return GuardedBuffer(device, stream, name, bytes, GuardedBuffer::Role::output);
  };
  const GuardedBuffer prepared = scratch("prepared", prepared_bytes(kernel, step, device.caps()));
  const GuardedBuffer workspace = scratch("workspace", workspace_bytes(kernel, step, device.caps()));
  ConvArgs args{
      .step = step, .x = arrays.x(), .w = arrays.w(), .prepared = prepared.data(), .workspace = workspace.data()};
  if (kernel.prepare != nullptr) call(kernel.prepare, args, stream);
  args.y = arrays.y();
  if (kernel.packs_weights) args.w = nullptr;
  call(kernel.launch, args, stream);
  return arrays.outputs();
}

/// The convolution modulo the prime.
class Convolution {
 public:
  Convolution(const ConvProblem& problem, std::span<const uint32_t> x, std::span<const uint32_t> w)
      : problem_(problem), x_(x), w_(w) {}

  uint32_t at(int64_t n, int64_t k, int64_t p, int64_t q) const {
    const ConvProblem& problem = problem_;
    const int64_t channels = problem.channels_per_group(), first_channel = k / problem.maps_per_group() * channels;
    uint32_t sum = 0;
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t plane = (n * problem.c + first_channel + c) * problem.h;
      for (int64_t r = 0; r < problem.r; ++r) {
        const int64_t row = p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
        if (row < 0 || row >= problem.h) continue;
        for (int64_t s = 0; s < problem.s; ++s) {
          const int64_t column = q * problem.stride_w + s * problem.dilation_w - problem.pad_left;
          if (column < 0 || column >= problem.w) continue;
          sum = prime::sum(sum,
                           prime::product(prime::number_of(x_[(plane + row) * problem.w + column]),
                                          prime::number_of(w_[((k * channels + c) * problem.r + r) * problem.s + s])));
        }
      }
    }
    return sum;
  }

 private:
  const ConvProblem& problem_;
  std::span<const uint32_t> x_, w_;
};

/// Returns the first output that is not the convolution's, as text; nullopt if there is none.
std::optional<std::string> first_difference(const ConvProblem& problem, const Numbers& x, const Numbers& w,
                                            const Numbers& y) {
  const Convolution convolution(problem, x, w);
  size_t at = 0;
  for (int64_t n = 0; n < problem.n; ++n) {
    for (int64_t k = 0; k < problem.k; ++k) {
      for (int64_t p = 0; p < problem.p(); ++p) {
        for (int64_t q = 0; q < problem.q(); ++q, ++at) {
          if (prime::number_of(y[at]) != convolution.at(n, k, p, q)) return fmt::format("y[{},{},{},{}]", n, k, p, q);
        }
      }
    }
  }
  return std::nullopt;
}

/// Returns the largest degree of the outputs.
uint32_t degree_of(const Run& run, const ConvProblem& problem) {
  const auto of_degree_one = [](int64_t count) { return Numbers(static_cast<size_t>(count), 1 | prime::kOfInput); };
  set_simt_field(SimtField::degrees);
  const Numbers y = run(of_degree_one(problem.input_count()), of_degree_one(problem.filter_count()));
  set_simt_field(SimtField::values);
  uint32_t degree = 0;
  for (const uint32_t each : y) {
    if ((each & prime::kOfInput) != 0) degree = std::max(degree, prime::number_of(each));
  }
  return std::max(degree, 2u);  // the convolution's own
}

void prove(const Run& run, const ConvProblem& problem, FileProof& proof) {
  Rng random(std::random_device{}());
  for (; proof.points < kPoints; ++proof.points) {
    const Numbers x = random_inputs(problem.input_count(), random), w = random_inputs(problem.filter_count(), random);
    if (const std::optional<std::string> where = first_difference(problem, x, w, run(x, w))) {
      proof.outcome = FileProof::Outcome::refuted;
      proof.reason =
          fmt::format("{} is another polynomial than the convolution's: wrong also without rounding", *where);
      return;
    }
  }
  proof.degree = degree_of(run, problem);
  const double outputs = static_cast<double>(problem.output_count());
  proof.log2_probability =
      proof.points * std::log2(proof.degree / static_cast<double>(prime::kPrime)) + std::log2(outputs);
  constexpr double kEnough = -50;
  if (proof.log2_probability > kEnough) {
    proof.reason = fmt::format("its outputs may have degree {}, too much for {} points", proof.degree, proof.points);
    return;
  }
  proof.outcome = FileProof::Outcome::proved;
}

FileProof proof_of(const Run& run, const ConvProblem& problem, const Refusal& refusal) {
  FileProof proof;
  if (refusal) {
    proof.reason = *refusal;
    return proof;
  }
  try {
    prove(run, problem, proof);
  } catch (...) {
    proof.outcome = FileProof::Outcome::not_provable;
    proof.reason = reason_of(findings_of_exception());
  }
  return proof;
}

}  // namespace

FileProof prove_file(const FileEntry& entry, const KernelSource& source, const ConvProblem& problem, Device& device) {
  const auto run = [&](const Numbers& x, const Numbers& w) { return run_file(entry, problem, device, x, w); };
  return proof_of(run, problem, passed_shapes(source).refuses(problem));
}

FileProof prove_kernel(const Kernel& kernel, const ConvProblem& problem, Device& device) {
  const auto run = [&](const Numbers& x, const Numbers& w) { return run_kernel(kernel, problem, device, x, w); };
  return proof_of(run, problem, kernel.refuses(ConvStep{.problem = problem}, device.caps()));
}

}  // namespace convlab
