#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"

/// Algorithms whose results depend on one element each: a thread computes one.
namespace thrust {
namespace detail {

struct ForEachN {
  template <class C, class I, class Count, class F>
  static I run(const C& context, I first, Count n, F f) {
    auto elements = context.element_access(first);
    context.each(static_cast<int64_t>(n), [=](int64_t i) mutable { f(elements[i]); });
    return moved(first, static_cast<int64_t>(n));
  }
};
struct ForEach {
  template <class C, class I, class F>
  static I run(const C& context, I first, I last, F f) {
    return ForEachN::run(context, first, count_between(first, last), f);
  }
};

struct Transform {
  template <class C, class In, class Out, class F>
  static Out run(const C& context, In first, In last, Out out, F f) {
    const int64_t n = count_between(first, last);
    auto in = context.element_access(first);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable { to[i] = f(in[i]); });
    return moved(out, n);
  }
  template <class C, class A, class B, class Out, class F>
  static Out run(const C& context, A first_a, A last_a, B first_b, Out out, F f) {
    const int64_t n = count_between(first_a, last_a);
    auto a = context.element_access(first_a);
    auto b = context.element_access(first_b);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable { to[i] = f(a[i], b[i]); });
    return moved(out, n);
  }
};

struct TransformIf {
  /// Where the predicate is true of the element.
  template <class C, class In, class Out, class F, class Predicate>
  static Out run(const C& context, In first, In last, Out out, F f, Predicate is_chosen) {
    return run(context, first, last, first, out, f, is_chosen);
  }
  /// Where it is true of the stencil.
  template <class C, class In, class Stencil, class Out, class F, class Predicate>
  static Out run(const C& context, In first, In last, Stencil stencil, Out out, F f, Predicate is_chosen) {
    const int64_t n = count_between(first, last);
    auto in = context.element_access(first);
    auto flags = context.element_access(stencil);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable {
      if (is_chosen(flags[i])) to[i] = f(in[i]);
    });
    return moved(out, n);
  }
  template <class C, class A, class B, class Stencil, class Out, class F, class Predicate>
  static Out run(const C& context, A first_a, A last_a, B first_b, Stencil stencil, Out out, F f, Predicate is_chosen) {
    const int64_t n = count_between(first_a, last_a);
    auto a = context.element_access(first_a);
    auto b = context.element_access(first_b);
    auto flags = context.element_access(stencil);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable {
      if (is_chosen(flags[i])) to[i] = f(a[i], b[i]);
    });
    return moved(out, n);
  }
};

// ---- Values that need no input ----

struct TabulateN {
  /// Sets element i to f(i).
  template <class C, class Out, class F>
  static Out run(const C& context, Out first, int64_t n, F f) {
    auto to = context.element_access(first);
    context.each(n, [=](int64_t i) mutable { to[i] = f(i); });
    return moved(first, n);
  }
};

struct Fill {
  template <class C, class Out, class T>
  static void run(const C& context, Out first, Out last, const T& value) {
    TabulateN::run(context, first, count_between(first, last), [value](int64_t) { return value; });
  }
};
struct FillN {
  template <class C, class Out, class Count, class T>
  static Out run(const C& context, Out first, Count n, const T& value) {
    return TabulateN::run(context, first, static_cast<int64_t>(n), [value](int64_t) { return value; });
  }
};

struct Sequence {
  template <class C, class Out>
  static void run(const C& context, Out first, Out last) {
    run(context, first, last, value_of<Out>(0), value_of<Out>(1));
  }
  template <class C, class Out, class T>
  static void run(const C& context, Out first, Out last, T start) {
    run(context, first, last, start, T(1));
  }
  template <class C, class Out, class T, class Step>
  static void run(const C& context, Out first, Out last, T start, Step step) {
    TabulateN::run(context, first, count_between(first, last),
                   [start, step](int64_t i) { return static_cast<T>(start + static_cast<T>(i) * step); });
  }
};

struct Tabulate {
  template <class C, class Out, class F>
  static void run(const C& context, Out first, Out last, F f) {
    using Index = typename std::iterator_traits<Out>::difference_type;
    TabulateN::run(context, first, count_between(first, last),
                   [f](int64_t i) mutable { return f(static_cast<Index>(i)); });
  }
};

