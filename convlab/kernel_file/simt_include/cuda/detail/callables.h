#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "convlab/kernel_file/simt_include/cuda/detail/std_names.h"
#include "convlab/simt/cuda/cuda_on_host.h"

/// cuda's function objects.
namespace cuda {

template <class T = void>
struct maximum {
  constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T = void>
struct minimum {
  constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <>
struct maximum<void> {
  template <class A, class B>
  constexpr std::common_type_t<A, B> operator()(const A& a, const B& b) const {
    return a < b ? b : a;
  }
};
template <>
struct minimum<void> {
  template <class A, class B>
  constexpr std::common_type_t<A, B> operator()(const A& a, const B& b) const {
    return b < a ? b : a;
  }
};

/// Says what a device lambda returns, which host code cannot ask nvcc. Here it can.
template <class Result, class F>
constexpr auto proclaim_return_type(F&& function) {
  return [function = std::forward<F>(function)]<class... Arguments>(Arguments&&... arguments) mutable -> Result {
    return function(std::forward<Arguments>(arguments)...);
  };
}
template <class F>
constexpr std::decay_t<F> proclaim_copyable_arguments(F&& function) {
  return std::forward<F>(function);
}

/// Host and device code have the same address of a __device__ variable.
template <class T>
T* get_device_address(T& variable) {
  return &variable;
}

}  // namespace cuda
