#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"

/// Prefix sums. One thread computes them in order, so a GPU's sums of floats may differ in the last bits. The output
/// may be the input.
namespace thrust {
namespace detail {

/// `value(i)`: the values to scan. Without kHasInit the first value starts the sum.
template <bool kInclusive, bool kHasInit, class T, class C, class Out, class Op, class Get>
Out scan_values(const C& context, int64_t n, Out out, T init, Op op, Get value) {
  auto to = context.element_access(out);
  if (n == 0) return out;
  context.template compute<void>([=]() mutable {
    T sum = init;
    for (int64_t i = 0; i < n; ++i) {
      const T own = value(i);
      const T next = kHasInit || i > 0 ? static_cast<T>(op(sum, own)) : own;
      to[i] = kInclusive ? next : sum;
      sum = next;
    }
  });
  return moved(out, n);
}

/// The same for each run of equal keys.
template <bool kInclusive, class T, class C, class Keys, class In, class Out, class Equal, class Op>
Out scan_runs(const C& context, Keys first_key, Keys last_key, In input, Out out, T init, Equal are_equal, Op op) {
  const int64_t n = count_between(first_key, last_key);
  auto keys = context.element_access(first_key);
  auto in = context.element_access(input);
  auto to = context.element_access(out);
  if (n == 0) return out;
  context.template compute<void>([=]() mutable {
    T sum = init;
    value_of<Keys> before = keys[0];
    for (int64_t i = 0; i < n; ++i) {
      const value_of<Keys> key = keys[i];
      const T own = in[i];
      const bool starts = i == 0 || !are_equal(before, key);
      if (starts) sum = init;
      const T next = kInclusive && starts ? own : static_cast<T>(op(sum, own));
      to[i] = kInclusive ? next : sum;
      sum = next;
      before = key;
    }
  });
  return moved(out, n);
}

struct InclusiveScan {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    return run(context, first, last, out, thrust::plus<>());
  }
  template <class C, class In, class Out, class Op>
  static Out run(const C& context, In first, In last, Out out, Op op) {
    auto in = context.element_access(first);
    using T = value_of<In>;
    return scan_values<true, false>(context, count_between(first, last), out, T(), op,
                                    [=](int64_t i) mutable -> T { return in[i]; });
  }
  template <class C, class In, class Out, class T, class Op>
  static Out run(const C& context, In first, In last, Out out, T init, Op op) {
    auto in = context.element_access(first);
    return scan_values<true, true>(context, count_between(first, last), out, init, op,
                                   [=](int64_t i) mutable -> T { return in[i]; });
  }
};

struct ExclusiveScan {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    return run(context, first, last, out, value_of<In>());
  }
  template <class C, class In, class Out, class T>
  static Out run(const C& context, In first, In last, Out out, T init) {
    return run(context, first, last, out, init, thrust::plus<>());
  }
  template <class C, class In, class Out, class T, class Op>
  static Out run(const C& context, In first, In last, Out out, T init, Op op) {
    auto in = context.element_access(first);
    return scan_values<false, true>(context, count_between(first, last), out, init, op,
                                    [=](int64_t i) mutable -> T { return in[i]; });
  }
};

struct TransformInclusiveScan {
  template <class C, class In, class Out, class F, class Op>
  static Out run(const C& context, In first, In last, Out out, F f, Op op) {
    auto in = context.element_access(first);
    using T = std::remove_cvref_t<std::invoke_result_t<F&, value_of<In>&>>;
    return scan_values<true, false>(context, count_between(first, last), out, T(), op,
                                    [=](int64_t i) mutable -> T { return f(in[i]); });
  }
  template <class C, class In, class Out, class F, class T, class Op>
  static Out run(const C& context, In first, In last, Out out, F f, T init, Op op) {
    auto in = context.element_access(first);
    return scan_values<true, true>(context, count_between(first, last), out, init, op,
                                   [=](int64_t i) mutable -> T { return f(in[i]); });
  }
};
struct TransformExclusiveScan {
  template <class C, class In, class Out, class F, class T, class Op>
  static Out run(const C& context, In first, In last, Out out, F f, T init, Op op) {
    auto in = context.element_access(first);
    return scan_values<false, true>(context, count_between(first, last), out, init, op,
                                    [=](int64_t i) mutable -> T { return f(in[i]); });
  }
};

