// onednn: oneDNN's direct convolution, to compare with.

#include <dnnl.hpp>

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

// OpenMP functions of the runtime that oneDNN is linked with. Declared here because omp.h comes with the compiler,
// which may have another runtime.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}

namespace convlab::onednn {
namespace {

constexpr KernelInfo kInfo{
    .name = "onednn",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 9,
    .library = true,
    .idea = "the library: oneDNN's direct convolution, including reorders of its layouts",
    .threads =
        "The OpenMP threads of oneDNN: as many as the stream has, but at most as many as CPUs, because OpenMP barriers "
        "spin. They are not the stream's threads: they spin for some milliseconds after a launch and slow down what "
        "runs right after it.",
    .cost =
        "C * R * S fused multiply-adds; its time includes reordering inputs and outputs to and from oneDNN's layouts.",
    .refuses = "Anything but fp32 nchw input and output without a fused epilogue. Filters are reordered in prepare().",
    .limit =
        "oneDNN's implementation for few channels; and with small batches the creation of descriptors (about 0.1 ms "
        "per launch: we keep no state; generated code comes from the library's own cache after the first launch).",
};

using dnnl::memory;
using Tag = memory::format_tag;

/// OpenMP's number of threads is a setting of the calling thread; the destructor restores it.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads) { omp_set_num_threads(std::min(threads, usable_threads())); }
  ~ScopedThreads() { omp_set_num_threads(before_); }
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

memory::desc images(const ConvProblem& problem, Tag tag) {
  return {problem.input_shape(), memory::data_type::f32, tag};
}

memory::desc outputs(const ConvProblem& problem, Tag tag) {
  return {problem.output_shape(), memory::data_type::f32, tag};
}

memory::desc filters(const ConvProblem& problem, Tag grouped, Tag plain) {
  if (problem.groups == 1) return {problem.filter_shape(), memory::data_type::f32, plain};
  return {{problem.groups, problem.maps_per_group(), problem.channels_per_group(), problem.r, problem.s},
          memory::data_type::f32,
          grouped};
}

dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::convolution_forward::primitive_desc convolution(const ConvProblem& problem, const memory::desc& weights,
                                                      const dnnl::engine& engine) {
  // oneDNN's dilation is the number of pixels skipped between filter elements. It accepts any padding that makes the
  // sizes consistent.
  const memory::dims dilation{problem.dilation_h - 1, problem.dilation_w - 1};
  const auto padding_after = [](int64_t out, int64_t stride, int64_t taps, int64_t dilation_, int64_t in,
                                int64_t before) {
    return (out - 1) * stride + (taps - 1) * dilation_ + 1 - in - before;
  };
  const memory::dims after{
      padding_after(problem.p(), problem.stride_h, problem.r, problem.dilation_h, problem.h, problem.pad_top),
      padding_after(problem.q(), problem.stride_w, problem.s, problem.dilation_w, problem.w, problem.pad_left)};
  const memory::dims strides{problem.stride_h, problem.stride_w}, before{problem.pad_top, problem.pad_left};
  const memory::desc x = images(problem, Tag::any), y = outputs(problem, Tag::any);
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  constexpr auto direct = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3  // which has no operation descriptors
  return {engine, kind, direct, x, weights, y, strides, dilation, before, after, own_scratchpad()};
#else
  return {{kind, direct, x, weights, y, strides, dilation, before, after}, own_scratchpad(), engine};
#endif
}

/// Returns the filter layout that the library prefers. Prepared data must not depend on the batch, so the batch is 1
/// here.
memory::desc filter_layout(ConvProblem problem, const dnnl::engine& engine) {
  problem.n = 1;
  return convolution(problem, filters(problem, Tag::any, Tag::any), engine).weights_desc();
}

/// Everything that a launch runs, and the workspace offsets of its arrays.
struct Launch {
  explicit Launch(const ConvProblem& problem)
      : engine(dnnl::engine::kind::cpu, 0),
        plain_x(images(problem, Tag::nchw)),
        plain_y(outputs(problem, Tag::nchw)),
        convolve(convolution(problem, filter_layout(problem, engine), engine)),
        reorder_x(engine, plain_x, engine, convolve.src_desc(), own_scratchpad()),
        reorder_y(engine, convolve.dst_desc(), engine, plain_y, own_scratchpad()) {
    const auto place = [&](size_t bytes) {
      const size_t at = workspace_bytes;
      workspace_bytes =
          static_cast<size_t>(checked_add(static_cast<int64_t>(at), round_up(static_cast<int64_t>(bytes), 64)));
      return at;
    };
    if (convolve.src_desc() != plain_x) x_at = place(convolve.src_desc().get_size());
    if (convolve.dst_desc() != plain_y) y_at = place(convolve.dst_desc().get_size());
    // The three primitives run one after the other, so they share their scratchpad.
    scratchpad_at = place(std::max({convolve.scratchpad_desc().get_size(), reorder_x.scratchpad_desc().get_size(),
                                    reorder_y.scratchpad_desc().get_size()}));
  }

