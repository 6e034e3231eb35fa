#pragma once

#include <cassert>
#include <cstdlib>
#include <vector>

#include "convlab/kernel_file/simt_include/thrust/detail/copies.h"
#include "convlab/kernel_file/simt_include/thrust/detail/radix_order.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"

/// Stable sorts: of numbers in their usual order by radix_order.h, others by merging. On the device each part of the
/// elements is copied and sorted by one thread, then pairs of sorted parts are merged, and the result is copied back.
/// Host code and device code sort copies, too.
namespace thrust {
namespace detail {

/// Merges [a, a_end) and [b, b_end) of `from` into `to`, at a's place.
template <class T, class Less>
void merge_runs(T* from, T* to, int64_t a, int64_t a_end, int64_t b_end, Less& less) {
  int64_t b = a_end;
  for (int64_t i = a; i < b_end; ++i) {
    const bool takes_b = a == a_end || (b < b_end && less(from[b], from[a]));
    to[i] = from[takes_b ? b++ : a++];
  }
}

/// Sorts elements. `other`: as many objects. Returns which of the two arrays has the result.
template <class T, class Less>
T* merge_sort(T* elements, T* other, int64_t n, Less& less) {
  constexpr int64_t kInserted = 8;
  for (int64_t first = 0; first < n; first += kInserted) {
    const int64_t end = first + kInserted < n ? first + kInserted : n;
    for (int64_t i = first + 1; i < end; ++i) {
      T own = elements[i];
      int64_t to = i;
      for (; to > first && less(own, elements[to - 1]); --to) elements[to] = elements[to - 1];
      if (to != i) elements[to] = own;
    }
  }
  for (int64_t run = kInserted; run < n; run *= 2) {
    for (int64_t first = 0; first < n; first += 2 * run) {
      const int64_t middle = first + run < n ? first + run : n, end = first + 2 * run < n ? first + 2 * run : n;
      merge_runs(elements, other, first, middle, end, less);
    }
    std::swap(elements, other);
  }
  return elements;
}

/// Sorts on the device: `load(i)` returns an element, `store(i, element)` sets one.
template <class T, class Less, class Load, class Store>
void sort_on_device(const DeviceContext& context, int64_t n, Less less, Load load, Store store) {
  Temporary<T> first_memory(n, context.where()), second_memory(n, context.where());
  T *from = first_memory.data(), *to = second_memory.data();
  context.parts(n, [=](int64_t, int64_t begin, int64_t end) mutable {
    for (int64_t i = begin; i < end; ++i) {
      ::new (static_cast<void*>(&from[i])) T(load(i));
      ::new (static_cast<void*>(&to[i])) T(from[i]);
    }
    T* const sorted = merge_sort(from + begin, to + begin, end - begin, less);
    if (sorted != from + begin) {
      for (int64_t i = begin; i < end; ++i) from[i] = to[i];
    }
  });
  for (int64_t run = DeviceContext::part_length(n); run < n; run *= 2) {
    context.runs(n, 2 * run, [=](int64_t begin, int64_t end) mutable {
      merge_runs(from, to, begin, begin + run < end ? begin + run : end, end, less);
    });
    std::swap(from, to);
  }
  context.each(n, [=](int64_t i) mutable { store(i, from[i]); });
}

/// Sorts in the calling thread. A kernel's thread takes memory from the device heap.
template <class T, class Less, class Load, class Store>
void sort_in_loop(int64_t n, Less less, Load load, Store store) {
  if (is_device_code()) {
    T* const memory = static_cast<T*>(std::malloc(static_cast<size_t>(2 * n) * sizeof(T)));
    if (memory == nullptr) __assert_fail("thrust::sort: the device heap has no memory left", __FILE__, __LINE__, "");
    for (int64_t i = 0; i < n; ++i) {
      ::new (static_cast<void*>(&memory[i])) T(load(i));
      ::new (static_cast<void*>(&memory[n + i])) T(memory[i]);
    }
    const T* const sorted = merge_sort(memory, memory + n, n, less);
    for (int64_t i = 0; i < n; ++i) store(i, sorted[i]);
    std::free(memory);
    return;
  }
  std::vector<T> elements;
  elements.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) elements.push_back(load(i));
  std::vector<T> other(elements);
  const T* const sorted = merge_sort(elements.data(), other.data(), n, less);
  for (int64_t i = 0; i < n; ++i) store(i, sorted[i]);
}

/// Sorts by keys that are numbers: copies them to the host for their order.
template <class T, class Load, class Store>
void sort_numbers_on_device(const DeviceContext& context, int64_t n, bool downward, Load load, Store store) {
  using Key = typename T::Key;
  Temporary<T> element_memory(n, context.where());
  Temporary<Key> key_memory(n, context.where());
  Temporary<uint32_t> order_memory(n, context.where());
  T* const elements = element_memory.data();
  Key* const keys = key_memory.data();
  const uint32_t* const place = order_memory.data();
  context.each(n, [=](int64_t i) mutable {
    const T element = load(i);
    ::new (static_cast<void*>(&elements[i])) T(element);
    keys[i] = element.key;
  });
  HostBytes<Key> host_keys(n);
  context.copy(host_keys.data(), keys, static_cast<size_t>(n) * sizeof(Key), cudaMemcpyDeviceToHost);
  const std::vector<uint32_t> order = radix_order(host_keys.data(), n, downward);
  context.copy(order_memory.data(), order.data(), order.size() * sizeof(uint32_t), cudaMemcpyHostToDevice);
  context.each(n, [=](int64_t i) mutable { store(i, elements[place[i]]); });
}

/// Sorts elements by their member `key`.
template <class T, class C, class Less, class Load, class Store>
void sort_elements(const C& context, int64_t n, Less less, Load load, Store store) {
  if (n < 2) return;
  auto element_less = [less](const T& a, const T& b) mutable -> bool { return less(a.key, b.key); };
  if constexpr (C::kOnDevice) {
    if (!context.is_sequential()) {
      if constexpr (has_radix_order<typename T::Key, Less>) {
        return sort_numbers_on_device<T>(context, n, direction_of<Less> < 0, load, store);
      } else {
        return sort_on_device<T>(context, n, element_less, load, store);
      }
    }
  }
  sort_in_loop<T>(n, element_less, load, store);
}

template <class K>
struct SortedKey {
  using Key = K;
  K key;
};
template <class K, class V>
struct SortedPair {
  using Key = K;
  K key;
  V value;
};

struct Sort {
  template <class C, class I>
  static void run(const C& context, I first, I last) {
    run(context, first, last, thrust::less<>());
  }
  template <class C, class I, class Less>
  static void run(const C& context, I first, I last, Less less) {
    using Element = SortedKey<value_of<I>>;
    auto elements = context.element_access(first);
    sort_elements<Element>(
        context, count_between(first, last), less, [=](int64_t i) mutable { return Element{elements[i]}; },
        [=](int64_t i, const Element& element) mutable { elements[i] = element.key; });
  }
};

struct SortByKey {
  template <class C, class Keys, class Values>
  static void run(const C& context, Keys first, Keys last, Values values) {
    run(context, first, last, values, thrust::less<>());
  }
  template <class C, class Keys, class Values, class Less>
  static void run(const C& context, Keys first, Keys last, Values first_value, Less less) {
    using Element = SortedPair<value_of<Keys>, value_of<Values>>;
    auto keys = context.element_access(first);
    auto values = context.element_access(first_value);
    sort_elements<Element>(
        context, count_between(first, last), less,
        [=](int64_t i) mutable {
          return Element{keys[i], values[i]};
        },
        [=](int64_t i, const Element& element) mutable {
          keys[i] = element.key;
          values[i] = element.value;
        });
  }
};

}  // namespace detail

CONVLAB_THRUST_CALL_2(sort, Sort)
CONVLAB_THRUST_CALL_3(sort, Sort)
CONVLAB_THRUST_CALL_4(sort, Sort)
CONVLAB_THRUST_CALL_2(stable_sort, Sort)
CONVLAB_THRUST_CALL_3(stable_sort, Sort)
CONVLAB_THRUST_CALL_4(stable_sort, Sort)
CONVLAB_THRUST_CALL_3(sort_by_key, SortByKey)
CONVLAB_THRUST_CALL_4(sort_by_key, SortByKey)
CONVLAB_THRUST_CALL_5(sort_by_key, SortByKey)
CONVLAB_THRUST_CALL_3(stable_sort_by_key, SortByKey)
CONVLAB_THRUST_CALL_4(stable_sort_by_key, SortByKey)
CONVLAB_THRUST_CALL_5(stable_sort_by_key, SortByKey)

}  // namespace thrust