/// On the device each thread has a copy of the generator, as in Thrust.
struct Generate {
  template <class C, class Out, class F>
  static void run(const C& context, Out first, Out last, F f) {
    TabulateN::run(context, first, count_between(first, last), [f](int64_t) mutable { return f(); });
  }
};
struct GenerateN {
  template <class C, class Out, class Count, class F>
  static Out run(const C& context, Out first, Count n, F f) {
    return TabulateN::run(context, first, static_cast<int64_t>(n), [f](int64_t) mutable { return f(); });
  }
};

// ---- Replacement ----

struct ReplaceCopyIf {
  template <class C, class In, class Out, class Predicate, class T>
  static Out run(const C& context, In first, In last, Out out, Predicate is_old, const T& value) {
    return run(context, first, last, first, out, is_old, value);
  }
  template <class C, class In, class Stencil, class Out, class Predicate, class T>
  static Out run(const C& context, In first, In last, Stencil stencil, Out out, Predicate is_old, const T& value) {
    const int64_t n = count_between(first, last);
    auto in = context.element_access(first);
    auto flags = context.element_access(stencil);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable {
      if (is_old(flags[i])) {
        to[i] = value;
      } else {
        to[i] = in[i];
      }
    });
    return moved(out, n);
  }
};

struct ReplaceIf {
  template <class C, class I, class Predicate, class T>
  static void run(const C& context, I first, I last, Predicate is_old, const T& value) {
    run(context, first, last, first, is_old, value);
  }
  template <class C, class I, class Stencil, class Predicate, class T>
  static void run(const C& context, I first, I last, Stencil stencil, Predicate is_old, const T& value) {
    auto elements = context.element_access(first);
    auto flags = context.element_access(stencil);
    context.each(count_between(first, last), [=](int64_t i) mutable {
      if (is_old(flags[i])) elements[i] = value;
    });
  }
};

template <class T>
struct EqualsValue {
  T value;
  template <class Element>
  bool operator()(const Element& element) const {
    return element == value;
  }
};

struct Replace {
  template <class C, class I, class T>
  static void run(const C& context, I first, I last, const T& old_value, const T& value) {
    ReplaceIf::run(context, first, last, EqualsValue<T>{old_value}, value);
  }
};
struct ReplaceCopy {
  template <class C, class In, class Out, class T>
  static Out run(const C& context, In first, In last, Out out, const T& old_value, const T& value) {
    return ReplaceCopyIf::run(context, first, last, out, EqualsValue<T>{old_value}, value);
  }
};

// ---- Places ----

struct Gather {
  template <class C, class Map, class In, class Out>
  static Out run(const C& context, Map first, Map last, In input, Out out) {
    const int64_t n = count_between(first, last);
    auto map = context.element_access(first);
    auto in = context.element_access(input);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable { to[i] = in[static_cast<ptrdiff_t>(map[i])]; });
    return moved(out, n);
  }
};
struct GatherIf {
  template <class C, class Map, class Stencil, class In, class Out>
  static Out run(const C& context, Map first, Map last, Stencil stencil, In input, Out out) {
    return run(context, first, last, stencil, input, out, [](const auto& flag) { return static_cast<bool>(flag); });
  }
  template <class C, class Map, class Stencil, class In, class Out, class Predicate>
  static Out run(const C& context, Map first, Map last, Stencil stencil, In input, Out out, Predicate is_chosen) {
    const int64_t n = count_between(first, last);
    auto map = context.element_access(first);
    auto flags = context.element_access(stencil);
    auto in = context.element_access(input);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable {
      if (is_chosen(flags[i])) to[i] = in[static_cast<ptrdiff_t>(map[i])];
    });
    return moved(out, n);
  }
};

struct Scatter {
  template <class C, class In, class Map, class Out>
  static void run(const C& context, In first, In last, Map first_place, Out out) {
    auto in = context.element_access(first);
    auto map = context.element_access(first_place);
    auto to = context.element_access(out);
    context.each(count_between(first, last), [=](int64_t i) mutable { to[static_cast<ptrdiff_t>(map[i])] = in[i]; });
  }
};
struct ScatterIf {
  template <class C, class In, class Map, class Stencil, class Out>
  static void run(const C& context, In first, In last, Map map, Stencil stencil, Out out) {
    run(context, first, last, map, stencil, out, [](const auto& flag) { return static_cast<bool>(flag); });
  }
  template <class C, class In, class Map, class Stencil, class Out, class Predicate>
  static void run(const C& context, In first, In last, Map first_place, Stencil stencil, Out out, Predicate is_chosen) {
    auto in = context.element_access(first);
    auto map = context.element_access(first_place);
    auto flags = context.element_access(stencil);
    auto to = context.element_access(out);
    context.each(count_between(first, last), [=](int64_t i) mutable {
      if (is_chosen(flags[i])) to[static_cast<ptrdiff_t>(map[i])] = in[i];
    });
  }
};

