#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/discard_iterator.h"

/// Merges and set operations of sorted ranges, by one thread. If the ranges have equal elements, the first range's come
/// first. Values, if there are any, go with their keys.
namespace thrust {
namespace detail {

/// What a set operation keeps: elements only in a, only in b, and pairs of equal elements once (of a) or both.
struct Kept {
  bool only_a, only_b;
  int of_both;
};
inline constexpr Kept kMerged{true, true, 2}, kUnion{true, true, 1}, kIntersection{false, false, 1},
    kDifference{true, false, 0}, kSymmetricDifference{true, true, 0};

/// Keys and values that have not been looked at yet.
template <class Keys, class Values>
struct MergeInput {
  Keys keys;
  Values values;
  int64_t at, n;
};

template <class A, class B, class KeysOut, class ValuesOut, class Less>
int64_t merge_loop(A a, B b, KeysOut keys_out, ValuesOut values_out, Less less, Kept kept) {
  int64_t count = 0;
  const auto take = [&](auto& from, bool is_kept) {
    if (is_kept) {
      keys_out[count] = from.keys[from.at];
      values_out[count] = from.values[from.at];
      ++count;
    }
    ++from.at;
  };
  while (a.at < a.n || b.at < b.n) {
    if (b.at == b.n || (a.at < a.n && less(a.keys[a.at], b.keys[b.at]))) {
      take(a, kept.only_a);
    } else if (a.at == a.n || less(b.keys[b.at], a.keys[a.at])) {
      take(b, kept.only_b);
    } else if (kept.of_both == 2) {
      take(a, true);  // the next turn compares b's element with a's next one
    } else {
      take(a, kept.of_both > 0);
      ++b.at;
    }
  }
  return count;
}

/// By key. `Kept` is a constant, so that each operation has a name of its own.
template <const Kept& kKept>
struct SetOperationByKey {
  template <class C, class A, class B, class AValues, class BValues, class KeysOut, class ValuesOut>
  static auto run(const C& context, A a, A a_end, B b, B b_end, AValues a_values, BValues b_values, KeysOut keys_out,
                  ValuesOut values_out) {
    return run(context, a, a_end, b, b_end, a_values, b_values, keys_out, values_out, thrust::less<>());
  }
  template <class C, class A, class B, class AValues, class BValues, class KeysOut, class ValuesOut, class Less>
  static pair<KeysOut, ValuesOut> run(const C& context, A a, A a_end, B b, B b_end, AValues a_values, BValues b_values,
                                      KeysOut keys_out, ValuesOut values_out, Less less) {
    MergeInput first{context.element_access(a), context.element_access(a_values), 0, count_between(a, a_end)};
    MergeInput second{context.element_access(b), context.element_access(b_values), 0, count_between(b, b_end)};
    auto to_keys = context.element_access(keys_out);
    auto to_values = context.element_access(values_out);
    const int64_t count = context.template compute<int64_t>(
        [=]() mutable { return merge_loop(first, second, to_keys, to_values, less, kKept); });
    return {moved(keys_out, count), moved(values_out, count)};
  }
};

template <const Kept& kKept>
struct SetOperation {
  template <class C, class A, class B, class Out, class... Less>
  static Out run(const C& context, A a, A a_end, B b, B b_end, Out out, Less... less) {
    const discard_iterator<> none;
    return SetOperationByKey<kKept>::run(context, a, a_end, b, b_end, NoValues(), NoValues(), out, none, less...).first;
  }

 private:
  struct NoValues {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = int;
    using difference_type = ptrdiff_t;
    using pointer = int*;
    using reference = int;
    int operator[](int64_t) const { return 0; }
  };
};

/// An intersection has values of the first range only.
struct IntersectionByKey {
  template <class C, class A, class B, class Values, class KeysOut, class ValuesOut, class... Less>
  static pair<KeysOut, ValuesOut> run(const C& context, A a, A a_end, B b, B b_end, Values values, KeysOut keys_out,
                                      ValuesOut values_out, Less... less) {
    return SetOperationByKey<kIntersection>::run(context, a, a_end, b, b_end, values, values, keys_out, values_out,
                                                 less...);
  }
};

using Merge = SetOperation<kMerged>;
using SetUnion = SetOperation<kUnion>;
using SetIntersection = SetOperation<kIntersection>;
using SetDifference = SetOperation<kDifference>;
using SetSymmetricDifference = SetOperation<kSymmetricDifference>;
using MergeByKey = SetOperationByKey<kMerged>;
using SetUnionByKey = SetOperationByKey<kUnion>;
using SetDifferenceByKey = SetOperationByKey<kDifference>;
using SetSymmetricDifferenceByKey = SetOperationByKey<kSymmetricDifference>;

}  // namespace detail

CONVLAB_THRUST_CALL_5(merge, Merge)
CONVLAB_THRUST_CALL_6(merge, Merge)
CONVLAB_THRUST_CALL_7(merge, Merge)
CONVLAB_THRUST_CALL_5(set_union, SetUnion)
CONVLAB_THRUST_CALL_6(set_union, SetUnion)
CONVLAB_THRUST_CALL_7(set_union, SetUnion)
CONVLAB_THRUST_CALL_5(set_intersection, SetIntersection)
CONVLAB_THRUST_CALL_6(set_intersection, SetIntersection)
CONVLAB_THRUST_CALL_7(set_intersection, SetIntersection)
CONVLAB_THRUST_CALL_5(set_difference, SetDifference)
CONVLAB_THRUST_CALL_6(set_difference, SetDifference)
CONVLAB_THRUST_CALL_7(set_difference, SetDifference)
CONVLAB_THRUST_CALL_5(set_symmetric_difference, SetSymmetricDifference)
CONVLAB_THRUST_CALL_6(set_symmetric_difference, SetSymmetricDifference)
CONVLAB_THRUST_CALL_7(set_symmetric_difference, SetSymmetricDifference)
CONVLAB_THRUST_CALL_8(merge_by_key, MergeByKey)
CONVLAB_THRUST_CALL_9(merge_by_key, MergeByKey)
CONVLAB_THRUST_CALL_10(merge_by_key, MergeByKey)
CONVLAB_THRUST_CALL_8(set_union_by_key, SetUnionByKey)
CONVLAB_THRUST_CALL_9(set_union_by_key, SetUnionByKey)
CONVLAB_THRUST_CALL_10(set_union_by_key, SetUnionByKey)
CONVLAB_THRUST_CALL_7(set_intersection_by_key, IntersectionByKey)
CONVLAB_THRUST_CALL_8(set_intersection_by_key, IntersectionByKey)
CONVLAB_THRUST_CALL_9(set_intersection_by_key, IntersectionByKey)
CONVLAB_THRUST_CALL_8(set_difference_by_key, SetDifferenceByKey)
CONVLAB_THRUST_CALL_9(set_difference_by_key, SetDifferenceByKey)
CONVLAB_THRUST_CALL_10(set_difference_by_key, SetDifferenceByKey)
CONVLAB_THRUST_CALL_8(set_symmetric_difference_by_key, SetSymmetricDifferenceByKey)
CONVLAB_THRUST_CALL_9(set_symmetric_difference_by_key, SetSymmetricDifferenceByKey)
CONVLAB_THRUST_CALL_10(set_symmetric_difference_by_key, SetSymmetricDifferenceByKey)

}  // namespace thrust
