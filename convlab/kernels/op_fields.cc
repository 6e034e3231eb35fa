// Lists the attributes of each operator, by which problem texts are parsed, printed and compared.

#include "convlab/kernels/op_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace convlab {
namespace {

/// Returns the shortest text that reads back as the same number.
std::string text_of(int64_t value) { return fmt::format("{}", value); }
std::string text_of(float value) { return value != value ? "nan" : fmt::format("{}", value); }

/// The fields of one operator, added in the order of its text.
class Fields {
 public:
  std::vector<OpField> all;

  void add(const std::string& name, int64_t& value) {
    all.push_back({.name = name, .value = text_of(value), .syntax = "N", .read = [&value](TextReader& reader) {
                     value = reader.number();
                   }});
  }

  void add(const std::string& name, int& value) {
    all.push_back(
        {.name = name, .value = text_of(int64_t{value}), .syntax = "N", .read = [=, &value](TextReader& reader) {
           using Limits = std::numeric_limits<int>;
           value = static_cast<int>(reader.number(name, Limits::min(), Limits::max()));
         }});
  }

  void add(const std::string& name, float& value) {
    all.push_back({.name = name, .value = text_of(value), .syntax = "X", .read = [&value](TextReader& reader) {
                     value = reader.real();
                   }});
  }

  void add(const std::string& name, std::vector<int64_t>& values) {
    all.push_back({.name = name,
                   .value = fmt::format("{}", fmt::join(values, "x")),
                   .syntax = "NxN",
                   .read = [&](TextReader& reader) { values = reader.numbers(); }});
  }

  void add(const std::string& name, std::vector<float>& values) {
    std::vector<std::string> texts;
    for (const float each : values) texts.push_back(text_of(each));
    all.push_back({.name = name,
                   .value = fmt::format("{}", fmt::join(texts, "x")),
                   .syntax = "XxX",
                   .read = [&](TextReader& reader) { values = reader.reals(); }});
  }

  /// Sizes that are written as one number if they are equal: "st2" or "st2x1".
  void add_sizes(const std::string& name, const char* syntax, const std::vector<int64_t*>& sizes) {
    std::vector<int64_t> values;
    for (const int64_t* each : sizes) values.push_back(*each);
    const bool equal = std::count(values.begin(), values.end(), values[0]) == std::ssize(values);
    if (equal) values.resize(1);
    all.push_back({.name = name,
                   .value = fmt::format("{}", fmt::join(values, "x")),
                   .syntax = syntax,
                   .read = [=](TextReader& reader) {
                     const std::vector<int64_t> given = reader.numbers();
                     if (given.size() != 1 && given.size() != sizes.size()) {
                       reader.fail(fmt::format("expected 1 or {} numbers after '{}'", sizes.size(), name));
                     }
                     for (size_t i = 0; i < sizes.size(); ++i) *sizes[i] = given[given.size() == 1 ? 0 : i];
                   }});
  }
  void add_pair(const std::string& name, int64_t& height, int64_t& width) { add_sizes(name, "HxW", {&height, &width}); }

  /// A window's sizes: "r3s5".
  void add_window(int64_t& height, int64_t& width) {
    all.push_back(
        {.name = "r", .value = fmt::format("{}s{}", height, width), .syntax = "HsW", .read = [&](TextReader& reader) {
           height = reader.number();
           reader.expect("s");
           width = reader.number();
         }});
  }

  void add_flag(const std::string& name, bool& value) {
    all.push_back(
        {.form = OpField::Form::flag, .name = name, .value = value ? "1" : "0", .read = [&value](TextReader&) {
           value = !value;
         }});
  }

  /// An enumerator. `names` are those of all values, in order.
  template <class Enum>
  void add_choice(Enum& value, std::vector<std::string> names) {
    std::string name = names[static_cast<size_t>(value)];
    all.push_back({.form = OpField::Form::choice,
                   .value = std::move(name),
                   .choices = names,
                   .read = [=, &value](TextReader& reader) {
                     const auto found = std::find(names.begin(), names.end(), reader.item());
                     value = static_cast<Enum>(found - names.begin());
                     reader.expect(*found);
                   }});
  }

  /// A value that determines the operator's name.
  template <class Kind>
  void add_kind(const Kind& kind) {
    all.push_back({.form = OpField::Form::in_name, .value = text_of(static_cast<int64_t>(kind))});
  }

