#pragma once

#include <vector>

#include "convlab/model/op.h"

namespace convlab {

/// Returns Row::of<T>() for each operator T of a family.
template <class Row, class... Ops>
std::vector<Row> rows_of(OpFamily<Ops...>) {
  return {Row::template of<Ops>()...};
}

/// One Row for each operator. Unlike std::visit(), a look-up costs the compiler nothing for each operator. Row is a
/// struct with two static functions: of<T>() returns the row of operator T, and rows<Family>() those of a family. The
/// file of each family specializes rows(), with rows_of().
template <class Row>
class OpTable {
 public:
  OpTable() : OpTable(AllOps()) {}
  const Row& operator[](const Op& op) const { return rows_[op.index()]; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  template <class... Families>
  explicit OpTable(OpFamilies<Families...>) {
    (append(Row::template rows<Families>()), ...);
  }
  void append(const std::vector<Row>& rows) { rows_.insert(rows_.end(), rows.begin(), rows.end()); }

  std::vector<Row> rows_;
};

}  // namespace convlab
