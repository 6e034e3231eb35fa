// Looks up what is known about operators.

#include "convlab/model/op_info.h"

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

}  // namespace convlab