  /// An Einsum equation: "ij,jk=ik".
  void add_equation(std::string& equation) {
    std::string text;
    std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char each) { return each != ' '; });
    if (const size_t arrow = text.find("->"); arrow != std::string::npos) text.replace(arrow, 2, "=");
    all.push_back({.value = text, .syntax = "ij,jk=ik", .read = [&equation](TextReader& reader) {
                     const std::string_view item = reader.item();
                     equation = item;
                     reader.expect(item);
                     if (const size_t sign = equation.find('='); sign != std::string::npos)
                       equation.replace(sign, 1, "->");
                   }});
  }
};

const std::vector<std::string> kSampleModes{"nearest", "linear", "cubic"};
const std::vector<std::string> kReductions{"none", "add", "mul", "max", "min"};

void add_pads(Fields& to, auto& pads) {
  to.add_sizes("p", "TxLxBxR", {&pads.pad_top, &pads.pad_left, &pads.pad_bottom, &pads.pad_right});
}

void add_auto_pad(Fields& to, AutoPad& pad) { to.add_choice(pad, {"explicit", "sameupper", "samelower", "valid"}); }

/// Attributes that pooling and convolution have in common.
void add_steps(Fields& to, auto& window) {
  add_pads(to, window);
  to.add_pair("st", window.stride_h, window.stride_w);
  to.add_pair("d", window.dilation_h, window.dilation_w);
}

void add_pool(Fields& to, auto& op) {
  to.add_window(op.pool.kernel_h, op.pool.kernel_w);
  add_steps(to, op.pool);
  to.add_flag("ceil", op.pool.ceil_mode);
  add_auto_pad(to, op.auto_pad);
}

/// The range of quantized values.
void add_range(Fields& to, auto& op) {
  to.add("low", op.low);
  to.add("high", op.high);
}

/// Operators without attributes.
template <class T>
requires(std::is_empty_v<T>) void add(Fields&, T&) {}

void add(Fields& to, ConvOp& op) {
  add_steps(to, op);
  to.add("g", op.groups);
  add_auto_pad(to, op.auto_pad);
}
void add(Fields& to, ConvTransposeOp& op) {
  add_steps(to, op);
  to.add("g", op.groups);
  to.add_pair("outpad", op.output_pad_h, op.output_pad_w);
  to.add_pair("out", op.output_h, op.output_w);
  add_auto_pad(to, op.auto_pad);
}
void add(Fields& to, PoolOp& op) {
  to.add_kind(op.pool.kind);
  add_pool(to, op);
  if (op.pool.kind == PoolKind::average) to.add_flag("includepad", op.pool.count_include_pad);
}
void add(Fields& to, MaxPoolIndicesOp& op) {
  add_pool(to, op);
  to.add_flag("columnsfirst", op.columns_first);
}
void add(Fields& to, MaxUnpoolOp& op) {
  to.add_window(op.pool.kernel_h, op.pool.kernel_w);
  add_pads(to, op.pool);
  to.add_pair("st", op.pool.stride_h, op.pool.stride_w);
  to.add("out", op.output_shape);
}
void add(Fields& to, LpPoolOp& op) {
  add_pool(to, op);
  to.add("lp", op.p);
}
void add(Fields& to, LrnOp& op) {
  to.add("size", op.size);
  to.add("alpha", op.alpha);
  to.add("beta", op.beta);
  to.add("bias", op.bias);
}

void add(Fields& to, ResizeOp& op) {
  to.add("scales", op.scales);
  to.add("sizes", op.sizes);
  to.add("axes", op.axes);
  to.add_choice(op.mode, kSampleModes);
  to.add_choice(op.coordinates, {"halfpixel", "halfpixelsymmetric", "pytorchhalfpixel", "aligncorners", "asymmetric",
                                 "tfhalfpixelfornn", "tfcropandresize"});
  to.add_choice(op.nearest, {"roundpreferfloor", "roundpreferceil", "floor", "ceil", "simple"});
  to.add_choice(op.aspect_ratio, {"stretch", "notlarger", "notsmaller"});
  to.add("cubiccoeffa", op.cubic_coeff_a);
  to.add_flag("excludeoutside", op.exclude_outside);
  to.add_flag("antialias", op.antialias);
  to.add("extrapolation", op.extrapolation_value);
  to.add("roi", op.roi);
}
void add(Fields& to, GridSampleOp& op) {
  to.add_choice(op.mode, kSampleModes);
  to.add_choice(op.padding, {"zeros", "border", "reflection"});
  to.add_flag("aligncorners", op.align_corners);
}

