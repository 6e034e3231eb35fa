#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "convlab/kernel_file/simt_include/thrust/detail/copies.h"
#include "convlab/kernel_file/simt_include/thrust/random/distributions.h"

/// Random permutations. Thrust does not say which permutation an engine leads to: here it differs from a GPU's.
namespace thrust {
namespace detail {

/// Draws as many numbers below i + 1 as an exchange of elements needs.
template <class Engine>
ptrdiff_t number_up_to(int64_t i, Engine& engine) {
  random::uniform_int_distribution<int64_t> place(0, i);
  return static_cast<ptrdiff_t>(std::min(i, place(engine)));
}

template <class C, class I, class Engine>
void shuffle_elements(const C& context, I first, int64_t n, Engine& engine) {
  auto elements = context.element_access(first);
  if constexpr (C::kOnDevice) {
    if (!context.is_sequential()) {
      std::vector<int64_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), int64_t{0});
      for (int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[number_up_to(i, engine)]);
      using T = value_of<I>;
      Temporary<T> copy(n, context.where());
      Temporary<int64_t> places(n, context.where());
      if (n == 0) return;
      context.copy(places.data(), order.data(), order.size() * sizeof(int64_t), cudaMemcpyHostToDevice);
      T* const from = copy.data();
      const int64_t* const place = places.data();
      context.each(n, [=](int64_t i) mutable { ::new (static_cast<void*>(&from[i])) T(elements[i]); });
      context.each(n, [=](int64_t i) mutable { elements[i] = from[place[i]]; });
      return;
    }
  }
  for (int64_t i = n - 1; i > 0; --i) {
    const ptrdiff_t other = number_up_to(i, engine);
    const value_of<I> own = elements[i];
    elements[i] = static_cast<value_of<I>>(elements[other]);
    elements[other] = own;
  }
}

}  // namespace detail

template <class Policy, class I, class Engine>
requires detail::IsPolicy<Policy>
void shuffle(const Policy& policy, I first, I last, Engine&& engine, detail::Where where = detail::Where::current()) {
  detail::shuffle_elements(detail::context_of(policy, where), first, detail::count_between(first, last), engine);
}
template <class I, class Engine>
requires(!detail::IsPolicy<I>) void shuffle(I first, I last, Engine&& engine,
                                            detail::Where where = detail::Where::current()) {
  if constexpr (detail::system_of<I> == detail::System::host) {
    shuffle(host, first, last, engine, where);
  } else {
    shuffle(device, first, last, engine, where);
  }
}
template <class In, class Out, class Engine>
requires(!detail::IsPolicy<In>) void shuffle_copy(In first, In last, Out out, Engine&& engine,
                                                  detail::Where where = detail::Where::current()) {
  shuffle(out, thrust::copy(first, last, out, where), engine, where);
}
template <class Policy, class In, class Out, class Engine>
requires detail::IsPolicy<Policy>
void shuffle_copy(const Policy& policy, In first, In last, Out out, Engine&& engine,
                  detail::Where where = detail::Where::current()) {
  shuffle(policy, out, thrust::copy(policy, first, last, out, where), engine, where);
}

}  // namespace thrust
