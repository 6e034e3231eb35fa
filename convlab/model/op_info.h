#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "convlab/model/op.h"
#include "convlab/model/op_fields.h"
#include "convlab/model/op_table.h"
#include "convlab/model/size_letters.h"

namespace convlab {

using Shapes = std::span<const Shape>;

/// How many inputs an operator has.
struct Arity {
  size_t least, most;
};
Arity arity(const Op& op);

/// An operator's input: its shape for one image, and whether it holds images along its first dimension. Otherwise it is
/// a constant.
struct SplitOperand {
  Shape shape;
  bool images;
};
using SplitOperands = std::vector<SplitOperand>;

/// Whether an operator may mix images or depend on their index, although its shapes do not show it: the first size of
/// the output is proportional to the number of images for 1, 2 and 3 of them, and no other size changes.
bool mixes_images(const Op& op, const SplitOperands& inputs);

/// Whether an input with these shapes is a constant in most networks, for problems that a user types (see step_text.h).
bool is_usually_constant(const Op& op, Shapes inputs, size_t input);

/// Returns all attributes of the operator, in the order of its problem text. Their `read` refers to `op`.
std::vector<OpField> fields_of(Op& op);

/// Whether both are the same operator with the same attributes. NaN equals NaN, 0 does not equal -0, and spaces in an
/// Einsum equation do not matter. Members that an operator does not use do not matter either.
bool same_operator(const Op& a, const Op& b);

/// An operator's name in problem texts.
struct NamedOp {
  std::string_view name;                 ///< "maxpool"
  Op op;                                 ///< has the values of attributes that a text omits
  const SizeLetters* letters = nullptr;  ///< the short form of its operands, if it has one
  bool in_plans_only = false;            ///< the planner makes it; no model has it
};

/// What the code above model/ must know about an operator. The file of its family in model/ops specializes it, with
/// these static members:
///
///   const char* name(const T&)                       ONNX's name
///   constexpr Arity kInputs                          how many inputs it has; optional ones are last
///   bool usually_constant(const T&, Shapes, size_t)  is_usually_constant(), if it may have several inputs
///   Shape shape(const T&, Shapes)                    output_shape(), without the checks that all operators share
///   bool mixes_images(const T&, const SplitOperands&)
///   void fields(OpFields&, T&)                       its attributes in problem texts, if T has members
///   std::vector<NamedOp> names()                     its names in problem texts
///
/// Some functions of several operators are in op_rules.h: `static constexpr auto mixes_images = kNever;`.
template <class T>
struct OpInfo;

/// OpInfo of any operator.
struct OpEntry {
  const char* (*name)(const Op&);
  Arity inputs;
  bool (*usually_constant)(const Op&, Shapes, size_t);  ///< null if it has one input
  Shape (*shape)(const Op&, Shapes);
  bool (*mixes_images)(const Op&, const SplitOperands&);
  void (*fields)(OpFields&, Op&);
  std::vector<NamedOp> (*names)();

  template <class T>
  static OpEntry of();
  template <class Family>
  static std::vector<OpEntry> rows();
};

const OpTable<OpEntry>& op_entries();

template <class T>
OpEntry OpEntry::of() {
  if constexpr (!requires { sizeof(OpInfo<T>); }) {
    static_assert(!sizeof(T), "no OpInfo<T> in the file of T's family in convlab/model/ops: see model/op_info.h");
    return {};
  } else {
    using Info = OpInfo<T>;
    OpEntry entry{
        .name = [](const Op& op) { return Info::name(*std::get_if<T>(&op)); },
        .inputs = Info::kInputs,
        .usually_constant = nullptr,
        .shape = [](const Op& op, Shapes inputs) { return Info::shape(*std::get_if<T>(&op), inputs); },
        .mixes_images = [](const Op& op,
                           const SplitOperands& inputs) { return Info::mixes_images(*std::get_if<T>(&op), inputs); },
        .fields = [](OpFields&, Op&) {},
        .names = Info::names};
    if constexpr (Info::kInputs.most > 1) {
      entry.usually_constant = [](const Op& op, Shapes inputs, size_t input) {
        return Info::usually_constant(*std::get_if<T>(&op), inputs, input);
      };
    }
    if constexpr (!std::is_empty_v<T>) {
      entry.fields = [](OpFields& to, Op& op) { Info::fields(to, *std::get_if<T>(&op)); };
    }
    return entry;
  }
}

}  // namespace convlab
