// Looks up how operators are verified.

#include "convlab/verify/ops/op_check.h"

namespace convlab {

const OpTable<op_check::OpCheckEntry>& op_check::op_checks() {
  static const OpTable<OpCheckEntry> all;
  return all;
}

Arithmetic arithmetic_of(const Step& step) { return op_check::op_checks()[step.op].arithmetic(step.op); }

bool reads_integers(const Op& op) { return op_check::op_checks()[op].reads_integers; }

double product_terms(const Step& step) {
  const auto terms = op_check::op_checks()[step.op].terms;
  return terms == nullptr ? 1 : static_cast<double>(terms(step.op, shapes_of(step.inputs)));
}

}  // namespace convlab
