#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/detail/temporary.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_traits.h"

/// How algorithms run. Each is written once, for a context that calls its loop bodies: in kernels, so that all accesses
/// to device memory are checked, or in plain loops.
///
///     each(n, f)        calls f(i) for i below n, in any order; on the device each in a thread of its own
///     parts(n, f)       calls f(part, begin, end) for parts of [0, n), each in a block of its own
///     compute<R>(f)     returns f(), called by one thread
///     element_access(i) an iterator whose elements f may use, by number
namespace thrust::detail {

// ---- Iterators in loop bodies ----

/// Elements by number, which never decreases, of an iterator that only moves forward.
template <class I>
class InOrder {
 public:
  explicit InOrder(I first) : at_(first) {}
  decltype(auto) operator[](int64_t i) {
    for (; number_ < i; ++number_) ++at_;
    return *at_;
  }

 private:
  I at_;
  int64_t number_ = 0;
};

template <class I>
I moved(I i, int64_t n) {
  if constexpr (is_random_access<I>) {
    return i + static_cast<typename std::iterator_traits<I>::difference_type>(n);
  } else {
    for (; n > 0; --n) ++i;
    return i;
  }
}

template <class I>
int64_t count_between(I first, I last) {
  if constexpr (is_random_access<I>) {
    return static_cast<int64_t>(last - first);
  } else {
    int64_t n = 0;
    for (; first != last; ++first) ++n;
    return n;
  }
}

// ---- Kernels ----

/// A kernel's argument of any class, as nvcc passes it: byte for byte.
template <class F>
struct Passed {
  explicit Passed(const F& f) { ::new (static_cast<void*>(bytes)) F(f); }
  F& get() { return *reinterpret_cast<F*>(bytes); }

 private:
  alignas(F) unsigned char bytes[sizeof(F)];
};

template <class F>
__global__ void thrust_each(Passed<F> f, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) f.get()(i);
}

template <class F>
__global__ void thrust_parts(Passed<F> f, int64_t n, int64_t length) {
  const int64_t part = blockIdx.x, begin = part * length;
  f.get()(part, begin, begin + length < n ? begin + length : n);
}

template <class F>
__global__ void thrust_once(Passed<F> f) {
  f.get()();
}

// ---- Contexts ----

/// Plain loops in the calling thread.
class LoopContext {
 public:
  static constexpr bool kOnDevice = false;

  explicit LoopContext(Where where) : where_(where) {}
  Where where() const { return where_; }
  bool is_sequential() const { return true; }

  template <class F>
  void each(int64_t n, F f) const {
    for (int64_t i = 0; i < n; ++i) f(i);
  }
  template <class R, class F>
  R compute(F f) const {
    return f();
  }
  template <class I>
  static auto element_access(I i) {
    if constexpr (is_random_access<I>) {
      return i;
    } else {
      return InOrder<I>(i);
    }
  }

 private:
  Where where_;
};

/// Kernels; loops if a kernel's thread calls the algorithm.
class DeviceContext {
 public:
  static constexpr bool kOnDevice = true;

  DeviceContext(const DevicePolicy& policy, Where where) : policy_(policy), where_(where) {}
  Where where() const { return where_; }
  bool is_sequential() const { return is_device_code(); }

  template <class F>
  void each(int64_t n, F f) const {
    if (is_sequential()) {
      for (int64_t i = 0; i < n; ++i) f(i);
    } else if (n > 0) {
      const int64_t block = std::min<int64_t>(n, 256), blocks = (n + block - 1) / block;
      launch(thrust_each<F>, blocks, block, Passed<F>(f), n);
    }
  }
  static int64_t part_length(int64_t n) {
    constexpr int64_t kMostParts = 64, kShortest = 1024;
    return std::max(kShortest, (n + kMostParts - 1) / kMostParts);
  }
  static int64_t part_count(int64_t n) { return (n + part_length(n) - 1) / part_length(n); }
  /// Calls f(part, begin, end).
  template <class F>
  void parts(int64_t n, F f) const {
    if (n > 0) launch(thrust_parts<F>, part_count(n), 1, Passed<F>(f), n, part_length(n));
  }
  /// Calls f(begin, end) for runs of this length.
  template <class F>
  void runs(int64_t n, int64_t length, F f) const {
    auto run = [f](int64_t, int64_t begin, int64_t end) mutable { f(begin, end); };
    launch(thrust_parts<decltype(run)>, (n + length - 1) / length, 1, Passed<decltype(run)>(run), n, length);
  }
  template <class R, class F>
  R compute(F f) const {
    if constexpr (std::is_void_v<R>) {
      if (is_sequential()) return f();
      launch(thrust_once<F>, 1, 1, Passed<F>(f));
    } else {
      if (is_sequential()) return f();
      Temporary<R> memory(1, where_);
      R* const result = memory.data();
      auto keep = [=]() mutable { ::new (static_cast<void*>(result)) R(f()); };
      launch(thrust_once<decltype(keep)>, 1, 1, Passed<decltype(keep)>(keep));
      UninitializedValue<R> value;
      copy(value.get(), result, sizeof(R), cudaMemcpyDeviceToHost);
      return *value.get();
    }
  }
  template <class I>
  static auto element_access(I i) {
    return LoopContext::element_access(unwrap(i));
  }

  /// Copies after the kernels so far, and waits for the copy.
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const {
    throw_on_error(cudaMemcpyAsync(to, from, bytes, kind, policy_.stream, where_), "thrust: copy");
    throw_on_error(cudaStreamSynchronize(policy_.stream), "thrust: copy");
  }