struct Reverse {
  template <class C, class I>
  static void run(const C& context, I first, I last) {
    const int64_t n = count_between(first, last);
    auto elements = context.element_access(first);
    context.each(n / 2, [=](int64_t i) mutable {
      const value_of<I> low = elements[i], high = elements[n - 1 - i];
      elements[i] = high;
      elements[n - 1 - i] = low;
    });
  }
};
struct ReverseCopy {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    const int64_t n = count_between(first, last);
    auto in = context.element_access(first);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable { to[i] = in[n - 1 - i]; });
    return moved(out, n);
  }
};
struct SwapRanges {
  template <class C, class A, class B>
  static B run(const C& context, A first_a, A last_a, B first_b) {
    const int64_t n = count_between(first_a, last_a);
    auto a = context.element_access(first_a);
    auto b = context.element_access(first_b);
    context.each(n, [=](int64_t i) mutable {
      const value_of<A> own = a[i];
      a[i] = static_cast<value_of<B>>(b[i]);
      b[i] = own;
    });
    return moved(first_b, n);
  }
};

/// The output may be the input, so one thread does all then.
struct AdjacentDifference {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    return run(context, first, last, out, [](const auto& a, const auto& b) { return a - b; });
  }
  template <class C, class In, class Out, class Op>
  static Out run(const C& context, In first, In last, Out out, Op op) {
    const int64_t n = count_between(first, last);
    auto in = context.element_access(first);
    auto to = context.element_access(out);
    context.template compute<void>([=]() mutable {
      if (n == 0) return;
      value_of<In> before = in[0];
      to[0] = before;
      for (int64_t i = 1; i < n; ++i) {
        const value_of<In> own = in[i];
        to[i] = op(own, before);
        before = own;
      }
    });
    return moved(out, n);
  }
};

// ---- Construction in memory without objects ----

struct UninitializedFillN {
  template <class C, class Out, class Count, class T>
  static Out run(const C& context, Out first, Count n, const T& value) {
    auto to = context.element_access(first);
    context.each(static_cast<int64_t>(n), [=](int64_t i) mutable {
      ::new (static_cast<void*>(&raw_reference_cast(to[i]))) value_of<Out>(value);
    });
    return moved(first, static_cast<int64_t>(n));
  }
};
struct UninitializedFill {
  template <class C, class Out, class T>
  static void run(const C& context, Out first, Out last, const T& value) {
    UninitializedFillN::run(context, first, count_between(first, last), value);
  }
};

struct UninitializedCopyN {
  template <class C, class In, class Count, class Out>
  static Out run(const C& context, In first, Count n, Out out) {
    auto in = context.element_access(first);
    auto to = context.element_access(out);
    context.each(static_cast<int64_t>(n), [=](int64_t i) mutable {
      ::new (static_cast<void*>(&raw_reference_cast(to[i]))) value_of<Out>(in[i]);
    });
    return moved(out, static_cast<int64_t>(n));
  }
};
struct UninitializedCopy {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    return UninitializedCopyN::run(context, first, count_between(first, last), out);
  }
};

}  // namespace detail

