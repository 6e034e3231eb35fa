// Looks up what is known about operators.

#include "convlab/model/op_info.h"

#include <algorithm>
#include <utility>

namespace convlab {

const OpTable<OpEntry>& op_entries() {
  static const OpTable<OpEntry> all;
  return all;
}

std::string name_of(const Op& op) { return op_entries()[op].name(op); }

Arity arity(const Op& op) { return op_entries()[op].inputs; }

bool mixes_images(const Op& op, const SplitOperands& inputs) { return op_entries()[op].mixes_images(op, inputs); }

bool is_usually_constant(const Op& op, Shapes inputs, size_t input) {
  const OpEntry& entry = op_entries()[op];
  return entry.usually_constant != nullptr && entry.usually_constant(op, inputs, input);
}

std::vector<OpField> fields_of(Op& op) {
  OpFields fields;
  op_entries()[op].fields(fields, op);
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
