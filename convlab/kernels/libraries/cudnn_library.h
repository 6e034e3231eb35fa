#pragma once

#include <cudnn.h>
#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab::cudnn {

// What the kernels cudnn and cudnn.tf32 share: the library, found when it is first used, and one way to call it.

/// The functions of libcudnn that are used here, found by name.
struct Library {
  Library();

  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnCreateTensorDescriptor) create_tensor;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor;
  decltype(&cudnnSetTensor4dDescriptor) set_tensor;
  decltype(&cudnnCreateFilterDescriptor) create_filter;
  decltype(&cudnnDestroyFilterDescriptor) destroy_filter;
  decltype(&cudnnSetFilter4dDescriptor) set_filter;
  decltype(&cudnnCreateConvolutionDescriptor) create_convolution;
  decltype(&cudnnDestroyConvolutionDescriptor) destroy_convolution;
  decltype(&cudnnSetConvolution2dDescriptor) set_convolution;
  decltype(&cudnnSetConvolutionGroupCount) set_groups;
  decltype(&cudnnSetConvolutionMathType) set_math;
  decltype(&cudnnFindConvolutionForwardAlgorithmEx) find_algorithm;
  decltype(&cudnnConvolutionForward) forward;
};

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw unavailable("libcudnn.so.9 has no {}; install cuDNN 9", name);
}

inline Library::Library() {
  // Never closed: its threads and handlers may outlive any point at which that would be safe.
  void* library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw unavailable("kernel cudnn: {}; install cuDNN 9 or choose another kernel", dlerror());
  look_up(library, "cudnnGetErrorString", error_string);
  look_up(library, "cudnnCreate", create);
  look_up(library, "cudnnDestroy", destroy);
  look_up(library, "cudnnSetStream", set_stream);
  look_up(library, "cudnnCreateTensorDescriptor", create_tensor);
  look_up(library, "cudnnDestroyTensorDescriptor", destroy_tensor);
  look_up(library, "cudnnSetTensor4dDescriptor", set_tensor);
  look_up(library, "cudnnCreateFilterDescriptor", create_filter);
  look_up(library, "cudnnDestroyFilterDescriptor", destroy_filter);
  look_up(library, "cudnnSetFilter4dDescriptor", set_filter);
  look_up(library, "cudnnCreateConvolutionDescriptor", create_convolution);
  look_up(library, "cudnnDestroyConvolutionDescriptor", destroy_convolution);
  look_up(library, "cudnnSetConvolution2dDescriptor", set_convolution);
  look_up(library, "cudnnSetConvolutionGroupCount", set_groups);
  look_up(library, "cudnnSetConvolutionMathType", set_math);
  look_up(library, "cudnnFindConvolutionForwardAlgorithmEx", find_algorithm);
  look_up(library, "cudnnConvolutionForward", forward);
}

/// The algorithm that was fastest for a problem.
struct Choice {
  cudnnConvolutionFwdAlgo_t algorithm{};
  cudnnMathType_t math{};
  double search_seconds = 0;
};

/// What a stream keeps: the library, its handle there, and the choice for each problem and math.
struct Session {
  Session() { check(library.create(&handle), "creating a handle"); }
  ~Session() { library.destroy(handle); }
  Session(const Session&) = delete;

  void check(cudnnStatus_t status, const char* what) const {
    if (status != CUDNN_STATUS_SUCCESS) throw unavailable("cuDNN: {}: {}", what, library.error_string(status));
  }

  Library library;
  cudnnHandle_t handle = nullptr;
  std::map<std::pair<std::string, Math>, Choice> choices;
};

/// The library's descriptors of one problem.
class Descriptors {
 public:
  Descriptors(const Session& session, const ConvProblem& problem) : session_(session) {
    const Library& library = session.library;
    session.check(library.create_tensor(&x), "describing x");
    session.check(library.create_tensor(&y), "describing y");
    session.check(library.create_filter(&w), "describing w");
    session.check(library.create_convolution(&convolution), "describing the convolution");
    const ConvShape shape = kernel_shape(problem);
    session.check(library.set_tensor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape.n, shape.c, shape.h, shape.w), "x");
    session.check(library.set_tensor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape.n, shape.k, shape.p, shape.q), "y");
    session.check(library.set_filter(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, shape.k, shape.channels, shape.r, shape.s),
                  "w");
    session.check(
        library.set_convolution(convolution, shape.pad_top, shape.pad_left, shape.stride_h, shape.stride_w,
                                shape.dilation_h, shape.dilation_w, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        "the convolution");
    session.check(library.set_groups(convolution, static_cast<int>(problem.groups)), "groups");
  }
  ~Descriptors() {
    session_.library.destroy_tensor(x);
    session_.library.destroy_tensor(y);
    session_.library.destroy_filter(w);
    session_.library.destroy_convolution(convolution);
  }
  Descriptors(const Descriptors&) = delete;

  void use(cudnnMathType_t math) const { session_.check(session_.library.set_math(convolution, math), "math"); }

  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;

 private:
  const Session& session_;
};

