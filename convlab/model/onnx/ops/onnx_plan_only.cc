// Operators that only plans contain: ONNX has none of them.

#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {

template <>
struct OnnxOp<ScaleOp> : NotInOnnx {};

template <>
struct OnnxOp<SqueezeExciteOp> : NotInOnnx {};

template <>
struct OnnxOp<ArgMaxOp> : NotInOnnx {};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<PlanOnlyOps>() {
  return rows_of<OnnxOpEntry>(PlanOnlyOps());
}

}  // namespace convlab
