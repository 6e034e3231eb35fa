#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"

/// Algorithms that return one value. Each part of a long range is reduced by one thread, and one thread combines the
/// results: sums of floats have another order than a GPU's, and always the same one.
namespace thrust {
namespace detail {

/// Returns op(... op(op(init, value(0)), value(1)) ..., value(n - 1)) for an associative op.
template <class C, class T, class Op, class Get>
T reduce_values(const C& context, int64_t n, T init, Op op, Get value) {
  if constexpr (C::kOnDevice) {
    if (!context.is_sequential() && C::part_count(n) > 1) {
      const int64_t parts = C::part_count(n);
      Temporary<T> partial(parts, context.where());
      T* const sums = partial.data();
      context.parts(n, [=](int64_t part, int64_t begin, int64_t end) mutable {
        T sum = value(begin);
        for (int64_t i = begin + 1; i < end; ++i) sum = op(sum, value(i));
        ::new (static_cast<void*>(&sums[part])) T(sum);
      });
      return context.template compute<T>([=]() mutable {
        T sum = init;
        for (int64_t part = 0; part < parts; ++part) sum = op(sum, sums[part]);
        return sum;
      });
    }
  }
  if (n == 0) return init;
  return context.template compute<T>([=]() mutable {
    T sum = init;
    for (int64_t i = 0; i < n; ++i) sum = op(sum, value(i));
    return sum;
  });
}

struct Reduce {
  template <class C, class In>
  static value_of<In> run(const C& context, In first, In last) {
    return run(context, first, last, value_of<In>());
  }
  template <class C, class In, class T>
  static T run(const C& context, In first, In last, T init) {
    return run(context, first, last, init, thrust::plus<>());
  }
  template <class C, class In, class T, class Op>
  static T run(const C& context, In first, In last, T init, Op op) {
    auto in = context.element_access(first);
    return reduce_values(context, count_between(first, last), init, op,
                         [=](int64_t i) mutable -> value_of<In> { return in[i]; });
  }
};

struct TransformReduce {
  template <class C, class In, class F, class T, class Op>
  static T run(const C& context, In first, In last, F f, T init, Op op) {
    auto in = context.element_access(first);
    return reduce_values(context, count_between(first, last), init, op,
                         [=](int64_t i) mutable -> T { return f(in[i]); });
  }
};

struct InnerProduct {
  template <class C, class A, class B, class T>
  static T run(const C& context, A first_a, A last_a, B first_b, T init) {
    return run(context, first_a, last_a, first_b, init, thrust::plus<>(), thrust::multiplies<>());
  }
  template <class C, class A, class B, class T, class Sum, class Product>
  static T run(const C& context, A first_a, A last_a, B first_b, T init, Sum sum, Product product) {
    auto a = context.element_access(first_a);
    auto b = context.element_access(first_b);
    return reduce_values(context, count_between(first_a, last_a), init, sum,
                         [=](int64_t i) mutable -> T { return product(a[i], b[i]); });
  }
};

struct CountIf {
  template <class C, class In, class Predicate>
  static auto run(const C& context, In first, In last, Predicate is_counted) {
    auto in = context.element_access(first);
    const int64_t count = reduce_values(context, count_between(first, last), int64_t{0}, thrust::plus<int64_t>(),
                                        [=](int64_t i) mutable -> int64_t { return is_counted(in[i]) ? 1 : 0; });
    return static_cast<typename std::iterator_traits<In>::difference_type>(count);
  }
};
struct Count {
  template <class C, class In, class T>
  static auto run(const C& context, In first, In last, const T& value) {
    return CountIf::run(context, first, last, [value](const auto& element) { return element == value; });
  }
};

// ---- The first element that ... ----

/// Returns the first number below n for which the function returns true; n if there is none.
template <class C, class F>
int64_t first_number(const C& context, int64_t n, F is_found) {
  if (n == 0) return 0;
  return context.template compute<int64_t>([=]() mutable {
    int64_t i = 0;
    while (i < n && !is_found(i)) ++i;
    return i;
  });
}

struct FindIf {
  template <class C, class In, class Predicate>
  static In run(const C& context, In first, In last, Predicate is_found) {
    auto in = context.element_access(first);
    return moved(first, first_number(context, count_between(first, last),
                                     [=](int64_t i) mutable { return static_cast<bool>(is_found(in[i])); }));
  }
};
struct FindIfNot {
  template <class C, class In, class Predicate>
  static In run(const C& context, In first, In last, Predicate is_right) {
    return FindIf::run(context, first, last, Not<Predicate>{is_right});
  }
};
struct Find {
  template <class C, class In, class T>
  static In run(const C& context, In first, In last, const T& value) {
    return FindIf::run(context, first, last, [value](const auto& element) { return element == value; });
  }
};

struct AllOf {
  template <class C, class In, class Predicate>
  static bool run(const C& context, In first, In last, Predicate is_right) {
    return FindIfNot::run(context, first, last, is_right) == last;
  }
};
struct AnyOf {
  template <class C, class In, class Predicate>
  static bool run(const C& context, In first, In last, Predicate is_right) {
    return FindIf::run(context, first, last, is_right) != last;
  }
};
struct NoneOf {
  template <class C, class In, class Predicate>
  static bool run(const C& context, In first, In last, Predicate is_right) {
    return !AnyOf::run(context, first, last, is_right);
  }
};

struct Mismatch {
  template <class C, class A, class B>
  static auto run(const C& context, A first_a, A last_a, B first_b) {
    return run(context, first_a, last_a, first_b, thrust::equal_to<>());
  }
  template <class C, class A, class B, class Predicate>
  static pair<A, B> run(const C& context, A first_a, A last_a, B first_b, Predicate are_equal) {
    auto a = context.element_access(first_a);
    auto b = context.element_access(first_b);
    const int64_t n = first_number(context, count_between(first_a, last_a),
                                   [=](int64_t i) mutable { return !are_equal(a[i], b[i]); });
    return {moved(first_a, n), moved(first_b, n)};
  }
};
struct Equal {
  template <class C, class A, class B>
  static bool run(const C& context, A first_a, A last_a, B first_b) {
    return Mismatch::run(context, first_a, last_a, first_b).first == last_a;
  }
  template <class C, class A, class B, class Predicate>
  static bool run(const C& context, A first_a, A last_a, B first_b, Predicate are_equal) {
    return Mismatch::run(context, first_a, last_a, first_b, are_equal).first == last_a;
  }
};

struct IsSortedUntil {
  template <class C, class In>
  static In run(const C& context, In first, In last) {
    return run(context, first, last, thrust::less<>());
  }
  template <class C, class In, class Less>
  static In run(const C& context, In first, In last, Less less) {
    const int64_t n = count_between(first, last);
    if (n < 2) return last;
    auto in = context.element_access(first);
    return moved(first, 1 + first_number(context, n - 1, [=](int64_t i) mutable { return less(in[i + 1], in[i]); }));
  }
};
struct IsSorted {
  template <class C, class In, class... Less>
  static bool run(const C& context, In first, In last, Less... less) {
    return IsSortedUntil::run(context, first, last, less...) == last;
  }
};

struct IsPartitioned {
  template <class C, class In, class Predicate>
  static bool run(const C& context, In first, In last, Predicate is_first) {
    const In end = FindIfNot::run(context, first, last, is_first);
    return NoneOf::run(context, end, last, is_first);
  }
};
struct PartitionPoint {
  template <class C, class In, class Predicate>
  static In run(const C& context, In first, In last, Predicate is_first) {
    return FindIfNot::run(context, first, last, is_first);
  }
};

// ---- Extrema ----

/// Returns the number of the first element that no other one is better than.
template <class C, class In, class Better>
int64_t best_number(const C& context, In first, int64_t n, Better is_better) {
  auto in = context.element_access(first);
  return reduce_values(
      context, n, int64_t{0}, [=](int64_t a, int64_t b) mutable -> int64_t { return is_better(in[b], in[a]) ? b : a; },
      [](int64_t i) { return i; });
}

struct MinElement {
  template <class C, class In>
  static In run(const C& context, In first, In last) {
    return run(context, first, last, thrust::less<>());
  }
  template <class C, class In, class Less>
  static In run(const C& context, In first, In last, Less less) {
    return moved(first, best_number(context, first, count_between(first, last), less));
  }
};
struct MaxElement {
  template <class C, class In>
  static In run(const C& context, In first, In last) {
    return run(context, first, last, thrust::less<>());
  }
  template <class C, class In, class Less>
  static In run(const C& context, In first, In last, Less less) {
    return moved(first, best_number(context, first, count_between(first, last),
                                    [less](const auto& a, const auto& b) mutable { return less(b, a); }));
  }
};
struct MinmaxElement {
  template <class C, class In, class... Less>
  static pair<In, In> run(const C& context, In first, In last, Less... less) {
    return {MinElement::run(context, first, last, less...), MaxElement::run(context, first, last, less...)};
  }
};

}  // namespace detail

template <class T>
const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T, class Less>
const T& min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T>
const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T, class Less>
const T& max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}

