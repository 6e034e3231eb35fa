#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"

/// Algorithms that keep some of the elements, in their order. One thread does all, so the output may be the input where
/// Thrust allows it.
namespace thrust {
namespace detail {

/// Copies the elements whose number and value is_kept accepts.
template <class C, class In, class Out, class Keep>
Out keep_elements(const C& context, In first, In last, Out out, Keep is_kept) {
  const int64_t n = count_between(first, last);
  auto in = context.element_access(first);
  auto to = context.element_access(out);
  if (n == 0) return out;
  return moved(out, context.template compute<int64_t>([=]() mutable {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      value_of<In> own = in[i];
      if (is_kept(i, own)) to[kept++] = own;
    }
    return kept;
  }));
}

struct CopyIf {
  template <class C, class In, class Out, class Predicate>
  static Out run(const C& context, In first, In last, Out out, Predicate is_chosen) {
    return keep_elements(context, first, last, out,
                         [=](int64_t, auto& own) mutable { return static_cast<bool>(is_chosen(own)); });
  }
  template <class C, class In, class Stencil, class Out, class Predicate>
  static Out run(const C& context, In first, In last, Stencil stencil, Out out, Predicate is_chosen) {
    auto flags = context.element_access(stencil);
    return keep_elements(context, first, last, out,
                         [=](int64_t i, auto&) mutable { return static_cast<bool>(is_chosen(flags[i])); });
  }
};

// ---- remove ----

struct RemoveCopyIf {
  template <class C, class In, class Out, class Predicate>
  static Out run(const C& context, In first, In last, Out out, Predicate is_removed) {
    return CopyIf::run(context, first, last, out, Not<Predicate>{is_removed});
  }
  template <class C, class In, class Stencil, class Out, class Predicate>
  static Out run(const C& context, In first, In last, Stencil stencil, Out out, Predicate is_removed) {
    return CopyIf::run(context, first, last, stencil, out, Not<Predicate>{is_removed});
  }
};
struct RemoveIf {
  template <class C, class I, class Predicate>
  static I run(const C& context, I first, I last, Predicate is_removed) {
    return RemoveCopyIf::run(context, first, last, first, is_removed);
  }
  template <class C, class I, class Stencil, class Predicate>
  static I run(const C& context, I first, I last, Stencil stencil, Predicate is_removed) {
    return RemoveCopyIf::run(context, first, last, stencil, first, is_removed);
  }
};

template <class T>
auto equals(const T& value) {
  return [value](const auto& element) { return element == value; };
}

struct RemoveCopy {
  template <class C, class In, class Out, class T>
  static Out run(const C& context, In first, In last, Out out, const T& value) {
    return RemoveCopyIf::run(context, first, last, out, equals(value));
  }
};
struct Remove {
  template <class C, class I, class T>
  static I run(const C& context, I first, I last, const T& value) {
    return RemoveIf::run(context, first, last, equals(value));
  }
};

// ---- unique ----

/// Copies the first element of each run of equal keys, with the values that belong to them.
struct UniqueByKeyCopy {
  template <class C, class Keys, class Values, class KeysOut, class ValuesOut>
  static auto run(const C& context, Keys first, Keys last, Values values, KeysOut keys_out, ValuesOut values_out) {
    return run(context, first, last, values, keys_out, values_out, thrust::equal_to<>());
  }
  template <class C, class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
  static pair<KeysOut, ValuesOut> run(const C& context, Keys first, Keys last, Values first_value, KeysOut keys_out,
                                      ValuesOut values_out, Equal are_equal) {
    const int64_t n = count_between(first, last);
    auto keys = context.element_access(first);
    auto values = context.element_access(first_value);
    auto to_keys = context.element_access(keys_out);
    auto to_values = context.element_access(values_out);
    if (n == 0) return {keys_out, values_out};
    const int64_t count = context.template compute<int64_t>([=]() mutable {
      int64_t kept = 0;
      value_of<Keys> before = keys[0];
      for (int64_t i = 0; i < n; ++i) {
        value_of<Keys> own = keys[i];
        if (i == 0 || !are_equal(before, own)) {
          const value_of<Values> value = values[i];
          to_keys[kept] = own;
          to_values[kept++] = value;
          before = own;
        }
      }
      return kept;
    });
    return {moved(keys_out, count), moved(values_out, count)};
  }
};
struct UniqueByKey {
  template <class C, class Keys, class Values, class... Equal>
  static pair<Keys, Values> run(const C& context, Keys first, Keys last, Values values, Equal... are_equal) {
    return UniqueByKeyCopy::run(context, first, last, values, first, values, are_equal...);
  }
};
struct UniqueCopy {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    return run(context, first, last, out, thrust::equal_to<>());
  }
  template <class C, class In, class Out, class Equal>
  static Out run(const C& context, In first, In last, Out out, Equal are_equal) {
    if (first == last) return out;
    auto in = context.element_access(first);
    auto to = context.element_access(out);
    const int64_t n = count_between(first, last);
    return moved(out, context.template compute<int64_t>([=]() mutable {
      value_of<In> before = in[0];
      int64_t kept = 0;
      to[kept++] = before;
      for (int64_t i = 1; i < n; ++i) {
        value_of<In> own = in[i];
        if (are_equal(before, own)) continue;
        to[kept++] = own;
        before = own;
      }
      return kept;
    }));
  }
};
struct Unique {
  template <class C, class I, class... Equal>
  static I run(const C& context, I first, I last, Equal... are_equal) {
    return UniqueCopy::run(context, first, last, first, are_equal...);
  }
};
struct UniqueCount {
  template <class C, class I>
  static auto run(const C& context, I first, I last) {
    return run(context, first, last, thrust::equal_to<>());
  }
  template <class C, class I, class Equal>
  static auto run(const C& context, I first, I last, Equal are_equal) {
    auto in = context.element_access(first);
    const int64_t n = count_between(first, last);
    const int64_t count = n == 0 ? 0 : context.template compute<int64_t>([=]() mutable {
      int64_t runs = 1;
      for (int64_t i = 1; i < n; ++i) runs += are_equal(in[i - 1], in[i]) ? 0 : 1;
      return runs;
    });
    return static_cast<typename std::iterator_traits<I>::difference_type>(count);
  }
};