  dnnl::engine engine;
  memory::desc plain_x, plain_y;
  dnnl::convolution_forward::primitive_desc convolve;
  dnnl::reorder::primitive_desc reorder_x, reorder_y;
  size_t x_at = 0, y_at = 0, scratchpad_at = 0, workspace_bytes = 0;
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_plain(step)) return refusal;
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    convolution(step.problem, filter_layout(step.problem, engine), engine);
  } catch (const dnnl::error& error) {
    return fmt::format("oneDNN does not support this convolution: {}", error.what());
  }
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return filter_layout(step.problem, dnnl::engine(dnnl::engine::kind::cpu, 0)).get_size();
}

void prepare(const ConvArgs& args, Stream& stream) {
  const ScopedThreads threads(stream.threads()->size());
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream queue(engine);
  memory from(filters(args.step.problem, Tag::goihw, Tag::oihw), engine, const_cast<float*>(args.w));
  memory to(filter_layout(args.step.problem, engine), engine, args.prepared);
  dnnl::reorder(from, to).execute(queue, from, to);
  queue.wait();
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const ScopedThreads threads(caps.threads);
  return Launch(step.problem).workspace_bytes;
}

void launch(const ConvArgs& args, Stream& stream) {
  const ScopedThreads threads(stream.threads()->size());
  Launch what(args.step.problem);
  dnnl::stream queue(what.engine);
  auto* const workspace = static_cast<uint8_t*>(args.workspace);
  const auto scratchpad = [&](const memory::desc& desc) {
    return memory(desc, what.engine, workspace + what.scratchpad_at);
  };
  memory plain_x(what.plain_x, what.engine, const_cast<void*>(args.x));
  memory plain_y(what.plain_y, what.engine, args.y);
  memory x = plain_x, y = plain_y;
  if (what.convolve.src_desc() != what.plain_x) {
    x = memory(what.convolve.src_desc(), what.engine, workspace + what.x_at);
    dnnl::reorder(what.reorder_x)
        .execute(queue, {{DNNL_ARG_FROM, plain_x},
                         {DNNL_ARG_TO, x},
                         {DNNL_ARG_SCRATCHPAD, scratchpad(what.reorder_x.scratchpad_desc())}});
  }
  if (what.convolve.dst_desc() != what.plain_y) {
    y = memory(what.convolve.dst_desc(), what.engine, workspace + what.y_at);
  }
  dnnl::convolution_forward(what.convolve)
      .execute(queue, {{DNNL_ARG_SRC, x},
                       {DNNL_ARG_WEIGHTS, memory(what.convolve.weights_desc(), what.engine, args.prepared)},
                       {DNNL_ARG_DST, y},
                       {DNNL_ARG_SCRATCHPAD, scratchpad(what.convolve.scratchpad_desc())}});
  if (what.convolve.dst_desc() != what.plain_y) {
    dnnl::reorder(what.reorder_y)
        .execute(queue, {{DNNL_ARG_FROM, y},
                         {DNNL_ARG_TO, plain_y},
                         {DNNL_ARG_SCRATCHPAD, scratchpad(what.reorder_y.scratchpad_desc())}});
  }
  queue.wait();
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch>,
}};

}  // namespace
}  // namespace convlab::onednn