CONVLAB_THRUST_CALL_3(for_each, ForEach)
CONVLAB_THRUST_CALL_4(for_each, ForEach)
CONVLAB_THRUST_CALL_3(for_each_n, ForEachN)
CONVLAB_THRUST_CALL_4(for_each_n, ForEachN)
CONVLAB_THRUST_CALL_4(transform, Transform)
CONVLAB_THRUST_CALL_5(transform, Transform)
CONVLAB_THRUST_CALL_6(transform, Transform)
CONVLAB_THRUST_CALL_5(transform_if, TransformIf)
CONVLAB_THRUST_CALL_6(transform_if, TransformIf)
CONVLAB_THRUST_CALL_7(transform_if, TransformIf)
CONVLAB_THRUST_CALL_8(transform_if, TransformIf)
CONVLAB_THRUST_CALL_3(fill, Fill)
CONVLAB_THRUST_CALL_4(fill, Fill)
CONVLAB_THRUST_CALL_3(fill_n, FillN)
CONVLAB_THRUST_CALL_4(fill_n, FillN)
CONVLAB_THRUST_CALL_2(sequence, Sequence)
CONVLAB_THRUST_CALL_3(sequence, Sequence)
CONVLAB_THRUST_CALL_4(sequence, Sequence)
CONVLAB_THRUST_CALL_5(sequence, Sequence)
CONVLAB_THRUST_CALL_3(tabulate, Tabulate)
CONVLAB_THRUST_CALL_4(tabulate, Tabulate)
CONVLAB_THRUST_CALL_3(generate, Generate)
CONVLAB_THRUST_CALL_4(generate, Generate)
CONVLAB_THRUST_CALL_3(generate_n, GenerateN)
CONVLAB_THRUST_CALL_4(generate_n, GenerateN)
CONVLAB_THRUST_CALL_4(replace, Replace)
CONVLAB_THRUST_CALL_5(replace, Replace)
CONVLAB_THRUST_CALL_4(replace_if, ReplaceIf)
CONVLAB_THRUST_CALL_5(replace_if, ReplaceIf)
CONVLAB_THRUST_CALL_6(replace_if, ReplaceIf)
CONVLAB_THRUST_CALL_5(replace_copy, ReplaceCopy)
CONVLAB_THRUST_CALL_6(replace_copy, ReplaceCopy)
CONVLAB_THRUST_CALL_5(replace_copy_if, ReplaceCopyIf)
CONVLAB_THRUST_CALL_6(replace_copy_if, ReplaceCopyIf)
CONVLAB_THRUST_CALL_7(replace_copy_if, ReplaceCopyIf)
CONVLAB_THRUST_CALL_4(gather, Gather)
CONVLAB_THRUST_CALL_5(gather, Gather)
CONVLAB_THRUST_CALL_5(gather_if, GatherIf)
CONVLAB_THRUST_CALL_6(gather_if, GatherIf)
CONVLAB_THRUST_CALL_7(gather_if, GatherIf)
CONVLAB_THRUST_CALL_4(scatter, Scatter)
CONVLAB_THRUST_CALL_5(scatter, Scatter)
CONVLAB_THRUST_CALL_5(scatter_if, ScatterIf)
CONVLAB_THRUST_CALL_6(scatter_if, ScatterIf)
CONVLAB_THRUST_CALL_7(scatter_if, ScatterIf)
CONVLAB_THRUST_CALL_2(reverse, Reverse)
CONVLAB_THRUST_CALL_3(reverse, Reverse)
CONVLAB_THRUST_CALL_3(reverse_copy, ReverseCopy)
CONVLAB_THRUST_CALL_4(reverse_copy, ReverseCopy)
CONVLAB_THRUST_CALL_3(swap_ranges, SwapRanges)
CONVLAB_THRUST_CALL_4(swap_ranges, SwapRanges)
CONVLAB_THRUST_CALL_3(adjacent_difference, AdjacentDifference)
CONVLAB_THRUST_CALL_4(adjacent_difference, AdjacentDifference)
CONVLAB_THRUST_CALL_5(adjacent_difference, AdjacentDifference)
CONVLAB_THRUST_CALL_3(uninitialized_fill, UninitializedFill)
CONVLAB_THRUST_CALL_4(uninitialized_fill, UninitializedFill)
CONVLAB_THRUST_CALL_3(uninitialized_fill_n, UninitializedFillN)
CONVLAB_THRUST_CALL_4(uninitialized_fill_n, UninitializedFillN)
CONVLAB_THRUST_CALL_3(uninitialized_copy, UninitializedCopy)
CONVLAB_THRUST_CALL_4(uninitialized_copy, UninitializedCopy)
CONVLAB_THRUST_CALL_3(uninitialized_copy_n, UninitializedCopyN)
CONVLAB_THRUST_CALL_4(uninitialized_copy_n, UninitializedCopyN)

}  // namespace thrust