// ---- reduce_by_key ----

struct ReduceByKey {
  template <class C, class Keys, class Values, class KeysOut, class ValuesOut>
  static auto run(const C& context, Keys first, Keys last, Values values, KeysOut keys_out, ValuesOut values_out) {
    return run(context, first, last, values, keys_out, values_out, thrust::equal_to<>());
  }
  template <class C, class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
  static auto run(const C& context, Keys first, Keys last, Values values, KeysOut keys_out, ValuesOut values_out,
                  Equal are_equal) {
    return run(context, first, last, values, keys_out, values_out, are_equal, thrust::plus<>());
  }
  template <class C, class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Op>
  static pair<KeysOut, ValuesOut> run(const C& context, Keys first, Keys last, Values first_value, KeysOut keys_out,
                                      ValuesOut values_out, Equal are_equal, Op op) {
    using T = value_of<Values>;
    const int64_t n = count_between(first, last);
    auto keys = context.element_access(first);
    auto values = context.element_access(first_value);
    auto to_keys = context.element_access(keys_out);
    auto to_values = context.element_access(values_out);
    if (n == 0) return {keys_out, values_out};
    const int64_t count = context.template compute<int64_t>([=]() mutable {
      int64_t runs = 0;
      for (int64_t i = 0; i < n;) {
        const value_of<Keys> key = keys[i];
        value_of<Keys> before = key;
        T sum = values[i];
        for (++i; i < n; ++i) {
          const value_of<Keys> own = keys[i];
          if (!are_equal(before, own)) break;
          sum = op(sum, static_cast<T>(values[i]));
          before = own;
        }
        to_keys[runs] = key;
        to_values[runs++] = sum;
      }
      return runs;
    });
    return {moved(keys_out, count), moved(values_out, count)};
  }
};

// ---- partition. All are stable ----

struct PartitionCopy {
  template <class C, class In, class OutTrue, class OutFalse, class Predicate>
  static auto run(const C& context, In first, In last, OutTrue out_true, OutFalse out_false, Predicate is_first) {
    return run(context, first, last, first, out_true, out_false, is_first);
  }
  template <class C, class In, class Stencil, class OutTrue, class OutFalse, class Predicate>
  static pair<OutTrue, OutFalse> run(const C& context, In first, In last, Stencil stencil, OutTrue out_true,
                                     OutFalse out_false, Predicate is_first) {
    const int64_t n = count_between(first, last);
    auto in = context.element_access(first);
    auto flags = context.element_access(stencil);
    auto to_true = context.element_access(out_true);
    auto to_false = context.element_access(out_false);
    if (n == 0) return {out_true, out_false};
    const int64_t count = context.template compute<int64_t>([=]() mutable {
      int64_t kept = 0;
      for (int64_t i = 0; i < n; ++i) {
        const value_of<In> own = in[i];
        if (is_first(flags[i])) {
          to_true[kept++] = own;
        } else {
          to_false[i - kept] = own;
        }
      }
      return kept;
    });
    return {moved(out_true, count), moved(out_false, n - count)};
  }
};

