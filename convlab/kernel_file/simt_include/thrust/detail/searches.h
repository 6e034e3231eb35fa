#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"

/// Binary searches in sorted ranges: for one value, or for many, each by a thread of its own.
namespace thrust {
namespace detail {

/// Returns the first number whose element is not less than the value.
template <class Elements, class T, class Less>
int64_t lower_number(Elements& elements, int64_t n, const T& value, Less& less) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (less(elements[middle], value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
/// Returns the first number whose element is greater than the value.
template <class Elements, class T, class Less>
int64_t upper_number(Elements& elements, int64_t n, const T& value, Less& less) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (less(value, elements[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

struct LowerNumber {
  template <class Elements, class T, class Less>
  auto operator()(Elements& elements, int64_t n, const T& value, Less& less) const {
    return static_cast<ptrdiff_t>(lower_number(elements, n, value, less));
  }
};
struct UpperNumber {
  template <class Elements, class T, class Less>
  auto operator()(Elements& elements, int64_t n, const T& value, Less& less) const {
    return static_cast<ptrdiff_t>(upper_number(elements, n, value, less));
  }
};
struct IsPresent {
  template <class Elements, class T, class Less>
  bool operator()(Elements& elements, int64_t n, const T& value, Less& less) const {
    const int64_t at = lower_number(elements, n, value, less);
    return at < n && !less(value, elements[at]);
  }
};

/// Calls Search for one value, which may be anything but an iterator, or for a range of values.
template <class Search>
struct SearchValues {
  template <class R, class C, class I, class T, class Less>
  static R one(const C& context, I first, I last, const T& value, Less less) {
    const int64_t n = count_between(first, last);
    auto elements = context.element_access(first);
    return context.template compute<R>([=]() mutable -> R { return Search()(elements, n, value, less); });
  }
  template <class C, class I, class Values, class Out>
  static Out run(const C& context, I first, I last, Values first_value, Values last_value, Out out) {
    return run(context, first, last, first_value, last_value, out, thrust::less<>());
  }
  template <class C, class I, class Values, class Out, class Less>
  static Out run(const C& context, I first, I last, Values first_value, Values last_value, Out out, Less less) {
    const int64_t n = count_between(first, last), count = count_between(first_value, last_value);
    auto elements = context.element_access(first);
    auto values = context.element_access(first_value);
    auto to = context.element_access(out);
    context.each(count, [=](int64_t i) mutable {
      const value_of<Values> value = values[i];
      to[i] = Search()(elements, n, value, less);
    });
    return moved(out, count);
  }
};

template <class Search>
struct Bound : SearchValues<Search> {
  using SearchValues<Search>::run;
  template <class C, class I, class T>
  static I run(const C& context, I first, I last, const T& value) {
    return run(context, first, last, value, thrust::less<>());
  }
  template <class C, class I, class T, class Less>
  static I run(const C& context, I first, I last, const T& value, Less less) {
    return moved(first, Bound::template one<ptrdiff_t>(context, first, last, value, less));
  }
};
using LowerBound = Bound<LowerNumber>;
using UpperBound = Bound<UpperNumber>;

struct BinarySearch : SearchValues<IsPresent> {
  using SearchValues<IsPresent>::run;
  template <class C, class I, class T>
  static bool run(const C& context, I first, I last, const T& value) {
    return run(context, first, last, value, thrust::less<>());
  }
  template <class C, class I, class T, class Less>
  static bool run(const C& context, I first, I last, const T& value, Less less) {
    return one<bool>(context, first, last, value, less);
  }
};

struct EqualRange {
  template <class C, class I, class T, class... Less>
  static pair<I, I> run(const C& context, I first, I last, const T& value, Less... less) {
    return {LowerBound::run(context, first, last, value, less...),
            UpperBound::run(context, first, last, value, less...)};
  }
};

}  // namespace detail

CONVLAB_THRUST_CALL_3(lower_bound, LowerBound)
CONVLAB_THRUST_CALL_4(lower_bound, LowerBound)
CONVLAB_THRUST_CALL_5(lower_bound, LowerBound)
CONVLAB_THRUST_CALL_6(lower_bound, LowerBound)
CONVLAB_THRUST_CALL_7(lower_bound, LowerBound)
CONVLAB_THRUST_CALL_3(upper_bound, UpperBound)
CONVLAB_THRUST_CALL_4(upper_bound, UpperBound)
CONVLAB_THRUST_CALL_5(upper_bound, UpperBound)
CONVLAB_THRUST_CALL_6(upper_bound, UpperBound)
CONVLAB_THRUST_CALL_7(upper_bound, UpperBound)
CONVLAB_THRUST_CALL_3(binary_search, BinarySearch)
CONVLAB_THRUST_CALL_4(binary_search, BinarySearch)
CONVLAB_THRUST_CALL_5(binary_search, BinarySearch)
CONVLAB_THRUST_CALL_6(binary_search, BinarySearch)
CONVLAB_THRUST_CALL_7(binary_search, BinarySearch)
CONVLAB_THRUST_CALL_3(equal_range, EqualRange)
CONVLAB_THRUST_CALL_4(equal_range, EqualRange)
CONVLAB_THRUST_CALL_5(equal_range, EqualRange)

}  // namespace thrust