CONVLAB_THRUST_CALL_2(reduce, Reduce)
CONVLAB_THRUST_CALL_3(reduce, Reduce)
CONVLAB_THRUST_CALL_4(reduce, Reduce)
CONVLAB_THRUST_CALL_5(reduce, Reduce)
CONVLAB_THRUST_CALL_5(transform_reduce, TransformReduce)
CONVLAB_THRUST_CALL_6(transform_reduce, TransformReduce)
CONVLAB_THRUST_CALL_4(inner_product, InnerProduct)
CONVLAB_THRUST_CALL_5(inner_product, InnerProduct)
CONVLAB_THRUST_CALL_6(inner_product, InnerProduct)
CONVLAB_THRUST_CALL_7(inner_product, InnerProduct)
CONVLAB_THRUST_CALL_3(count, Count)
CONVLAB_THRUST_CALL_4(count, Count)
CONVLAB_THRUST_CALL_3(count_if, CountIf)
CONVLAB_THRUST_CALL_4(count_if, CountIf)
CONVLAB_THRUST_CALL_3(find, Find)
CONVLAB_THRUST_CALL_4(find, Find)
CONVLAB_THRUST_CALL_3(find_if, FindIf)
CONVLAB_THRUST_CALL_4(find_if, FindIf)
CONVLAB_THRUST_CALL_3(find_if_not, FindIfNot)
CONVLAB_THRUST_CALL_4(find_if_not, FindIfNot)
CONVLAB_THRUST_CALL_3(all_of, AllOf)
CONVLAB_THRUST_CALL_4(all_of, AllOf)
CONVLAB_THRUST_CALL_3(any_of, AnyOf)
CONVLAB_THRUST_CALL_4(any_of, AnyOf)
CONVLAB_THRUST_CALL_3(none_of, NoneOf)
CONVLAB_THRUST_CALL_4(none_of, NoneOf)
CONVLAB_THRUST_CALL_3(mismatch, Mismatch)
CONVLAB_THRUST_CALL_4(mismatch, Mismatch)
CONVLAB_THRUST_CALL_5(mismatch, Mismatch)
CONVLAB_THRUST_CALL_3(equal, Equal)
CONVLAB_THRUST_CALL_4(equal, Equal)
CONVLAB_THRUST_CALL_5(equal, Equal)
CONVLAB_THRUST_CALL_2(is_sorted, IsSorted)
CONVLAB_THRUST_CALL_3(is_sorted, IsSorted)
CONVLAB_THRUST_CALL_4(is_sorted, IsSorted)
CONVLAB_THRUST_CALL_2(is_sorted_until, IsSortedUntil)
CONVLAB_THRUST_CALL_3(is_sorted_until, IsSortedUntil)
CONVLAB_THRUST_CALL_4(is_sorted_until, IsSortedUntil)
CONVLAB_THRUST_CALL_3(is_partitioned, IsPartitioned)
CONVLAB_THRUST_CALL_4(is_partitioned, IsPartitioned)
CONVLAB_THRUST_CALL_3(partition_point, PartitionPoint)
CONVLAB_THRUST_CALL_4(partition_point, PartitionPoint)
CONVLAB_THRUST_CALL_2(min_element, MinElement)
CONVLAB_THRUST_CALL_3(min_element, MinElement)
CONVLAB_THRUST_CALL_4(min_element, MinElement)
CONVLAB_THRUST_CALL_2(max_element, MaxElement)
CONVLAB_THRUST_CALL_3(max_element, MaxElement)
CONVLAB_THRUST_CALL_4(max_element, MaxElement)
CONVLAB_THRUST_CALL_2(minmax_element, MinmaxElement)
CONVLAB_THRUST_CALL_3(minmax_element, MinmaxElement)
CONVLAB_THRUST_CALL_4(minmax_element, MinmaxElement)

}  // namespace thrust