struct InclusiveScanByKey {
  template <class C, class Keys, class In, class Out>
  static Out run(const C& context, Keys first, Keys last, In in, Out out) {
    return run(context, first, last, in, out, thrust::equal_to<>());
  }
  template <class C, class Keys, class In, class Out, class Equal>
  static Out run(const C& context, Keys first, Keys last, In in, Out out, Equal are_equal) {
    return run(context, first, last, in, out, are_equal, thrust::plus<>());
  }
  template <class C, class Keys, class In, class Out, class Equal, class Op>
  static Out run(const C& context, Keys first, Keys last, In in, Out out, Equal are_equal, Op op) {
    return scan_runs<true>(context, first, last, in, out, value_of<In>(), are_equal, op);
  }
};
struct ExclusiveScanByKey {
  template <class C, class Keys, class In, class Out>
  static Out run(const C& context, Keys first, Keys last, In in, Out out) {
    return run(context, first, last, in, out, value_of<In>());
  }
  template <class C, class Keys, class In, class Out, class T>
  static Out run(const C& context, Keys first, Keys last, In in, Out out, T init) {
    return run(context, first, last, in, out, init, thrust::equal_to<>());
  }
  template <class C, class Keys, class In, class Out, class T, class Equal>
  static Out run(const C& context, Keys first, Keys last, In in, Out out, T init, Equal are_equal) {
    return run(context, first, last, in, out, init, are_equal, thrust::plus<>());
  }
  template <class C, class Keys, class In, class Out, class T, class Equal, class Op>
  static Out run(const C& context, Keys first, Keys last, In in, Out out, T init, Equal are_equal, Op op) {
    return scan_runs<false>(context, first, last, in, out, init, are_equal, op);
  }
};

}  // namespace detail

CONVLAB_THRUST_CALL_3(inclusive_scan, InclusiveScan)
CONVLAB_THRUST_CALL_4(inclusive_scan, InclusiveScan)
CONVLAB_THRUST_CALL_5(inclusive_scan, InclusiveScan)
CONVLAB_THRUST_CALL_6(inclusive_scan, InclusiveScan)
CONVLAB_THRUST_CALL_3(exclusive_scan, ExclusiveScan)
CONVLAB_THRUST_CALL_4(exclusive_scan, ExclusiveScan)
CONVLAB_THRUST_CALL_5(exclusive_scan, ExclusiveScan)
CONVLAB_THRUST_CALL_6(exclusive_scan, ExclusiveScan)
CONVLAB_THRUST_CALL_5(transform_inclusive_scan, TransformInclusiveScan)
CONVLAB_THRUST_CALL_6(transform_inclusive_scan, TransformInclusiveScan)
CONVLAB_THRUST_CALL_7(transform_inclusive_scan, TransformInclusiveScan)
CONVLAB_THRUST_CALL_6(transform_exclusive_scan, TransformExclusiveScan)
CONVLAB_THRUST_CALL_7(transform_exclusive_scan, TransformExclusiveScan)
CONVLAB_THRUST_CALL_4(inclusive_scan_by_key, InclusiveScanByKey)
CONVLAB_THRUST_CALL_5(inclusive_scan_by_key, InclusiveScanByKey)
CONVLAB_THRUST_CALL_6(inclusive_scan_by_key, InclusiveScanByKey)
CONVLAB_THRUST_CALL_7(inclusive_scan_by_key, InclusiveScanByKey)
CONVLAB_THRUST_CALL_4(exclusive_scan_by_key, ExclusiveScanByKey)
CONVLAB_THRUST_CALL_5(exclusive_scan_by_key, ExclusiveScanByKey)
CONVLAB_THRUST_CALL_6(exclusive_scan_by_key, ExclusiveScanByKey)
CONVLAB_THRUST_CALL_7(exclusive_scan_by_key, ExclusiveScanByKey)
CONVLAB_THRUST_CALL_8(exclusive_scan_by_key, ExclusiveScanByKey)

}  // namespace thrust
