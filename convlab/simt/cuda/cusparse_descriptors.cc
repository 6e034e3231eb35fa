// Keeps the handles and descriptors of cuSPARSE.

#include <cstring>

#include "convlab/simt/cuda/cusparse.h"

namespace convlab::simt::cuda {
namespace {

template <class Descriptor>
cusparseStatus_t create(Descriptor** descriptor, const Descriptor& value) {
  if (descriptor == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new Descriptor(value);
  return CUSPARSE_STATUS_SUCCESS;
}
template <class Descriptor>
cusparseStatus_t destroy(const Descriptor* descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

/// Calls use(*object), unless it is null.
template <class Object, class Use>
cusparseStatus_t with(Object* object, cusparseStatus_t if_null, const Use& use) {
  if (object == nullptr) return if_null;
  use(*object);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t set_pointers(cusparseSpMatDescr_t matrix, cusparseFormat_t format, void* rows_or_offsets,
                              void* indices, void* values) {
  if (matrix == nullptr || matrix->format != format) return CUSPARSE_STATUS_INVALID_VALUE;
  matrix->rows_or_offsets = rows_or_offsets;
  matrix->indices = indices;
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t create_matrix(cusparseSpMatDescr_t* matrix, const cusparseSpMatDescr& value) {
  if (value.rows < 0 || value.columns < 0 || value.count < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  return create(matrix, value);
}

}  // namespace

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) noexcept { return create(handle, {}); }
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) noexcept {
  return handle == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : destroy(handle);
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) noexcept {
  return with(handle, CUSPARSE_STATUS_NOT_INITIALIZED, [=](cusparseContext& context) { context.stream = stream; });
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) noexcept {
  return with(handle, CUSPARSE_STATUS_NOT_INITIALIZED, [=](cusparseContext& context) { *stream = context.stream; });
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) noexcept {
  return with(handle, CUSPARSE_STATUS_NOT_INITIALIZED, [=](cusparseContext& context) { context.pointers = mode; });
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) noexcept {
  return with(handle, CUSPARSE_STATUS_NOT_INITIALIZED, [=](cusparseContext& context) { *mode = context.pointers; });
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) noexcept {
  return with(handle, CUSPARSE_STATUS_NOT_INITIALIZED, [=](cusparseContext&) { *version = CUSPARSE_VERSION; });
}

const char* cusparseGetErrorName(cusparseStatus_t status) noexcept {
  switch (status) {
#define CONVLAB_SIMT_STATUS(name) \
  case name:                      \
    return #name;
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_SUCCESS)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_NOT_INITIALIZED)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_ALLOC_FAILED)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_INVALID_VALUE)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_ARCH_MISMATCH)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_MAPPING_ERROR)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_EXECUTION_FAILED)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_INTERNAL_ERROR)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_ZERO_PIVOT)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_NOT_SUPPORTED)
    CONVLAB_SIMT_STATUS(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
#undef CONVLAB_SIMT_STATUS
  }
  return "unknown cuSPARSE status";
}
const char* cusparseGetErrorString(cusparseStatus_t status) noexcept {
  return status == CUSPARSE_STATUS_SUCCESS ? "success" : cusparseGetErrorName(status);
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* description) noexcept { return create(description, {}); }
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t description) noexcept { return destroy(description); }
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t description, cusparseMatrixType_t type) noexcept {
  return with(description, CUSPARSE_STATUS_INVALID_VALUE, [=](cusparseMatDescr& each) { each.type = type; });
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t description, cusparseIndexBase_t base) noexcept {
  return with(description, CUSPARSE_STATUS_INVALID_VALUE, [=](cusparseMatDescr& each) { each.base = base; });
}
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t description, cusparseFillMode_t fill) noexcept {
  return with(description, CUSPARSE_STATUS_INVALID_VALUE, [=](cusparseMatDescr& each) { each.fill = fill; });
}
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t description, cusparseDiagType_t diagonal) noexcept {
  return with(description, CUSPARSE_STATUS_INVALID_VALUE, [=](cusparseMatDescr& each) { each.diagonal = diagonal; });
}
cusparseMatrixType_t cusparseGetMatType(cusparseMatDescr_t description) noexcept { return description->type; }
cusparseIndexBase_t cusparseGetMatIndexBase(cusparseMatDescr_t description) noexcept { return description->base; }

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t count,
                                   void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) noexcept {
  return create_matrix(matrix, {CUSPARSE_FORMAT_CSR, rows, columns, count, offsets, indices, values, offset_type,
                                index_type, base, type});
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t count,
                                   void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) noexcept {
  return create_matrix(matrix, {CUSPARSE_FORMAT_CSC, rows, columns, count, offsets, indices, values, offset_type,
                                index_type, base, type});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t count,
                                   void* row_indices, void* column_indices, void* values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) noexcept {
  return create_matrix(matrix, {CUSPARSE_FORMAT_COO, rows, columns, count, row_indices, column_indices, values,
                                index_type, index_type, base, type});
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) noexcept { return destroy(matrix); }
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,
                                        void* values) noexcept {
  return set_pointers(matrix, CUSPARSE_FORMAT_CSR, offsets, indices, values);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,
                                        void* values) noexcept {
  return set_pointers(matrix, CUSPARSE_FORMAT_CSC, offsets, indices, values);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* row_indices, void* column_indices,
                                        void* values) noexcept {
  return set_pointers(matrix, CUSPARSE_FORMAT_COO, row_indices, column_indices, values);
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns,
                                      int64_t* count) noexcept {
  return with(matrix, CUSPARSE_STATUS_INVALID_VALUE, [=](const cusparseSpMatDescr& each) {
    *rows = each.rows;
    *columns = each.columns;
    *count = each.count;
  });
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) noexcept {
  return with(matrix, CUSPARSE_STATUS_INVALID_VALUE, [=](cusparseSpMatDescr& each) { each.values = values; });
}
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                           void* value, size_t bytes) noexcept {
  if (matrix == nullptr || value == nullptr || bytes != sizeof(cusparseFillMode_t)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const void* const member = attribute == CUSPARSE_SPMAT_FILL_MODE ? static_cast<const void*>(&matrix->fill)
                                                                   : static_cast<const void*>(&matrix->diagonal);
  std::memcpy(value, member, bytes);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute, void* value,
                                           size_t bytes) noexcept {
  static_assert(sizeof(cusparseFillMode_t) == sizeof(cusparseDiagType_t));
  if (matrix == nullptr || value == nullptr || bytes != sizeof(cusparseFillMode_t)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  void* const member =
      attribute == CUSPARSE_SPMAT_FILL_MODE ? static_cast<void*>(&matrix->fill) : static_cast<void*>(&matrix->diagonal);
  std::memcpy(member, value, bytes);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* vector, int64_t size, int64_t count, void* indices,
                                     void* values, cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                     cudaDataType type) noexcept {
  if (count < 0 || size < count) return CUSPARSE_STATUS_INVALID_VALUE;
  return create(vector, {size, count, indices, values, index_type, base, type});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) noexcept { return destroy(vector); }
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values,
                                     cudaDataType type) noexcept {
  return size < 0 ? CUSPARSE_STATUS_INVALID_VALUE : create(vector, {size, values, type});
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) noexcept { return destroy(vector); }
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) noexcept {
  return with(vector, CUSPARSE_STATUS_INVALID_VALUE, [=](cusparseDnVecDescr& each) { each.values = values; });
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t leading,
                                     void* values, cudaDataType type, cusparseOrder_t order) noexcept {
  const int64_t least = order == CUSPARSE_ORDER_COL ? rows : columns;
  if (rows < 0 || columns < 0 || leading < least) return CUSPARSE_STATUS_INVALID_VALUE;
  return create(matrix, {rows, columns, leading, values, type, order});
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) noexcept { return destroy(matrix); }

}  // namespace convlab::simt::cuda