void add(Fields& to, ActivationOp& op) {
  Activation& of = op.activation;
  to.add_kind(of.kind);
  if (of.kind == ActivationKind::leaky_relu) to.add("alpha", of.alpha);
  if (of.kind == ActivationKind::clip) to.add("min", of.alpha), to.add("max", of.beta);
}
void add(Fields& to, UnaryOp& op) {
  to.add_kind(op.kind);
  switch (op.kind) {
    case UnaryKind::is_inf:
      to.add("negative", op.alpha);
      return to.add("positive", op.beta);
    case UnaryKind::elu:
    case UnaryKind::celu:
    case UnaryKind::swish:
    case UnaryKind::thresholded_relu:
      return to.add("alpha", op.alpha);
    case UnaryKind::selu:
      to.add("alpha", op.alpha);
      return to.add("gamma", op.beta);
    case UnaryKind::hard_sigmoid:
      to.add("alpha", op.alpha);
      return to.add("beta", op.beta);
    case UnaryKind::shrink:
      to.add("lambd", op.alpha);
      return to.add("bias", op.beta);
    default:
      return;
  }
}
void add(Fields& to, RoundOp& op) { to.add_kind(op.brain); }
void add(Fields& to, BinaryOp& op) { to.add_kind(op.kind); }

void add(Fields& to, BatchNormOp& op) { to.add("epsilon", op.epsilon); }
void add(Fields& to, NormalizeOp& op) {
  to.add_kind(op.center);
  to.add("groups", op.groups);
  to.add("axis", op.axis);
  to.add("epsilon", op.epsilon);
  to.add_choice(op.part, {"result", "mean", "inversedeviation"});
}
void add(Fields& to, LpNormalizeOp& op) {
  to.add("axis", op.axis);
  to.add("lp", op.p);
}
void add(Fields& to, SoftmaxOp& op) {
  to.add_kind(op.log);
  to.add("axis", op.axis);
  to.add_flag("flattened", op.flattened);
}

void add(Fields& to, ReduceOp& op) {
  to.add_kind(op.kind);
  to.add("axes", op.axes);
  to.add_flag("dropdims", op.keep_dims);
}
void add(Fields& to, ArgReduceOp& op) {
  to.add_kind(op.largest);
  to.add("axis", op.axis);
  to.add_flag("dropdims", op.keep_dims);
  to.add_flag("last", op.last);
}
void add(Fields& to, TopKOp& op) {
  to.add("k", op.k);
  to.add("axis", op.axis);
  to.add_flag("smallest", op.largest);
  to.add_flag("unsorted", op.sorted);
  to.add_flag("indices", op.indices);
}
void add(Fields& to, CumSumOp& op) {
  to.add("axis", op.axis);
  to.add_flag("exclusive", op.exclusive);
  to.add_flag("reverse", op.reverse);
}

void add(Fields& to, GemmOp& op) {
  to.add_flag("ta", op.transpose_a);
  to.add_flag("tb", op.transpose_b);
  to.add("alpha", op.alpha);
  to.add("beta", op.beta);
}
void add(Fields& to, EinsumOp& op) { to.add_equation(op.equation); }

void add(Fields& to, ConcatOp& op) { to.add("axis", op.axis); }
void add(Fields& to, FlattenOp& op) { to.add("axis", op.axis); }
void add(Fields& to, ReshapeOp& op) { to.add("shape", op.shape); }
void add(Fields& to, SqueezeOp& op) { to.add("axes", op.axes); }
void add(Fields& to, UnsqueezeOp& op) { to.add("axes", op.axes); }
void add(Fields& to, TransposeOp& op) { to.add("perm", op.permutation); }
void add(Fields& to, PadOp& op) {
  to.add("pads", op.pads);
  to.add_choice(op.mode, {"constant", "reflect", "edge", "wrap"});
  to.add("value", op.value);
}
void add(Fields& to, SliceOp& op) {
  to.add("starts", op.starts);
  to.add("ends", op.ends);
  to.add("axes", op.axes);
  to.add("steps", op.steps);
}
void add(Fields& to, ExpandOp& op) {
  to.add("shape", op.shape);
  to.add("perimage", op.per_image);
}
void add(Fields& to, TileOp& op) { to.add("repeats", op.repeats); }
void add(Fields& to, DepthToSpaceOp& op) {
  to.add("block", op.block);
  to.add_flag("crd", op.columns_rows_depth);
}
void add(Fields& to, SpaceToDepthOp& op) { to.add("block", op.block); }
void add(Fields& to, TriluOp& op) {
  to.add_flag("lower", op.upper);
  to.add("k", op.k);
}

