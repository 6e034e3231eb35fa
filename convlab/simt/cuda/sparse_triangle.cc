// Keeps and solves triangular matrices for cuSPARSE.

#include "convlab/simt/cuda/sparse_triangle.h"

#include "convlab/simt/cuda/cublas_call.h"

namespace convlab::simt::cuda::runtime {
namespace {

/// Reports arrays of A and a buffer that the device cannot access.
void check_arrays(const LibraryCall& call, const cusparseSpMatDescr& a, const void* buffer) {
  const auto count = static_cast<size_t>(a.count);
  const size_t index_bytes = bytes_of(type_of(a.index_type)), offset_bytes = bytes_of(type_of(a.offset_type));
  const bool is_coo = a.format == CUSPARSE_FORMAT_COO;
  const size_t outer = is_coo ? count : static_cast<size_t>(a.rows) + 1;
  call.reads(a.rows_or_offsets, outer * offset_bytes, offset_bytes, is_coo ? "the row indices" : "the offsets");
  call.reads(a.indices, count * index_bytes, index_bytes, "the column indices");
  call.reads(a.values, count * bytes_of(a.type), 1, "the values");
  call.writes(buffer, 1, 1, "externalBuffer");
}

}  // namespace

void SparseTriangle::analyze(const LibraryCall& call, const cusparseSpMatDescr& a, cusparseOperation_t op,
                             const void* buffer) {
  check_arrays(call, a, buffer);
  const auto entries = load_entries<std::complex<double>>(call, a);
  const bool is_transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE, uses_lower = a.fill == CUSPARSE_FILL_MODE_LOWER;
  a_ = a;
  op_ = op;
  buffer_ = buffer;
  is_lower_ = uses_lower != is_transposed;
  rows_.assign(static_cast<size_t>(a.rows), {});
  diagonal_.assign(static_cast<size_t>(a.rows), {});
  values_.clear();
  for (const auto& [row, column, value] : entries) {
    const size_t source = values_.size();
    values_.push_back(value);
    if (row == column) {
      diagonal_[static_cast<size_t>(row)].push_back(source);
    } else if ((column < row) == uses_lower) {
      const int64_t to_row = is_transposed ? column : row, to_column = is_transposed ? row : column;
      rows_[static_cast<size_t>(to_row)].push_back({static_cast<size_t>(to_column), source});
    }
  }
  is_analyzed_ = true;
}

void SparseTriangle::require_analysis(const LibraryCall& call) const {
  if (!is_analyzed_) throw call.invalid("the descriptor has no analysis: call the analysis function first");
}

void SparseTriangle::replace_values(const LibraryCall& call, const void* values) {
  require_analysis(call);
  const auto count = static_cast<int64_t>(values_.size());
  values_ = load<std::complex<double>>(call, DeviceVector{values, a_.type, count, 1, "newValues"});
}

void SparseTriangle::replace_diagonal(const LibraryCall& call, const void* diagonal) {
  require_analysis(call);
  const auto values = load<std::complex<double>>(call, DeviceVector{diagonal, a_.type, a_.rows, 1, "newValues"});
  for (size_t row = 0; row < values.size(); ++row) {
    for (const size_t source : diagonal_[row]) values_[source] = values[row];
  }
}

void SparseTriangle::check(const LibraryCall& call, const cusparseSpMatDescr& a, cusparseOperation_t op) const {
  require_analysis(call);
  if (op != op_ || a.rows != a_.rows || a.count != a_.count || a.format != a_.format || a.fill != a_.fill ||
      a.diagonal != a_.diagonal || a.type != a_.type) {
    throw call.invalid("the analysis was for another matrix or operation: call the analysis function again");
  }
  check_arrays(call, a, buffer_);
}

template <class Number>
Number SparseTriangle::value_at(size_t source) const {
  const auto value = number_of<Number>(values_[source]);
  return op_ == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(value) : value;
}

template <class Number>
void SparseTriangle::solve(std::vector<Number>& columns) const {
  const size_t size = rows_.size();
  for (size_t first = 0; first < columns.size(); first += size) {
    for (size_t i = 0; i < size; ++i) {
      const size_t row = is_lower_ ? i : size - 1 - i;
      Number sum = columns[first + row];
      for (const Entry& each : rows_[row]) sum -= value_at<Number>(each.source) * columns[first + each.column];
      if (a_.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT) {
        Number divisor{};
        for (const size_t source : diagonal_[row]) divisor += value_at<Number>(source);
        sum /= divisor;
      }
      columns[first + row] = sum;
    }
  }
}

template void SparseTriangle::solve(std::vector<double>&) const;
template void SparseTriangle::solve(std::vector<std::complex<double>>&) const;

}  // namespace convlab::simt::cuda::runtime