 private:
  template <class... P, class... A>
  void launch(void (*kernel)(P...), int64_t blocks, int64_t block, A... arguments) const {
    convlab_configure(kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(block)), 0,
                      policy_.stream, where_)(arguments...);
    throw_on_error(cudaPeekAtLastError(), "thrust: kernel launch");
    if (policy_.waits) throw_on_error(cudaStreamSynchronize(policy_.stream), "thrust: kernel");
  }

  DevicePolicy policy_;
  Where where_;
};

template <class Policy>
auto context_of(const Policy& policy, Where where) {
  if constexpr (std::is_same_v<Policy, DevicePolicy>) {
    return DeviceContext(policy, where);
  } else if constexpr (is_device_policy<Policy>) {
    return DeviceContext(DevicePolicy(), where);
  } else {
    return LoopContext(where);
  }
}

// ---- Calls ----

template <class T>
concept StartsCall = IsPolicy<T> || IsIterator<T>;

/// Calls Algorithm::run(context, arguments...). Without a policy the iterators say where.
template <class Algorithm, class First, class... Rest>
decltype(auto) call(Where where, First first, Rest... rest) {
  if constexpr (IsPolicy<First>) {
    return Algorithm::run(context_of(first, where), std::move(rest)...);
  } else if constexpr (common_system<First, Rest...> == System::host) {
    return Algorithm::run(LoopContext(where), std::move(first), std::move(rest)...);
  } else {
    return Algorithm::run(DeviceContext(DevicePolicy(), where), std::move(first), std::move(rest)...);
  }
}

}  // namespace thrust::detail

/// CONVLAB_THRUST_CALL_N(name, Algorithm) declares thrust::name() of N arguments, the first a policy or an iterator.
#define CONVLAB_THRUST_CALL_2(name, Algorithm)                                    \
  template <class A, class B>                                                     \
  requires detail::StartsCall<A>                                                  \
  decltype(auto) name(A a, B b, detail::Where where = detail::Where::current()) { \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b));    \
  }
#define CONVLAB_THRUST_CALL_3(name, Algorithm)                                               \
  template <class A, class B, class C>                                                       \
  requires detail::StartsCall<A>                                                             \
  decltype(auto) name(A a, B b, C c, detail::Where where = detail::Where::current()) {       \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c)); \
  }
#define CONVLAB_THRUST_CALL_4(name, Algorithm)                                                             \
  template <class A, class B, class C, class D>                                                            \
  requires detail::StartsCall<A>                                                                           \
  decltype(auto) name(A a, B b, C c, D d, detail::Where where = detail::Where::current()) {                \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d)); \
  }
#define CONVLAB_THRUST_CALL_5(name, Algorithm)                                                            \
  template <class A, class B, class C, class D, class E>                                                  \
  requires detail::StartsCall<A>                                                                          \
  decltype(auto) name(A a, B b, C c, D d, E e, detail::Where where = detail::Where::current()) {          \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d), \
                                           std::move(e));                                                 \
  }
#define CONVLAB_THRUST_CALL_6(name, Algorithm)                                                            \
  template <class A, class B, class C, class D, class E, class F>                                         \
  requires detail::StartsCall<A>                                                                          \
  decltype(auto) name(A a, B b, C c, D d, E e, F f, detail::Where where = detail::Where::current()) {     \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d), \
                                           std::move(e), std::move(f));                                   \
  }
#define CONVLAB_THRUST_CALL_7(name, Algorithm)                                                             \
  template <class A, class B, class C, class D, class E, class F, class G>                                 \
  requires detail::StartsCall<A>                                                                           \
  decltype(auto) name(A a, B b, C c, D d, E e, F f, G g, detail::Where where = detail::Where::current()) { \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d),  \
                                           std::move(e), std::move(f), std::move(g));                      \
  }
#define CONVLAB_THRUST_CALL_8(name, Algorithm)                                                                  \
  template <class A, class B, class C, class D, class E, class F, class G, class H>                             \
  requires detail::StartsCall<A>                                                                                \
  decltype(auto) name(A a, B b, C c, D d, E e, F f, G g, H h, detail::Where where = detail::Where::current()) { \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d),       \
                                           std::move(e), std::move(f), std::move(g), std::move(h));             \
  }
#define CONVLAB_THRUST_CALL_9(name, Algorithm)                                                                       \
  template <class A, class B, class C, class D, class E, class F, class G, class H, class I>                         \
  requires detail::StartsCall<A>                                                                                     \
  decltype(auto) name(A a, B b, C c, D d, E e, F f, G g, H h, I i, detail::Where where = detail::Where::current()) { \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d),            \
                                           std::move(e), std::move(f), std::move(g), std::move(h), std::move(i));    \
  }
#define CONVLAB_THRUST_CALL_10(name, Algorithm)                                                                  \
  template <class A, class B, class C, class D, class E, class F, class G, class H, class I, class J>            \
  requires detail::StartsCall<A>                                                                                 \
  decltype(auto) name(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j,                                          \
                      detail::Where where = detail::Where::current()) {                                          \
    return detail::call<detail::Algorithm>(where, std::move(a), std::move(b), std::move(c), std::move(d),        \
                                           std::move(e), std::move(f), std::move(g), std::move(h), std::move(i), \
                                           std::move(j));                                                        \
  }
