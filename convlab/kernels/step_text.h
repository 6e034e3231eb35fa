#pragma once

#include <string>
#include <string_view>

#include "convlab/kernels/step.h"

namespace convlab {

// The problem text of an operator: its name, its operands' shapes, and the attributes that are not the default.
//
//   matmul_m512n512k512   gemm_m64n1000k2048_tb_bias   softmax_r64c1024   conv_n2_c12h33w33_k24r5s5_p1
//   transpose_2x3x4_perm0x2x1   reducemean_2x3x4_axes1x2   add_2x64x56x56_1x64x1x1
//
// Names and attributes are in OpInfo (model/op_info.h). Operands are sizes by letter, if the operator has that form
// (model/size_letters.h), or shapes; a scalar is "scalar". One shape stands for all operands that the operator
// requires. Then come attributes, in any order: "axis1", "perm0x2x1" (a list), "epsilon1e-06", "ta" (a flag), "linear"
// (an enumerator). Texts have no character that a shell treats specially, and no spaces.
//
// A text says nothing about element types, memory layouts and fused operators.

/// Parses a text. A convolution may lack its name: "n2_c12h33w33_k24r5s5_p1". Sets `op`; the shapes of `inputs` and
/// `outputs`; and `constant` for the inputs that usually are: weights, scales, zero points, the operand of an
/// elementwise operator that is the same for all images, and the right matrix of a product, unless it has a batch.
/// Throws Error(bad_input) with the position in the text, or with the reason why the shapes are not valid.
Step parse_step(std::string_view text);

/// Returns the shortest text that parse_step() parses to this operator and shapes; a convolution has its name. Throws
/// Error(bad_input) if the operator has no name: swish and hard_swish are UnaryOp, and in ActivationOp only fused.
std::string to_text(const Step& step);

/// Returns the same, for a convolution without its name, and without its bias: as in results and Records.
std::string problem_text(const Step& step);

}  // namespace convlab
