#pragma once

#include <memory>
#include <vector>

#include "convlab/kernel_file/simt_include/thrust/detail/execution.h"

/// Copies within a system, and between host and device through cudaMemcpy.
namespace thrust {
namespace detail {

struct CopyN {
  template <class C, class In, class Count, class Out>
  static Out run(const C& context, In first, Count count, Out out) {
    const auto n = static_cast<int64_t>(count);
    auto in = context.element_access(first);
    auto to = context.element_access(out);
    context.each(n, [=](int64_t i) mutable { to[i] = in[i]; });
    return moved(out, n);
  }
};
struct Copy {
  template <class C, class In, class Out>
  static Out run(const C& context, In first, In last, Out out) {
    return CopyN::run(context, first, count_between(first, last), out);
  }
};

/// Objects in host memory that come from the device, byte for byte, and are not destroyed as such.
template <class T>
class HostBytes {
 public:
  explicit HostBytes(int64_t n) : bytes_(new UninitializedValue<T>[static_cast<size_t>(n)]) {}
  T* data() { return bytes_[0].get(); }

 private:
  std::unique_ptr<UninitializedValue<T>[]> bytes_;
};

template <class In, class Out>
Out copy_to_host(const DeviceContext& context, In first, int64_t n, Out out) {
  using T = value_of<In>;
  if (n == 0) return out;
  auto in = context.element_access(first);
  HostBytes<T> values(n);
  if constexpr (std::is_pointer_v<decltype(in)>) {
    context.copy(values.data(), in, static_cast<size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost);
  } else {
    Temporary<T> memory(n, context.where());
    T* const to = memory.data();
    context.each(n, [=](int64_t i) mutable { ::new (static_cast<void*>(&to[i])) T(in[i]); });
    context.copy(values.data(), to, static_cast<size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost);
  }
  const T* const from = values.data();
  for (int64_t i = 0; i < n; ++i, ++out) *out = from[i];
  return out;
}

template <class In, class Out>
Out copy_to_device(const DeviceContext& context, In first, int64_t n, Out out) {
  auto to = context.element_access(out);
  using T = output_of<Out, value_of<In>>;
  if (n == 0) return out;
  HostBytes<T> values(n);
  for (int64_t i = 0; i < n; ++i, ++first) ::new (static_cast<void*>(&values.data()[i])) T(*first);
  if constexpr (std::is_pointer_v<decltype(to)>) {
    context.copy(to, values.data(), static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice);
  } else {
    Temporary<T> memory(n, context.where());
    const T* const from = memory.data();
    context.copy(memory.data(), values.data(), static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice);
    context.each(n, [=](int64_t i) mutable { to[i] = from[i]; });
  }
  return moved(out, n);
}

/// The iterators say which systems take part.
template <class In, class Out>
Out copy_between(Where where, In first, int64_t n, Out out) {
  const DeviceContext context{DevicePolicy(), where};
  if constexpr (system_of<In> == System::device && system_of<Out> == System::host) {
    if (!is_device_code()) return copy_to_host(context, first, n, out);
  } else if constexpr (system_of<In> == System::host && system_of<Out> == System::device) {
    if (!is_device_code()) return copy_to_device(context, first, n, out);
  }
  if constexpr (common_system<In, Out> == System::host) {
    return CopyN::run(LoopContext(where), first, n, out);
  } else {
    return CopyN::run(context, first, n, out);
  }
}

}  // namespace detail

template <class In, class Out>
requires(!detail::IsPolicy<In>) Out copy(In first, In last, Out out, detail::Where where = detail::Where::current()) {
  return detail::copy_between(where, first, detail::count_between(first, last), out);
}
template <class In, class Count, class Out>
requires(!detail::IsPolicy<In>) Out copy_n(In first, Count n, Out out, detail::Where where = detail::Where::current()) {
  return detail::copy_between(where, first, static_cast<int64_t>(n), out);
}
CONVLAB_THRUST_CALL_4(copy, Copy)
CONVLAB_THRUST_CALL_4(copy_n, CopyN)

}  // namespace thrust
