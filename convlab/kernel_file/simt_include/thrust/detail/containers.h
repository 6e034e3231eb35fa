#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include "convlab/kernel_file/simt_include/thrust/detail/copies.h"
#include "convlab/kernel_file/simt_include/thrust/detail/device_memory.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/reverse_iterator.h"

/// Vectors whose elements are copied byte for byte: in device memory, in managed memory, and of bool in host memory.
namespace thrust {

struct default_init_t {};
struct no_init_t {};
inline constexpr default_init_t default_init{};
inline constexpr no_init_t no_init{};

namespace detail {

/// Kinds of memory: a pointer's and a reference's type, and how to allocate, free and copy.
struct DeviceMemory {
  static constexpr bool kFromHost = false;
  template <class T>
  using pointer = device_ptr<T>;
  template <class T>
  static T* allocate(size_t n, Where where) {
    return allocate_on_device<T>(static_cast<int64_t>(n), "device_vector", where);
  }
  static void free(void* memory, Where where) { cudaFree(memory, where); }
};
struct ManagedMemory {
  static constexpr bool kFromHost = true;
  template <class T>
  using pointer = universal_ptr<T>;
  template <class T>
  static T* allocate(size_t n, Where where) {
    T* memory = nullptr;
    if (cudaMallocManaged(&memory, n * sizeof(T), 0, where) != cudaSuccess) {
      throw system::detail::bad_alloc("managed memory");
    }
    return memory;
  }
  static void free(void* memory, Where where) { cudaFree(memory, where); }
};
struct HostMemory {
  static constexpr bool kFromHost = true;
  template <class T>
  using pointer = T*;
  template <class T>
  static T* allocate(size_t n, Where) {
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  static void free(void* memory, Where) { ::operator delete(memory); }
};

/// True of vectors, of Thrust and of others.
template <class V>
concept IsVector = requires(const V& v) {
  v.begin();
  v.end();
  v.size();
  typename V::value_type;
};

template <class T, class Memory>
class Vector {
 public:
  using value_type = T;
  using pointer = typename Memory::template pointer<T>;
  using const_pointer = typename Memory::template pointer<const T>;
  using iterator = pointer;
  using const_iterator = const_pointer;
  using reference = typename std::iterator_traits<iterator>::reference;
  using const_reference = typename std::iterator_traits<const_iterator>::reference;
  using reverse_iterator = thrust::reverse_iterator<iterator>;
  using const_reverse_iterator = thrust::reverse_iterator<const_iterator>;
  using size_type = size_t;
  using difference_type = ptrdiff_t;

  Vector() = default;
  explicit Vector(size_t n, Where where = Where::current()) : where_(where) { resize(n, T(), where); }
  Vector(size_t n, default_init_t, Where where = Where::current()) : Vector(n, no_init, where) {}
  Vector(size_t n, no_init_t, Where where = Where::current()) : where_(where) {
    reserve(n, where);
    size_ = n;
  }
  Vector(size_t n, const T& value, Where where = Where::current()) : where_(where) { resize(n, value, where); }
  template <class I>
  requires IsIterator<I> Vector(I first, I last, Where where = Where::current()) : where_(where) {
    assign(first, last, where);
  }
  Vector(std::initializer_list<T> values, Where where = Where::current())
      : Vector(values.begin(), values.end(), where) {}
  Vector(const Vector& other) : where_(other.where_) { assign(other.begin(), other.end(), where_); }
  Vector(Vector&& other) noexcept { swap(other); }
  template <class Other>
  requires(IsVector<Other> && !std::is_base_of_v<Vector, Other>)
      Vector(const Other& other, Where where = Where::current())
      : where_(where) {
    assign(other.begin(), other.end(), where);
  }
  ~Vector() {
    if (data_ != nullptr) Memory::free(data_, where_);
  }
  Vector& operator=(const Vector& other) {
    if (this != &other) assign(other.begin(), other.end(), other.where_);
    return *this;
  }
  Vector& operator=(Vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class Other>
  requires(IsVector<Other> && !std::is_base_of_v<Vector, Other>) Vector& operator=(const Other& other) {
    assign(other.begin(), other.end(), where_);
    return *this;
  }
  Vector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end(), where_);
    return *this;
  }

  // ---- Elements ----