void add(Fields& to, GatherOp& op) { to.add("axis", op.axis); }
void add(Fields& to, GatherElementsOp& op) { to.add("axis", op.axis); }
void add(Fields& to, GatherNdOp& op) { to.add("batchdims", op.batch_dims); }
void add(Fields& to, ScatterElementsOp& op) {
  to.add("axis", op.axis);
  to.add_choice(op.reduction, kReductions);
}
void add(Fields& to, ScatterNdOp& op) { to.add_choice(op.reduction, kReductions); }

void add(Fields& to, QuantizeOp& op) {
  to.add("axis", op.axis);
  to.add("block", op.block_size);
  add_range(to, op);
}
void add(Fields& to, DequantizeOp& op) {
  to.add("axis", op.axis);
  to.add("block", op.block_size);
}
void add(Fields& to, QLinearConvOp& op) {
  add(to, op.conv);
  add_range(to, op);
}
void add(Fields& to, ConvIntegerOp& op) { add(to, op.conv); }
void add(Fields& to, QLinearMatMulOp& op) { add_range(to, op); }

void add(Fields& to, ByteAddOp& op) {
  to.add("afactor", op.a_factor);
  to.add("bfactor", op.b_factor);
  to.add("azero", op.a_zero);
  to.add("bzero", op.b_zero);
  to.add("zero", op.zero);
  add_range(to, op);
}
void add(Fields& to, ByteConvOp& op) {
  add(to, op.conv);
  to.add("xzero", op.x_zero);
  to.add("zero", op.zero);
  add_range(to, op);
  to.add_flag("adds", op.adds);
  Fields sum;
  add(sum, op.sum);
  for (OpField& each : sum.all) {
    each.name = "sum" + each.name;
    to.all.push_back(std::move(each));
  }
}
void add(Fields& to, ByteMeanOp& op) {
  to.add("factor", op.factor);
  to.add("xzero", op.x_zero);
  to.add("zero", op.zero);
  add_range(to, op);
}
void add(Fields& to, ByteConcatOp& op) {
  std::vector<std::string> texts;
  for (const ByteConcatOp::Part& each : op.parts) texts.push_back(fmt::format("{}x{}", text_of(each.scale), each.zero));
  to.all.push_back(
      {.name = "parts",
       .value = fmt::format("{}", fmt::join(texts, "x")),
       .syntax = "XxNxXxN",
       .read = [&](TextReader& reader) {
         using Limits = std::numeric_limits<int>;
         op.parts.clear();
         do {
           const float scale = reader.real();
           reader.expect("x");
           op.parts.push_back({scale, static_cast<int>(reader.number("zero", Limits::min(), Limits::max()))});
         } while (reader.accept("x"));
       }});
  to.add("scale", op.scale);
  to.add("zero", op.zero);
  add_range(to, op);
}

void add(Fields& to, ScaleOp& op) { to.add("side", op.side); }
void add(Fields& to, SqueezeExciteOp& op) {
  const auto add_activation = [&](const std::string& name, Activation& activation) {
    std::vector<std::string> kinds{"none", "relu", "leakyrelu", "clip", "sigmoid", "tanh", "swish", "hardswish"};
    for (std::string& kind : kinds) kind.insert(0, name);
    to.add_choice(activation.kind, std::move(kinds));
    to.add((name + "alpha").c_str(), activation.alpha);
    to.add((name + "beta").c_str(), activation.beta);
  };
  add_activation("squeeze", op.squeeze);
  add_activation("excite", op.excite);
}
void add(Fields& to, ArgMaxOp& op) { to.add_flag("finite", op.finite); }

}  // namespace

std::vector<OpField> fields_of(Op& op) {
  Fields fields;
  std::visit([&](auto& one) { add(fields, one); }, static_cast<AnyOp&>(op));
  return std::move(fields.all);
}

bool same_operator(const Op& a, const Op& b) {
  if (a.index() != b.index()) return false;
  Op copy_a = a, copy_b = b;
  const std::vector<OpField> of_a = fields_of(copy_a), of_b = fields_of(copy_b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](const OpField& one, const OpField& other) {
    return one.name == other.name && one.value == other.value;
  });
}

}  // namespace convlab
