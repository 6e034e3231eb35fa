// Keeps and runs the plans of cuFFT.

#include "convlab/simt/cuda/cufft.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "convlab/simt/cuda/fft_plans.h"

namespace convlab::simt::cuda {
namespace {

using runtime::ComplexArray;
using runtime::FftArray;
using runtime::FftLayout;
using runtime::FftPlan;
using runtime::FftRefusal;
using runtime::LibraryCall;

const char* name_of_result(int result) {
  switch (static_cast<cufftResult>(result)) {
#define CONVLAB_SIMT_RESULT(name) \
  case name:                      \
    return #name;
    CONVLAB_SIMT_RESULT(CUFFT_SUCCESS)
    CONVLAB_SIMT_RESULT(CUFFT_INVALID_PLAN)
    CONVLAB_SIMT_RESULT(CUFFT_INVALID_TYPE)
    CONVLAB_SIMT_RESULT(CUFFT_INVALID_VALUE)
    CONVLAB_SIMT_RESULT(CUFFT_EXEC_FAILED)
    CONVLAB_SIMT_RESULT(CUFFT_INVALID_SIZE)
    CONVLAB_SIMT_RESULT(CUFFT_INVALID_DEVICE)
    CONVLAB_SIMT_RESULT(CUFFT_NO_WORKSPACE)
    CONVLAB_SIMT_RESULT(CUFFT_NOT_IMPLEMENTED)
    CONVLAB_SIMT_RESULT(CUFFT_NOT_SUPPORTED)
#undef CONVLAB_SIMT_RESULT
    default:
      return "an error of cuFFT";
  }
}

const runtime::StatusCodes kCodes{.invalid = CUFFT_INVALID_VALUE,
                                  .unsupported = CUFFT_NOT_SUPPORTED,
                                  .failed = CUFFT_EXEC_FAILED,
                                  .name = &name_of_result};

struct State {
  std::mutex mutex;
  std::map<cufftHandle, FftPlan> plans;
  cufftHandle last = 0;
};
State& state() {
  static State& one = *new State;  // never destroyed: static objects may destroy plans at exit
  return one;
}

/// Calls use(plan) for a plan that exists.
template <class Use>
cufftResult with_plan(cufftHandle handle, const Use& use) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto at = s.plans.find(handle);
  return at == s.plans.end() ? CUFFT_INVALID_PLAN : use(at->second);
}

template <class Integer>
FftLayout layout_of(int rank, const Integer* embed, Integer stride, Integer distance) {
  FftLayout layout{.is_basic = embed == nullptr};
  if (layout.is_basic) return layout;
  for (int i = 1; i < rank; ++i) layout.embed.push_back(embed[i]);
  layout.stride = stride;
  layout.distance = distance;
  return layout;
}

template <class Integer>
FftPlan plan_of(int rank, const Integer* n, const FftLayout& input, const FftLayout& output, cufftType type,
                Integer batch) {
  FftPlan plan{.is_made = true, .type = type, .batch = batch, .input = input, .output = output};
  plan.input.is_basic = plan.output.is_basic = plan.input.is_basic || plan.output.is_basic;
  for (int i = 0; n != nullptr && i < rank; ++i) plan.sizes.push_back(n[i]);
  return plan;
}
FftPlan plan_of(std::initializer_list<int> n, cufftType type, int batch) {
  return plan_of(static_cast<int>(n.size()), n.begin(), {}, {}, type, batch);
}

cufftResult fail(const FftRefusal& refusal, const char* call, const Where& where) {
  return static_cast<cufftResult>(LibraryCall{&kCodes, call, nullptr, where}.fail({refusal.result, refusal.why}));
}

cufftResult make(cufftHandle handle, FftPlan made, size_t* bytes, const char* call, const Where& where) {
  if (const std::optional<FftRefusal> refusal = refusal_of(made)) return fail(*refusal, call, where);
  return with_plan(handle, [&](FftPlan& plan) {
    if (plan.is_made) return CUFFT_INVALID_PLAN;
    made.stream = plan.stream;
    made.allocates = plan.allocates;
    made.work_area = plan.work_area;
    if (bytes != nullptr) *bytes = made.work_bytes();
    plan = std::move(made);
    return CUFFT_SUCCESS;
  });
}

cufftResult create_and_make(cufftHandle* handle, FftPlan made, const char* call, const Where& where) {
  if (const cufftResult result = cufftCreate(handle); result != CUFFT_SUCCESS) return result;
  const cufftResult result = make(*handle, std::move(made), nullptr, call, where);
  if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
  return result;
}

cufftResult estimate(const FftPlan& plan, size_t* bytes) {
  if (const std::optional<FftRefusal> refusal = refusal_of(plan)) return refusal->result;
  if (bytes == nullptr) return CUFFT_INVALID_VALUE;
  *bytes = plan.work_bytes();
  return CUFFT_SUCCESS;
}

void transform_one(const LibraryCall& call, const FftPlan& plan, const FftArray& input, const FftArray& output,
                   int64_t number, bool inverse) {
  ComplexArray values = input.load(call, number);
  if (plan.has_real_output()) {
    const std::vector<double> real = runtime::inverse_of_half(std::move(values), plan.sizes);
    return output.store(call, number, ComplexArray(real.begin(), real.end()));
  }
  runtime::transform(values, plan.sizes, inverse);
  if (plan.has_real_input()) {  // keep the half that is not redundant
    const int64_t n = plan.sizes.back(), kept = n / 2 + 1;
    ComplexArray half;
    for (size_t row = 0; row < values.size(); row += static_cast<size_t>(n)) {
      half.insert(half.end(), values.begin() + static_cast<int64_t>(row),
                  values.begin() + static_cast<int64_t>(row) + kept);
    }
    values = std::move(half);
  }
  output.store(call, number, values);
}

}  // namespace

