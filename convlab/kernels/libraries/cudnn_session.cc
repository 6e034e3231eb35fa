// Runs convolution steps with cuDNN, with the fastest engine found by a search at the first launch.

#include "convlab/kernels/libraries/cudnn_session.h"

#include <algorithm>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/libraries/cudnn_plans.h"

namespace convlab::cudnn {
namespace {

/// The fastest plan for a step, a math class and an alignment of the arrays.
struct Choice {
  ConvStep step;
  Math math;
  int64_t alignment;
  std::shared_ptr<const ConvGraph> graph = nullptr;
  std::optional<Plan> plan = std::nullopt;
  double search_seconds = 0;
};

/// State of a stream: the library, its handle, and the choices.
struct Session {
  Session() { library.check(library.create(&handle), "creating a handle"); }
  ~Session() {
    choices.clear();
    library.destroy(handle);
  }
  Session(const Session&) = delete;

  Library library;
  cudnnHandle_t handle = nullptr;
  std::list<Choice> choices;
};

/// Workspace bytes for an engine: enough for the fast ones on large batches, little on small ones. The workspace has
/// room for filters behind them.
size_t engine_bytes(const ConvStep& step) {
  constexpr int64_t kLeast = int64_t{64} << 20, kMost = int64_t{2} << 30;
  const int64_t arrays = 4 * (step.problem.input_count() + step.problem.output_count());
  return static_cast<size_t>(round_up(std::clamp(arrays, kLeast, kMost), 256));
}
size_t filter_bytes(const ConvStep& step) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count(), sizeof(float)));
}

void* address_of(Array array, cudnnDataType_t bias, const ConvArgs& args) {
  const bool packed = args.step.input_format == kNhwcF16;
  const auto writable = [](const void* pointer) { return const_cast<void*>(pointer); };  // cuDNN's API is not const
  switch (array) {
    case Array::x:
      return writable(args.x);
    case Array::w:
      return packed ? args.prepared : writable(args.w);
    case Array::bias:
      if (bias == CUDNN_DATA_FLOAT) return writable(args.bias);
      return static_cast<uint16_t*>(args.prepared) + rounded_bias_at(args.step.problem);
    case Array::added:
      return writable(args.added);
    case Array::y:
      return args.y;
  }
  return nullptr;
}

/// Returns the alignment of all arrays in bytes; at most 16, because engines do not benefit from more.
int64_t alignment_of(const ConvArgs& args) {
  uintptr_t all = 16;
  for (const void* array : {args.x, static_cast<const void*>(args.w), static_cast<const void*>(args.bias),
                            static_cast<const void*>(args.added), static_cast<const void*>(args.y)}) {
    all |= reinterpret_cast<uintptr_t>(array);
  }
  return static_cast<int64_t>(all & -all);
}

/// `filters` replaces the step's filters, unless nullptr.
void execute(const Session& session, const ConvGraph& graph, const Plan& plan, const ConvArgs& args,
             void* filters = nullptr) {
  std::vector<int64_t> numbers;
  std::vector<void*> addresses;
  for (const Array array : graph.arrays()) {
    numbers.push_back(static_cast<int64_t>(array));
    addresses.push_back(array == Array::w && filters != nullptr ? filters : address_of(array, graph.bias(), args));
  }
  Descriptor arrays(session.library, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  arrays.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(numbers));
  arrays.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(addresses));
  arrays.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, args.workspace);
  arrays.finalize();
  session.library.check(session.library.execute(session.handle, plan.descriptor.pointer(), arrays.pointer()),
                        fmt::format("executing engine {}", plan.engine));
}

void* nan_filters(const ConvArgs& args) {
  return static_cast<unsigned char*>(args.workspace) + engine_bytes(args.step);
}

/// Whether the engine computes NaN from nan_filters(): the ReLU of some returns 0, although the graph asks for NaN
/// propagation.
bool keeps_nan(const Session& session, const ConvGraph& graph, const Plan& plan, const ConvArgs& args, Stream& stream) {
  execute(session, graph, plan, args, nan_filters(args));
  const bool halves = args.step.output_format == kNhwcF16;
  uint32_t first = 0;  // bits of the first output element
  stream.download(&first, args.y, halves ? sizeof(uint16_t) : sizeof(float));
  stream.synchronize();
  return halves ? (first & 0x7fffu) > 0x7c00u : (first & 0x7fffffffu) > 0x7f800000u;
}

