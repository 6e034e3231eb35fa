#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "convlab/simt/failed_call.h"
#include "convlab/simt/kernel_call.h"
#include "convlab/simt/thread_run.h"
#include "convlab/simt/warp.h"

namespace convlab::simt {

/// Returns the kernels launched with more than 512 threads per block since the last call, each with its most threads. A
/// device launches such a kernel only if its registers fit.
std::map<std::string, int> take_large_blocks();

/// Throws Error(bad_input) for a shape that no device can launch.
void check_launch(const LaunchShape& shape);

/// Returns why a device would not launch the kernel with this shape, or nullopt if it would. `dynamic_limit`: the limit
/// that the program set with cudaFuncSetAttribute(), if any.
std::optional<FailedCall> refused_launch(const void* kernel, const LaunchShape& shape,
                                         std::optional<size_t> dynamic_limit);

/// Runs the whole grid. Throws FaultError (see fault.h). For a shape that no device can launch, keeps a FailedCall and
/// throws Error(bad_input).
void launch_grid(const KernelCall& call, const LaunchShape& shape);

namespace internal {

template <class T>
struct WithoutRestrict {
  using type = T;
};
template <class T>
struct WithoutRestrict<T* __restrict__> {
  using type = T*;
};
template <class T>
struct WithoutRestrict<T* const __restrict__> {
  using type = T*;
};

/// Whether functions get an argument of this class as its address: C++ calls its copy constructor or its destructor.
/// Assignment does not matter: std::pair has its own.
template <class T>
inline constexpr bool kHasOwnCopies =
    !std::is_trivially_copy_constructible_v<T> || !std::is_trivially_move_constructible_v<T> ||
    !std::is_trivially_destructible_v<T>;

/// A thread's copy of an argument that has its own copy constructor. A GPU copies bytes, and calls nothing.
template <class T>
struct CopiedBytes {
  alignas(T) std::array<unsigned char, sizeof(T)> bytes;
};

/// What a kernel gets at the machine's level: both x86-64 and AArch64 pass the address of what has its own copies.
template <class T>
using PassedAs = std::conditional_t<kHasOwnCopies<T>, CopiedBytes<T>&&, T>;

template <class T>
__attribute__((no_sanitize("thread"), always_inline)) inline auto passed_as(const T& argument) {
  if constexpr (kHasOwnCopies<T>) {
    CopiedBytes<T> copy;
    __builtin_memcpy(&copy, &argument, sizeof(T));
    return copy;
  } else {
    return argument;
  }
}

/// Zeroes the padding, so that equal arguments have equal bytes.
template <class T>
void clear_gaps_of([[maybe_unused]] T& argument) {
#if defined(__GNUC__) && !defined(__clang__)
  if constexpr (std::is_trivially_copyable_v<T>) __builtin_clear_padding(&argument);
#endif
}

template <size_t I, class T>
struct Argument {
  T value;
};

/// A kernel and its arguments. Not a tuple: reading it calls no function, so that invoke(), which passes the arguments
/// on once per thread, needs none of the instrumentation of the kernel's file.
template <class Indices, class... P>
struct BoundKernel;

template <size_t... I, class... P>
struct BoundKernel<std::index_sequence<I...>, P...> {
  static constexpr bool kAnyHasOwnCopies = (kHasOwnCopies<P> || ...);
  struct Arguments : Argument<I, P>... {};
  void (*kernel)(P...);
  Arguments arguments;

  __attribute__((no_sanitize("thread"))) static void invoke(const void* memory) {
    const BoundKernel& self = *static_cast<const BoundKernel*>(memory);
    call(self.kernel, self.arguments);
  }

  __attribute__((no_sanitize("thread"), always_inline)) static void call(void (*kernel)(P...),
                                                                         const Arguments& arguments) {
    if constexpr (kAnyHasOwnCopies) {
      reinterpret_cast<void (*)(PassedAs<P>...)>(kernel)(
          passed_as(static_cast<const Argument<I, P>&>(arguments).value)...);
    } else {
      kernel(static_cast<const Argument<I, P>&>(arguments).value...);
    }
  }

  void clear_gaps() { (clear_gaps_of(static_cast<Argument<I, P>&>(arguments).value), ...); }

  std::array<ArgumentPlace, sizeof...(P)> places() const {
    const char* const begin = reinterpret_cast<const char*>(this);
    return {ArgumentPlace{
        static_cast<size_t>(reinterpret_cast<const char*>(&static_cast<const Argument<I, P>&>(arguments).value) -
                            begin),
        sizeof(P)}...};
  }
};

#ifdef CONVLAB_SIMT_UNCHECKED
/// A bound kernel that the compiler knows, and can inline.
template <auto kKernel, class Bound>
struct KnownKernel : Bound {
  /// Runs the threads of thread_run.
  static void invoke(const void* memory) {
    const Bound& self = *static_cast<const Bound*>(memory);
    if constexpr (Bound::kAnyHasOwnCopies) {
      Bound::call(kKernel, self.arguments);
    } else {
      const typename Bound::Arguments arguments = self.arguments;  // no store of the kernel changes the copy
      const cuda::uint3* const indices = thread_run.indices;
      int number = thread_run.number;
      while (true) {
        Bound::call(kKernel, arguments);
        if (++number >= thread_run.end) return;
        thread_run.number = number;
        cuda::threadIdx = indices[number];
      }
    }
  }
};
#endif

}  // namespace internal

/// The type of a kernel's parameter without __restrict__.
template <class T>
using Unrestricted = typename internal::WithoutRestrict<T>::type;

/// Returns the kernel with a copy of its arguments.
template <class... P>
internal::BoundKernel<std::index_sequence_for<P...>, P...> bind_kernel(void (*kernel)(P...),
                                                                       std::type_identity_t<P>... arguments) {
  static_assert((!std::is_reference_v<P> && ...), "kernel parameters are passed by value, byte for byte");
  return {kernel, {{arguments}...}};
}

/// The same for a kernel that is known at compile time.
template <auto kKernel, class... A>
auto bind_known_kernel(A&&... arguments) {
  auto bound = bind_kernel(kKernel, std::forward<A>(arguments)...);
#ifdef CONVLAB_SIMT_UNCHECKED
  return internal::KnownKernel<kKernel, decltype(bound)>{bound};
#else
  return bound;
#endif
}

/// Runs the grid of a kernel from bind_kernel().
template <class Bound>
void launch_bound(Bound bound, const LaunchShape& shape) {
  bound.clear_gaps();
  const auto places = bound.places();
  launch_grid({reinterpret_cast<const void*>(bound.kernel), &Bound::invoke, &bound, sizeof(bound), places}, shape);
}

namespace internal {

/// Converts an argument to a parameter's type.
template <class P, class A>
P as_parameter(A&& argument) {
  if constexpr (std::is_pointer_v<P> && kStandsForFloat<std::remove_cv_t<std::remove_pointer_t<P>>>) {
    return reinterpret_cast<P>(argument);
  } else {
    return static_cast<P>(std::forward<A>(argument));
  }
}

}  // namespace internal

/// Converts the arguments to the kernel's parameter types and runs the grid.
template <class... P, class... A>
void launch_kernel(void (*kernel)(P...), const LaunchShape& shape, A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch needs one argument for each kernel parameter");
  launch_bound(bind_kernel(kernel, internal::as_parameter<P>(std::forward<A>(arguments))...), shape);
}

}  // namespace convlab::simt