  iterator begin() { return iterator(data_); }
  iterator end() { return begin() + static_cast<ptrdiff_t>(size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return begin() + static_cast<ptrdiff_t>(size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const { return rbegin(); }
  const_reverse_iterator crend() const { return rend(); }
  reference operator[](size_t i) { return begin()[static_cast<ptrdiff_t>(i)]; }
  const_reference operator[](size_t i) const { return begin()[static_cast<ptrdiff_t>(i)]; }
  reference front() { return *begin(); }
  const_reference front() const { return *begin(); }
  reference back() { return *(end() - 1); }
  const_reference back() const { return *(end() - 1); }
  pointer data() { return pointer(data_); }
  const_pointer data() const { return const_pointer(data_); }

  // ---- Size ----

  size_t size() const { return size_; }
  size_t max_size() const { return static_cast<size_t>(PTRDIFF_MAX) / sizeof(T); }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  void reserve(size_t n, Where where = Where::current()) {
    if (n > capacity_) move_to(n, where);
  }
  void shrink_to_fit(Where where = Where::current()) {
    if (size_ < capacity_) move_to(size_, where);
  }
  void resize(size_t n, Where where = Where::current()) { resize(n, T(), where); }
  void resize(size_t n, default_init_t, Where where = Where::current()) { resize(n, no_init, where); }
  void resize(size_t n, no_init_t, Where where = Where::current()) {
    reserve(n, where);
    size_ = n;
  }
  void resize(size_t n, const T& value, Where where = Where::current()) {
    const size_t before = size_;
    resize(n, no_init, where);
    if (n > before) fill(data_ + before, n - before, value, where);
  }
  void clear() { size_ = 0; }

  // ---- Changes ----

  void assign(size_t n, const T& value, Where where = Where::current()) {
    clear();
    resize(n, value, where);
  }
  template <class I>
  requires IsIterator<I>
  void assign(I first, I last, Where where = Where::current()) {
    const auto n = static_cast<size_t>(count_between(first, last));
    if (n > capacity_) {
      clear();
      move_to(n, where);
    }
    size_ = n;
    if (n > 0) thrust::copy(first, last, begin(), where);
  }
  void push_back(const T& value, Where where = Where::current()) { insert(end(), value, where); }
  template <class... A>
  void emplace_back(A&&... arguments) {
    push_back(T(std::forward<A>(arguments)...), where_);
  }
  void pop_back() { --size_; }
  iterator insert(const_iterator at, const T& value, Where where = Where::current()) {
    return insert(at, &value, &value + 1, where);
  }
  void insert(const_iterator at, size_t n, const T& value, Where where = Where::current()) {
    const std::vector<UninitializedValue<T>> values(n, bytes_of(value));
    const T* const first = const_cast<UninitializedValue<T>*>(values.data())->get();
    insert(at, first, first + n, where);
  }
  template <class I>
  requires IsIterator<I> iterator insert(const_iterator at, I first, I last, Where where = Where::current()) {
    const ptrdiff_t place = at - const_iterator(begin());
    const auto n = static_cast<size_t>(count_between(first, last));
    Vector after;
    after.where_ = where;
    after.assign(begin() + place, end(), where);
    if (size_ + n > capacity_) move_to(std::max(size_ + n, 2 * capacity_), where);
    size_ += n;
    const iterator behind = thrust::copy(first, last, begin() + place, where);
    thrust::copy(after.begin(), after.end(), behind, where);
    return begin() + place;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const ptrdiff_t place = first - const_iterator(begin());
    Vector after;
    after.assign(last, const_iterator(end()), where_);
    thrust::copy(after.begin(), after.end(), begin() + place, where_);
    size_ -= static_cast<size_t>(last - first);
    return begin() + place;
  }
  void swap(Vector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(where_, other.where_);
  }
  friend void swap(Vector& a, Vector& b) noexcept { a.swap(b); }

 private:
  static UninitializedValue<T> bytes_of(const T& value) {
    UninitializedValue<T> bytes;
    ::new (static_cast<void*>(bytes.get())) T(value);
    return bytes;
  }
  static void copy_bytes(T* to, const T* from, size_t n, cudaMemcpyKind kind, Where where) {
    if (n == 0) return;
    if constexpr (Memory::kFromHost) {
      std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
    } else {
      throw_on_error(cudaMemcpy(to, from, n * sizeof(T), kind, where), "thrust::device_vector: copy");
    }
  }
  static void fill(T* to, size_t n, const T& value, Where where) {
    const std::vector<UninitializedValue<T>> values(n, bytes_of(value));
    copy_bytes(to, reinterpret_cast<const T*>(values.data()), n, cudaMemcpyHostToDevice, where);
  }
  /// Moves the elements to new memory with room for n.
  void move_to(size_t n, Where where) {
    T* const memory = n > 0 ? Memory::template allocate<T>(n, where) : nullptr;
    if (size_ > 0) copy_bytes(memory, data_, size_, cudaMemcpyDeviceToDevice, where);
    if (data_ != nullptr) Memory::free(data_, where);
    data_ = memory;
    capacity_ = n;
    where_ = where;
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
  Where where_{};  ///< of the allocation
};

}  // namespace detail

template <class T, class Allocator = device_allocator<T>>
class device_vector;
template <class T, class Allocator = std::allocator<T>>
class host_vector;

/// Elements in device memory. Host code accesses single elements by copies, and `&v[0]` is a device_ptr.
template <class T, class Allocator>
class device_vector : public detail::Vector<T, detail::DeviceMemory> {
 public:
  using allocator_type = Allocator;
  using detail::Vector<T, detail::DeviceMemory>::Vector;
  using detail::Vector<T, detail::DeviceMemory>::operator=;
  Allocator get_allocator() const { return Allocator(); }
};

/// Elements in managed memory, which host and device access.
template <class T, class Allocator = universal_allocator<T>>
class universal_vector : public detail::Vector<T, detail::ManagedMemory> {
 public:
  using detail::Vector<T, detail::ManagedMemory>::Vector;
  using detail::Vector<T, detail::ManagedMemory>::operator=;
};

namespace detail {

/// std::vector<bool> has no array of bool.
template <class T, class Allocator>
using HostVectorBase = std::conditional_t<std::is_same_v<T, bool>, Vector<T, HostMemory>, std::vector<T, Allocator>>;

template <class V>
concept IsForeignVector = IsVector<V> && system_of<decltype(std::declval<const V&>().begin())>
== System::device;

}  // namespace detail

/// A std::vector that can be copied from and to device_vector.
template <class T, class Allocator>
class host_vector : public detail::HostVectorBase<T, Allocator> {
  using Base = detail::HostVectorBase<T, Allocator>;

 public:
  using Base::Base;
  using Base::operator=;
  host_vector() = default;
  host_vector(const host_vector&) = default;
  host_vector(host_vector&&) = default;
  host_vector& operator=(const host_vector&) = default;
  host_vector& operator=(host_vector&&) = default;
  host_vector(size_t n, default_init_t) : Base(n) {}
  host_vector(size_t n, no_init_t) : Base(n) {}
  template <class V>
  requires(detail::IsVector<V> && !std::is_base_of_v<host_vector, V>) host_vector(const V& other)
      : host_vector(other.begin(), other.end()) {}
  template <class I>
  requires detail::IsIterator<I> host_vector(I first, I last) { this->assign(first, last); }
  template <class V>
  requires(detail::IsVector<V> && !std::is_base_of_v<host_vector, V>) host_vector& operator=(const V& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  using Base::assign;
  template <class I>
  requires detail::IsIterator<I>
  void assign(I first, I last) {
    if constexpr (detail::system_of<I> == detail::System::device) {
      this->resize(static_cast<size_t>(last - first));
      thrust::copy(first, last, this->begin());
    } else {
      Base::assign(first, last);
    }
  }
};

namespace detail {

template <class V>
inline constexpr bool is_thrust_vector = false;
template <class T, class A>
inline constexpr bool is_thrust_vector<device_vector<T, A>> = true;
template <class T, class A>
inline constexpr bool is_thrust_vector<host_vector<T, A>> = true;
template <class T, class A>
inline constexpr bool is_thrust_vector<universal_vector<T, A>> = true;

}  // namespace detail

/// Equal sizes and elements, wherever they are.
template <class A, class B>
requires(detail::is_thrust_vector<A>&& detail::IsVector<B>) bool operator==(const A& a, const B& b) {
  if (a.size() != b.size()) return false;
  const host_vector<typename A::value_type> left(a.begin(), a.end());
  const host_vector<typename B::value_type> right(b.begin(), b.end());
  return std::equal(left.begin(), left.end(), right.begin());
}

}  // namespace thrust