struct Partition {
  template <class C, class I, class Predicate>
  static I run(const C& context, I first, I last, Predicate is_first) {
    return run(context, first, last, first, is_first);
  }
  /// On the device through temporary memory; in a loop, each element that goes first moves past those that go last.
  template <class C, class I, class Stencil, class Predicate>
  static I run(const C& context, I first, I last, Stencil stencil, Predicate is_first) {
    using T = value_of<I>;
    const int64_t n = count_between(first, last);
    if (n == 0) return first;
    if constexpr (C::kOnDevice) {
      if (!context.is_sequential()) {
        Temporary<T> others(n, context.where());
        const pair<I, T*> ends = PartitionCopy::run(context, first, last, stencil, first, others.data(), is_first);
        T* const from = others.data();
        auto to = context.element_access(ends.first);
        context.each(ends.second - from, [=](int64_t i) mutable { to[i] = from[i]; });
        return ends.first;
      }
    }
    auto elements = context.element_access(first);
    auto flags = context.element_access(stencil);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (!is_first(flags[i])) continue;
      const T own = elements[i];
      for (int64_t to = i; to > kept; --to) elements[to] = static_cast<T>(elements[to - 1]);
      elements[kept++] = own;
    }
    return moved(first, kept);
  }
};

}  // namespace detail

CONVLAB_THRUST_CALL_4(copy_if, CopyIf)
CONVLAB_THRUST_CALL_5(copy_if, CopyIf)
CONVLAB_THRUST_CALL_6(copy_if, CopyIf)
CONVLAB_THRUST_CALL_3(remove, Remove)
CONVLAB_THRUST_CALL_4(remove, Remove)
CONVLAB_THRUST_CALL_3(remove_if, RemoveIf)
CONVLAB_THRUST_CALL_4(remove_if, RemoveIf)
CONVLAB_THRUST_CALL_5(remove_if, RemoveIf)
CONVLAB_THRUST_CALL_4(remove_copy, RemoveCopy)
CONVLAB_THRUST_CALL_5(remove_copy, RemoveCopy)
CONVLAB_THRUST_CALL_4(remove_copy_if, RemoveCopyIf)
CONVLAB_THRUST_CALL_5(remove_copy_if, RemoveCopyIf)
CONVLAB_THRUST_CALL_6(remove_copy_if, RemoveCopyIf)
CONVLAB_THRUST_CALL_2(unique, Unique)
CONVLAB_THRUST_CALL_3(unique, Unique)
CONVLAB_THRUST_CALL_4(unique, Unique)
CONVLAB_THRUST_CALL_2(unique_count, UniqueCount)
CONVLAB_THRUST_CALL_3(unique_count, UniqueCount)
CONVLAB_THRUST_CALL_4(unique_count, UniqueCount)
CONVLAB_THRUST_CALL_3(unique_copy, UniqueCopy)
CONVLAB_THRUST_CALL_4(unique_copy, UniqueCopy)
CONVLAB_THRUST_CALL_5(unique_copy, UniqueCopy)
CONVLAB_THRUST_CALL_3(unique_by_key, UniqueByKey)
CONVLAB_THRUST_CALL_4(unique_by_key, UniqueByKey)
CONVLAB_THRUST_CALL_5(unique_by_key, UniqueByKey)
CONVLAB_THRUST_CALL_5(unique_by_key_copy, UniqueByKeyCopy)
CONVLAB_THRUST_CALL_6(unique_by_key_copy, UniqueByKeyCopy)
CONVLAB_THRUST_CALL_7(unique_by_key_copy, UniqueByKeyCopy)
CONVLAB_THRUST_CALL_5(reduce_by_key, ReduceByKey)
CONVLAB_THRUST_CALL_6(reduce_by_key, ReduceByKey)
CONVLAB_THRUST_CALL_7(reduce_by_key, ReduceByKey)
CONVLAB_THRUST_CALL_8(reduce_by_key, ReduceByKey)
CONVLAB_THRUST_CALL_3(partition, Partition)
CONVLAB_THRUST_CALL_4(partition, Partition)
CONVLAB_THRUST_CALL_5(partition, Partition)
CONVLAB_THRUST_CALL_3(stable_partition, Partition)
CONVLAB_THRUST_CALL_4(stable_partition, Partition)
CONVLAB_THRUST_CALL_5(stable_partition, Partition)
CONVLAB_THRUST_CALL_5(partition_copy, PartitionCopy)
CONVLAB_THRUST_CALL_6(partition_copy, PartitionCopy)
CONVLAB_THRUST_CALL_7(partition_copy, PartitionCopy)
CONVLAB_THRUST_CALL_5(stable_partition_copy, PartitionCopy)
CONVLAB_THRUST_CALL_6(stable_partition_copy, PartitionCopy)
CONVLAB_THRUST_CALL_7(stable_partition_copy, PartitionCopy)

}  // namespace thrust