cufftResult runtime::transform(cufftHandle handle, const void* input, void* output, int type, int direction,
                               const char* call, Where where) noexcept {
  FftPlan plan;
  const cufftResult found = with_plan(handle, [&](const FftPlan& known) {
    plan = known;
    return known.is_made ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
  });
  if (found != CUFFT_SUCCESS) return fail({found, "the plan does not exist or is not made"}, call, where);
  if (type != 0 && type != plan.type) {
    return fail({CUFFT_INVALID_TYPE, "the plan is for another type of transform"}, call, where);
  }
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) {
    return fail({CUFFT_INVALID_VALUE, fmt::format("{} is not a direction", direction)}, call, where);
  }
  if (!plan.allocates && plan.work_area == nullptr) {
    return fail({CUFFT_NO_WORKSPACE, "automatic allocation is off, and cufftSetWorkArea was not called"}, call, where);
  }
  const LibraryCall library{&kCodes, call, plan.stream, where};
  return static_cast<cufftResult>(library.run([=](const LibraryCall& running) {
    const FftArray from = side_of_plan(plan, true, input, input == output);
    const FftArray to = side_of_plan(plan, false, output, input == output);
    for (int64_t i = 0; i < plan.batch; ++i) {
      transform_one(running, plan, from, to, i, direction == CUFFT_INVERSE);
    }
  }));
}

cufftResult runtime::refuse_transform(cufftResult result, const char* call, const char* why, Where where) noexcept {
  return fail({result, why}, call, where);
}

cufftResult cufftCreate(cufftHandle* plan) noexcept {
  if (plan == nullptr) return CUFFT_INVALID_VALUE;
  State& s = state();
  std::lock_guard lock(s.mutex);
  *plan = ++s.last;
  s.plans[*plan] = {};
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.plans.erase(plan) > 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch, Where where) noexcept {
  return create_and_make(plan, plan_of({nx}, type, batch), "cufftPlan1d", where);
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type, Where where) noexcept {
  return create_and_make(plan, plan_of({nx, ny}, type, 1), "cufftPlan2d", where);
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type, Where where) noexcept {
  return create_and_make(plan, plan_of({nx, ny, nz}, type, 1), "cufftPlan3d", where);
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch, Where where) noexcept {
  return create_and_make(
      plan,
      plan_of(rank, n, layout_of(rank, inembed, istride, idist), layout_of(rank, onembed, ostride, odist), type, batch),
      "cufftPlanMany", where);
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes, Where where) noexcept {
  return make(plan, plan_of({nx}, type, batch), bytes, "cufftMakePlan1d", where);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes, Where where) noexcept {
  return make(plan, plan_of({nx, ny}, type, 1), bytes, "cufftMakePlan2d", where);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes,
                            Where where) noexcept {
  return make(plan, plan_of({nx, ny, nz}, type, 1), bytes, "cufftMakePlan3d", where);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* bytes, Where where) noexcept {
  return make(
      plan,
      plan_of(rank, n, layout_of(rank, inembed, istride, idist), layout_of(rank, onembed, ostride, odist), type, batch),
      bytes, "cufftMakePlanMany", where);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* bytes, Where where) noexcept {
  return make(
      plan,
      plan_of(rank, n, layout_of(rank, inembed, istride, idist), layout_of(rank, onembed, ostride, odist), type, batch),
      bytes, "cufftMakePlanMany64", where);
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* bytes) noexcept {
  return estimate(plan_of({nx}, type, batch), bytes);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* bytes) noexcept {
  return estimate(plan_of({nx, ny}, type, 1), bytes);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* bytes) noexcept {
  return estimate(plan_of({nx, ny, nz}, type, 1), bytes);
}
cufftResult cufftEstimateMany(int rank, int* n, int*, int, int, int*, int, int, cufftType type, int batch,
                              size_t* bytes) noexcept {
  return estimate(plan_of(rank, n, {}, {}, type, batch), bytes);
}
cufftResult cufftGetSize1d(cufftHandle, int nx, cufftType type, int batch, size_t* bytes) noexcept {
  return cufftEstimate1d(nx, type, batch, bytes);
}
cufftResult cufftGetSize2d(cufftHandle, int nx, int ny, cufftType type, size_t* bytes) noexcept {
  return cufftEstimate2d(nx, ny, type, bytes);
}
cufftResult cufftGetSize3d(cufftHandle, int nx, int ny, int nz, cufftType type, size_t* bytes) noexcept {
  return cufftEstimate3d(nx, ny, nz, type, bytes);
}
cufftResult cufftGetSizeMany(cufftHandle, int rank, int* n, int*, int, int, int*, int, int, cufftType type, int batch,
                             size_t* bytes) noexcept {
  return estimate(plan_of(rank, n, {}, {}, type, batch), bytes);
}
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes) noexcept {
  return with_plan(plan, [&](const FftPlan& known) { return estimate(known, bytes); });
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates) noexcept {
  return with_plan(plan, [&](FftPlan& known) {
    if (known.is_made) return CUFFT_INVALID_PLAN;
    known.allocates = allocates != 0;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* area) noexcept {
  return with_plan(plan, [&](FftPlan& known) {
    known.work_area = area;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) noexcept {
  return with_plan(plan, [&](FftPlan& known) {
    known.stream = stream;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftGetVersion(int* version) noexcept {
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType property, int* value) noexcept {
  *value = property == MAJOR_VERSION ? CUFFT_VER_MAJOR : 0;
  return CUFFT_SUCCESS;
}

}  // namespace convlab::simt::cuda
