#pragma once

#include <cmath>
#include <complex>
#include <istream>
#include <ostream>
#include <type_traits>

namespace thrust {

/// A complex number for host and device code. Operands of different types compute in the wider type, as in Thrust.
/// Functions have the values of the host's std::complex.
template <class T>
struct alignas(2 * sizeof(T)) complex {
  using value_type = T;

  complex() = default;
  complex(const T& real) : real_(real) {}
  complex(const T& real, const T& imaginary) : real_(real), imaginary_(imaginary) {}
  template <class U>
  requires std::is_convertible_v<U, T> complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imaginary_(static_cast<T>(other.imag())) {}
  template <class U>
  complex(const std::complex<U>& other)
      : real_(static_cast<T>(other.real())), imaginary_(static_cast<T>(other.imag())) {}
  operator std::complex<T>() const { return {real_, imaginary_}; }

  T real() const { return real_; }
  T imag() const { return imaginary_; }
  T real() const volatile { return real_; }
  T imag() const volatile { return imaginary_; }
  void real(T value) { real_ = value; }
  void imag(T value) { imaginary_ = value; }

  complex& operator=(const T& real) { return *this = complex(real); }
  template <class U>
  complex& operator=(const complex<U>& other) {
    return *this = complex(other);
  }
  template <class U>
  complex& operator+=(const U& other) {
    return *this = *this + other;
  }
  template <class U>
  complex& operator-=(const U& other) {
    return *this = *this - other;
  }
  template <class U>
  complex& operator*=(const U& other) {
    return *this = *this * other;
  }
  template <class U>
  complex& operator/=(const U& other) {
    return *this = *this / other;
  }

 private:
  T real_{}, imaginary_{};
};

namespace detail {

template <class T>
struct RealType {
  using type = T;
};
template <class T>
struct RealType<complex<T>> {
  using type = T;
};
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<complex<T>> = true;

/// One operand is complex, and the other one is a number.
template <class A, class B>
concept ComplexOperands = (is_complex<A> && (is_complex<B> || std::is_arithmetic_v<B>)) ||
                          (std::is_arithmetic_v<A> && is_complex<B>);
template <class A, class B>
using complex_of = complex<std::common_type_t<typename RealType<A>::type, typename RealType<B>::type>>;

template <class T>
std::complex<T> as_std(const complex<T>& z) {
  return {z.real(), z.imag()};
}

}  // namespace detail

// ---- Operators ----

template <class A, class B>
requires detail::ComplexOperands<A, B>
auto operator+(const A& a, const B& b) {
  const detail::complex_of<A, B> x(a), y(b);
  return detail::complex_of<A, B>(x.real() + y.real(), x.imag() + y.imag());
}
template <class A, class B>
requires detail::ComplexOperands<A, B>
auto operator-(const A& a, const B& b) {
  const detail::complex_of<A, B> x(a), y(b);
  return detail::complex_of<A, B>(x.real() - y.real(), x.imag() - y.imag());
}
template <class A, class B>
requires detail::ComplexOperands<A, B>
auto operator*(const A& a, const B& b) {
  using Z = detail::complex_of<A, B>;
  if constexpr (!detail::is_complex<A>) {
    return Z(static_cast<typename Z::value_type>(a) * b.real(), static_cast<typename Z::value_type>(a) * b.imag());
  } else if constexpr (!detail::is_complex<B>) {
    return Z(a.real() * static_cast<typename Z::value_type>(b), a.imag() * static_cast<typename Z::value_type>(b));
  } else {
    const Z x(a), y(b);
    return Z(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  }
}
/// Scales by the denominator's size first, so that intermediate results do not overflow.
template <class A, class B>
requires detail::ComplexOperands<A, B>
auto operator/(const A& a, const B& b) {
  using Z = detail::complex_of<A, B>;
  using T = typename Z::value_type;
  if constexpr (!detail::is_complex<B>) {
    return Z(a.real() / static_cast<T>(b), a.imag() / static_cast<T>(b));
  } else {
    const Z x(a), y(b);
    const T scale = std::abs(y.real()) + std::abs(y.imag()), inverse = T(1) / scale;
    const T xr = x.real() * inverse, xi = x.imag() * inverse, yr = y.real() * inverse, yi = y.imag() * inverse;
    const T norm = T(1) / (yr * yr + yi * yi);
    return Z((xr * yr + xi * yi) * norm, (xi * yr - xr * yi) * norm);
  }
}
template <class T>
complex<T> operator+(const complex<T>& z) {
  return z;
}
template <class T>
complex<T> operator-(const complex<T>& z) {
  return {-z.real(), -z.imag()};
}
template <class A, class B>
requires detail::ComplexOperands<A, B>
bool operator==(const A& a, const B& b) {
  const detail::complex_of<A, B> x(a), y(b);
  return x.real() == y.real() && x.imag() == y.imag();
}
template <class T>
bool operator==(const complex<T>& a, const std::complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}

// ---- Functions ----

template <class T>
T abs(const complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
template <class T>
T arg(const complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
template <class T>
T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
complex<T> conj(const complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <class T, class U = T>
complex<T> polar(const T& radius, const U& angle = U()) {
  return {static_cast<T>(radius * std::cos(angle)), static_cast<T>(radius * std::sin(angle))};
}
template <class T>
complex<T> proj(const complex<T>& z) {
  return std::proj(detail::as_std(z));
}

#define CONVLAB_THRUST_COMPLEX(name)     \
  template <class T>                     \
  complex<T> name(const complex<T>& z) { \
    return std::name(detail::as_std(z)); \
  }
CONVLAB_THRUST_COMPLEX(exp)
CONVLAB_THRUST_COMPLEX(log)
CONVLAB_THRUST_COMPLEX(log10)
CONVLAB_THRUST_COMPLEX(sqrt)
CONVLAB_THRUST_COMPLEX(sin)
CONVLAB_THRUST_COMPLEX(cos)
CONVLAB_THRUST_COMPLEX(tan)
CONVLAB_THRUST_COMPLEX(asin)
CONVLAB_THRUST_COMPLEX(acos)
CONVLAB_THRUST_COMPLEX(atan)
CONVLAB_THRUST_COMPLEX(sinh)
CONVLAB_THRUST_COMPLEX(cosh)
CONVLAB_THRUST_COMPLEX(tanh)
CONVLAB_THRUST_COMPLEX(asinh)
CONVLAB_THRUST_COMPLEX(acosh)
CONVLAB_THRUST_COMPLEX(atanh)
#undef CONVLAB_THRUST_COMPLEX

template <class A, class B>
requires detail::ComplexOperands<A, B>
auto pow(const A& a, const B& b) {
  using Z = detail::complex_of<A, B>;
  return Z(std::pow(detail::as_std(Z(a)), detail::as_std(Z(b))));
}

template <class T>
std::ostream& operator<<(std::ostream& stream, const complex<T>& z) {
  return stream << detail::as_std(z);
}
template <class T>
std::istream& operator>>(std::istream& stream, complex<T>& z) {
  std::complex<T> read;
  stream >> read;
  z = read;
  return stream;
}

}  // namespace thrust