/// The library's ranking is a guess, and a single run is noisy: each plan runs three times. For an fp16 bias the
/// library has other engines than for an fp32 bias.
Choice search(const Session& session, const ConvArgs& args, Stream& stream, Math math) {
  constexpr int kTries = 3;
  const auto begin = Clock::now();
  const ConvStep& step = args.step;
  Choice best{.step = step, .math = math, .alignment = alignment_of(args)};
  std::string reason;
  double best_seconds = std::numeric_limits<double>::infinity();
  stream.fill(nan_filters(args), 0xff, filter_bytes(step));
  const auto race = [&](cudnnDataType_t bias) {
    auto graph = std::make_shared<const ConvGraph>(session.library, session.handle, step, bias, best.alignment);
    for (Plan& plan : plans_for(session.library, session.handle, *graph, math, engine_bytes(step), reason)) {
      double seconds = std::numeric_limits<double>::infinity();
      try {
        if (!keeps_nan(session, *graph, plan, args, stream)) {
          reason = fmt::format("engine {} does not propagate NaN", plan.engine);
          continue;
        }
        for (int i = 0; i < kTries; ++i) {
          seconds = std::min(seconds, stream.time([&] { execute(session, *graph, plan, args); }));
        }
      } catch (const Error& error) {
        reason = error.what();
        continue;
      }
      if (seconds >= best_seconds) continue;
      best_seconds = seconds;
      best.graph = graph;
      best.plan.emplace(std::move(plan));
    }
  };
  if (step.epilogue.bias && step.input_format == kNhwcF16) race(CUDNN_DATA_HALF);
  race(CUDNN_DATA_FLOAT);
  if (!best.plan) {
    throw unavailable("cuDNN has no engine for {}{}{} in {}{}", to_text(step.problem), step.adds ? " add " : " ",
                      to_text(step.epilogue), name_of(math), reason.empty() ? "" : ": " + reason);
  }
  best.search_seconds = seconds_since(begin);
  return best;
}

}  // namespace

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) { return engine_bytes(step) + filter_bytes(step); }

int64_t rounded_bias_at(const ConvProblem& problem) { return round_up(problem.filter_count(), 32); }

void run(const ConvArgs& args, Stream& stream, Math math) {
  auto& session = stream.attached<Session>();
  session.library.check(session.library.set_stream(session.handle, static_cast<cudaStream_t>(stream.native())),
                        "setting the stream");
  const auto found = std::ranges::find_if(session.choices, [&](const Choice& choice) {
    return choice.math == math && choice.alignment == alignment_of(args) && choice.step == args.step;
  });
  if (found != session.choices.end()) return execute(session, *found->graph, *found->plan, args);
  const Choice& chosen = session.choices.emplace_back(search(session, args, stream, math));
  execute(session, *chosen.graph, *chosen.plan, args);
}

std::string choice(const ConvStep& step, Stream& stream, Math math) {
  const auto& session = stream.attached<Session>();
  const auto found = std::ranges::find_if(
      session.choices, [&](const Choice& choice) { return choice.math == math && choice.step == step; });
  if (found == session.choices.end()) return "";
  const size_t version = session.library.version();
  return fmt::format("engine {} of cuDNN {}.{}.{}, searched for {:.1f} ms", found->plan->engine, version / 10000,
                     version / 100 % 100, version % 100, found->search_seconds * 1e3);
}

Refusal refuse_unless_plain_arrays(const ConvStep& step, const DeviceCaps&) {
  const Epilogue& epilogue = step.epilogue;
  const ActivationKind kind = epilogue.activation.kind;
  const bool fuses =
      !epilogue.pool && (kind == ActivationKind::none || (kind == ActivationKind::relu && epilogue.bias));
  if (!fuses) return "only a fused bias, or bias and ReLU, is supported";
  ConvStep bare = step;
  bare.epilogue = {};
  return refuse_unless_rung(bare);
}

}  // namespace convlab::cudnn
