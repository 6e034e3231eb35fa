// Loads and stores the matrices of cuSPARSE.

#include "convlab/simt/cuda/sparse_entries.h"

#include <fmt/format.h>

#include <utility>

#include "convlab/simt/cuda/dense_products.h"

namespace convlab::simt::cuda::runtime {
namespace {

DeviceMatrix stored(const cusparseDnMatDescr& m, std::string_view name) {
  const bool by_columns = m.order == CUSPARSE_ORDER_COL;
  return {m.values, m.type, by_columns ? m.rows : m.columns, by_columns ? m.columns : m.rows, m.leading, name};
}

}  // namespace

cudaDataType type_of(cusparseIndexType_t type) { return type == CUSPARSE_INDEX_64I ? CUDA_R_64I : CUDA_R_32I; }

std::vector<int64_t> load_indices(const LibraryCall& call, const void* data, cusparseIndexType_t type,
                                  cusparseIndexBase_t base, int64_t count, int64_t size, std::string_view name) {
  std::vector<int64_t> indices;
  for (const double each : load<double>(call, DeviceVector{data, type_of(type), count, 1, name})) {
    const int64_t index = static_cast<int64_t>(each) - base;
    if (index < 0 || index >= size) {
      throw call.outside(fmt::format("element {} of {} is {}; {} to {} are possible", indices.size(), name,
                                     static_cast<int64_t>(each), static_cast<int>(base), size - 1 + base));
    }
    indices.push_back(index);
  }
  return indices;
}

void store_indices(const LibraryCall& call, const void* data, cusparseIndexType_t type, cusparseIndexBase_t base,
                   const std::vector<int64_t>& indices, std::string_view name) {
  std::vector<double> values;
  for (const int64_t each : indices) values.push_back(static_cast<double>(each + base));
  store(call, DeviceVector{data, type_of(type), static_cast<int64_t>(values.size()), 1, name}, values);
}

template <class Number>
std::vector<SparseEntry<Number>> load_entries(const LibraryCall& call, const cusparseSpMatDescr& m) {
  std::vector<SparseEntry<Number>> entries;
  const std::vector<Number> values = load<Number>(call, DeviceVector{m.values, m.type, m.count, 1, "the values"});
  if (m.format == CUSPARSE_FORMAT_COO) {
    const auto rows = load_indices(call, m.rows_or_offsets, m.index_type, m.base, m.count, m.rows, "the row indices");
    const auto columns = load_indices(call, m.indices, m.index_type, m.base, m.count, m.columns, "the column indices");
    for (size_t i = 0; i < values.size(); ++i) entries.push_back({rows[i], columns[i], values[i]});
    return entries;
  }
  const bool by_rows = m.format == CUSPARSE_FORMAT_CSR;
  const int64_t outer = by_rows ? m.rows : m.columns, inner = by_rows ? m.columns : m.rows;
  const auto offsets =
      load_indices(call, m.rows_or_offsets, m.offset_type, m.base, outer + 1, m.count + 1, "the offsets");
  const auto indices = load_indices(call, m.indices, m.index_type, m.base, m.count, inner, "the indices");
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t at = offsets[static_cast<size_t>(i)]; at < offsets[static_cast<size_t>(i) + 1]; ++at) {
      const auto index = static_cast<size_t>(at);
      entries.push_back({by_rows ? i : indices[index], by_rows ? indices[index] : i, values[index]});
    }
  }
  return entries;
}

template <class Number>
std::vector<SparseEntry<Number>> load_operand(const LibraryCall& call, const cusparseSpMatDescr& a,
                                              cusparseOperation_t op) {
  std::vector<SparseEntry<Number>> entries = load_entries<Number>(call, a);
  for (SparseEntry<Number>& each : entries) {
    if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) each.value = conjugate(each.value);
    if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) std::swap(each.row, each.column);
  }
  return entries;
}

template <class Number>
std::vector<Number> load_dense(const LibraryCall& call, const cusparseDnMatDescr& m, std::string_view name) {
  std::vector<Number> values = load<Number>(call, stored(m, name));
  return m.order == CUSPARSE_ORDER_COL ? values : transposed(values, m.columns, m.rows);
}

template <class Number>
void store_dense(const LibraryCall& call, const cusparseDnMatDescr& m, const std::vector<Number>& values,
                 std::string_view name) {
  store(call, stored(m, name), m.order == CUSPARSE_ORDER_COL ? values : transposed(values, m.rows, m.columns));
}

#define CONVLAB_SIMT_SPARSE(Number)                                                                         \
  template std::vector<SparseEntry<Number>> load_entries(const LibraryCall&, const cusparseSpMatDescr&);    \
  template std::vector<SparseEntry<Number>> load_operand(const LibraryCall&, const cusparseSpMatDescr&,     \
                                                         cusparseOperation_t);                              \
  template std::vector<Number> load_dense(const LibraryCall&, const cusparseDnMatDescr&, std::string_view); \
  template void store_dense(const LibraryCall&, const cusparseDnMatDescr&, const std::vector<Number>&,      \
                            std::string_view);
CONVLAB_SIMT_SPARSE(double)
CONVLAB_SIMT_SPARSE(std::complex<double>)
#undef CONVLAB_SIMT_SPARSE

}  // namespace convlab::simt::cuda::runtime
