#pragma once

#include "convlab/kernels/step.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_table.h"
#include "convlab/verify/ops/filler.h"
#include "convlab/verify/ops/reference.h"

namespace convlab {

/// What rounds in a step.
enum class Arithmetic {
  exact,      ///< nothing: elements are moved or compared, or rounding is the operator itself
  sums,       ///< sums and products: exact for small integers
  averages,   ///< the same, and a division at the end
  real,       ///< everything
  product,    ///< a matrix product or convolution: depends on the kernel's arithmetic (KernelInfo::math)
  quantized,  ///< a float32 number, rounded to an integer
};

Arithmetic arithmetic_of(const Step& step);

/// Whether the operator's first input always holds integers, so that it cannot be NaN.
bool reads_integers(const Op& op);

/// Returns the products that an output of a step with Arithmetic::product sums, and the elements added to them.
double product_terms(const Step& step);

namespace op_check {

/// How to verify kernels of operator T. The file of its family in verify/ops specializes it, with these static members:
///
///   Arithmetic arithmetic(const T&)
///   int64_t terms(const T&, Shapes)             product_terms(), if T may have Arithmetic::product
///   constexpr bool kReadsIntegers = true        only if reads_integers()
///   void fill(const T&, Filler&)                fills all inputs; filler.h has some functions for several operators
///   Values reference(const T&, const Operands&) a direct computation in double: the values of the output in row-major
///                                               order, with their errors. It shares no code with kernels
template <class T>
struct OpCheck;

/// OpCheck of any operator.
struct OpCheckEntry {
  Arithmetic (*arithmetic)(const Op&);
  int64_t (*terms)(const Op&, Shapes);  ///< null: it never has Arithmetic::product
  bool reads_integers;
  void (*fill)(const Op&, Filler&);
  Values (*reference)(const Op&, const Operands&);

  template <class T>
  static OpCheckEntry of();
  template <class Family>
  static std::vector<OpCheckEntry> rows();
};

const OpTable<OpCheckEntry>& op_checks();

template <class T>
concept HasTerms = requires(const T& op, Shapes inputs) {
  OpCheck<T>::terms(op, inputs);
};
template <class T>
concept ReadsIntegers = requires {
  OpCheck<T>::kReadsIntegers;
};

template <class T>
OpCheckEntry OpCheckEntry::of() {
  if constexpr (!requires { sizeof(OpCheck<T>); }) {
    static_assert(!sizeof(T), "no OpCheck<T> in the file of T's family in convlab/verify/ops: see op_check.h");
    return {};
  } else {
    using Check = OpCheck<T>;
    OpCheckEntry entry{
        .arithmetic = [](const Op& op) { return Check::arithmetic(*std::get_if<T>(&op)); },
        .terms = nullptr,
        .reads_integers = ReadsIntegers<T>,
        .fill = [](const Op& op, Filler& filler) { Check::fill(*std::get_if<T>(&op), filler); },
        .reference = [](const Op& op,
                        const Operands& operands) { return Check::reference(*std::get_if<T>(&op), operands); }};
    if constexpr (HasTerms<T>) {
      entry.terms = [](const Op& op, Shapes inputs) { return Check::terms(*std::get_if<T>(&op), inputs); };
    }
    return entry;
  }
}

}  // namespace op_check
}  // namespace convlab
