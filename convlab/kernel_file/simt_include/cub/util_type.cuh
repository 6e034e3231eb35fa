#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "convlab/simt/cuda/cuda_on_host.h"

/// Types that CUB's algorithms share: pairs, double buffers, and the order of the bits of keys.
namespace cub {

struct NullType {
  bool operator==(const NullType&) const { return true; }
  bool operator!=(const NullType&) const { return false; }
};

template <int kValue>
struct Int2Type {
  enum { VALUE = kValue };
};

template <int kValue>
struct PowerOfTwo {
  enum { VALUE = (kValue & (kValue - 1)) == 0 };
};

/// The logarithm, rounded up.
template <int kValue>
struct Log2 {
  enum { VALUE = kValue <= 1 ? 0 : 1 + Log2<(kValue + 1) / 2>::VALUE };
};
template <>
struct Log2<1> {
  enum { VALUE = 0 };
};

template <class K, class V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  Key key;
  Value value;

  KeyValuePair() = default;
  constexpr KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  bool operator==(const KeyValuePair& other) const { return key == other.key && value == other.value; }
  bool operator!=(const KeyValuePair& other) const { return !(*this == other); }
};

/// Two arrays of device memory. A sort moves its data between them: Current() is where the result is.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;

  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

/// An initial value that a kernel computes: it is read when the algorithm runs.
template <class T, class Iterator = T*>
struct FutureValue {
  using value_type = T;
  explicit FutureValue(Iterator where) : iterator(where) {}
  operator T() const { return *iterator; }

 private:
  Iterator iterator;
};

enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };

namespace detail {

template <size_t kBytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = unsigned char;
};
template <>
struct BitsOf<2> {
  using type = unsigned short;
};
template <>
struct BitsOf<4> {
  using type = unsigned int;
};
template <>
struct BitsOf<8> {
  using type = unsigned long long;
};

template <class T>
constexpr Category category_of() {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, convlab::simt::cuda::__half>) {
    return FLOATING_POINT;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? SIGNED_INTEGER : UNSIGNED_INTEGER;
  } else {
    return NOT_A_NUMBER;
  }
}

}  // namespace detail

/// A key's bits, and the order-preserving mapping of them to an unsigned number.
template <class T>
struct Traits {
  static constexpr Category CATEGORY = detail::category_of<T>();
  enum { PRIMITIVE = CATEGORY != NOT_A_NUMBER };
  static_assert(PRIMITIVE, "CUB on simt sorts keys of integer and floating-point types up to 8 bytes");
  using UnsignedBits = typename detail::BitsOf<sizeof(T)>::type;
  static constexpr UnsignedBits kHighBit = static_cast<UnsignedBits>(UnsignedBits{1} << (sizeof(T) * 8 - 1));

  static constexpr UnsignedBits TwiddleIn(UnsignedBits key) {
    if constexpr (CATEGORY == FLOATING_POINT) {
      return static_cast<UnsignedBits>((key & kHighBit) != 0 ? ~key : key ^ kHighBit);
    } else {
      return CATEGORY == SIGNED_INTEGER ? static_cast<UnsignedBits>(key ^ kHighBit) : key;
    }
  }
  static constexpr UnsignedBits TwiddleOut(UnsignedBits key) {
    if constexpr (CATEGORY == FLOATING_POINT) {
      return static_cast<UnsignedBits>((key & kHighBit) != 0 ? key ^ kHighBit : ~key);
    } else {
      return TwiddleIn(key);
    }
  }
  static constexpr T Max() { return std::numeric_limits<T>::max(); }
  static constexpr T Lowest() { return std::numeric_limits<T>::lowest(); }
};

template <class T>
using NumericTraits = Traits<T>;

namespace detail {

/// Returns a number that orders keys as they order themselves. -0 and +0 are equal keys.
template <class T>
typename Traits<T>::UnsignedBits ordered_bits(const T& key) {
  typename Traits<T>::UnsignedBits bits;
  __builtin_memcpy(&bits, &key, sizeof(T));
  const bool is_negative_zero = Traits<T>::CATEGORY == FLOATING_POINT && bits == Traits<T>::kHighBit;
  return Traits<T>::TwiddleIn(is_negative_zero ? 0 : bits);
}

template <class Iterator>
using value_of = typename std::iterator_traits<Iterator>::value_type;

/// The type of what an output iterator takes; `Otherwise` if it takes anything.
template <class Iterator, class Otherwise>
using output_of = std::conditional_t<std::is_void_v<value_of<Iterator>>, Otherwise, value_of<Iterator>>;

}  // namespace detail
}  // namespace cub