/// What an algorithm may use: enough for the fast ones on large batches, little on small ones.
inline size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  constexpr int64_t kLeast = int64_t{64} << 20, kMost = int64_t{2} << 30;
  return static_cast<size_t>(
      std::clamp<int64_t>(4 * (step.problem.input_count() + step.problem.output_count()), kLeast, kMost));
}

inline void forward(const Session& session, const Descriptors& descriptors, const ConvArgs& args,
                    const Choice& choice) {
  const float one = 1, zero = 0;
  descriptors.use(choice.math);
  session.check(session.library.forward(session.handle, &one, descriptors.x, args.x, descriptors.w, args.w,
                                        descriptors.convolution, choice.algorithm, args.workspace,
                                        workspace_bytes(args.step, {}), &zero, descriptors.y, args.y),
                "convolving");
}

/// The library's own search runs each algorithm once, and one run is often off: its candidates run again, three times
/// each, so that the same one is chosen every time.
inline Choice search(const Session& session, const Descriptors& descriptors, const ConvArgs& args, Stream& stream,
                     Math math) {
  const auto begin = Clock::now();
  constexpr int kWanted = CUDNN_CONVOLUTION_FWD_ALGO_COUNT, kTries = 3;
  std::vector<cudnnMathType_t> allowed{CUDNN_FMA_MATH};
  if (math == Math::tf32) allowed.insert(allowed.end(), {CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH});
  Choice best;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (const cudnnMathType_t asked : allowed) {
    descriptors.use(asked);
    cudnnConvolutionFwdAlgoPerf_t results[kWanted];
    int returned = 0;
    session.check(session.library.find_algorithm(session.handle, descriptors.x, args.x, descriptors.w, args.w,
                                                 descriptors.convolution, descriptors.y, args.y, kWanted, &returned,
                                                 results, args.workspace, workspace_bytes(args.step, {})),
                  "searching an algorithm");
    for (const auto& result : std::span(results).first(static_cast<size_t>(returned))) {
      if (result.status != CUDNN_STATUS_SUCCESS || std::ranges::count(allowed, result.mathType) == 0) continue;
      const Choice candidate{.algorithm = result.algo, .math = result.mathType};
      for (int attempt = 0; attempt < kTries; ++attempt) {
        const double seconds = stream.time([&] { forward(session, descriptors, args, candidate); });
        if (seconds >= best_seconds) continue;
        best_seconds = seconds;
        best = candidate;
      }
    }
  }
  if (best_seconds == std::numeric_limits<double>::infinity()) {
    throw unavailable("cuDNN has no algorithm for {} in {}", to_text(args.step.problem), name_of(math));
  }
  best.search_seconds = seconds_since(begin);
  return best;
}

inline void run(const ConvArgs& args, Stream& stream, Math math) {
  auto& session = stream.attached<Session>();
  session.check(session.library.set_stream(session.handle, static_cast<cudaStream_t>(stream.native())), "stream");
  const Descriptors descriptors(session, args.step.problem);
  const std::pair key(to_text(args.step.problem), math);
  auto found = session.choices.find(key);
  if (found == session.choices.end()) {
    found = session.choices.emplace(key, search(session, descriptors, args, stream, math)).first;
  }
  forward(session, descriptors, args, found->second);
}

/// "IMPLICIT_PRECOMP_GEMM with FMA_MATH, searched for 31.2 ms"; "" before the first run.
inline std::string choice(const ConvStep& step, Stream& stream, Math math) {
  constexpr const char* kAlgorithms[] = {
      "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT", "FFT", "FFT_TILING", "WINOGRAD", "WINOGRAD_NONFUSED"};
  constexpr const char* kMath[] = {"DEFAULT_MATH", "TENSOR_OP_MATH", "TENSOR_OP_MATH_ALLOW_CONVERSION", "FMA_MATH"};
  const auto& choices = stream.attached<Session>().choices;
  const auto found = choices.find({to_text(step.problem), math});
  if (found == choices.end()) return "";
  const Choice& chosen = found->second;
  return fmt::format("{} with {}, searched for {:.1f} ms", kAlgorithms[chosen.algorithm], kMath[chosen.math],
                     chosen.search_seconds * 1e3);
}

inline Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (step.problem.pad_top != step.problem.pad_bottom || step.problem.pad_left != step.problem.pad_right) {
    return "takes the same padding on opposite sides only";
  }
  return std::nullopt;
}

}  // namespace convlab::cudnn
