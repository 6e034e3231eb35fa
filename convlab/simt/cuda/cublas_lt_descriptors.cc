// Keeps the descriptors of cublasLt.

#include <cstring>
#include <optional>

#include "convlab/simt/cuda/cublas_lt.h"

namespace convlab::simt::cuda {
namespace {

/// The member that keeps an attribute.
struct Member {
  void* data;
  size_t bytes;
};
template <class T>
Member member(T& value) {
  return {&value, sizeof(value)};
}

std::optional<Member> member_of(cublasLtMatmulDescOpaque_t& product, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return member(product.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return member(product.scale_type);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return member(product.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return member(product.op_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return member(product.op_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return member(product.op_c);
    case CUBLASLT_MATMUL_DESC_FILL_MODE:
      return member(product.fill);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return member(product.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return member(product.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return member(product.bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return member(product.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return member(product.aux_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return member(product.aux_stride);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return member(product.multiprocessors);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return member(product.scale_a);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return member(product.scale_b);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return member(product.scale_c);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return member(product.scale_d);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return member(product.largest_d);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return member(product.aux_type);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return member(product.fast_sums);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return member(product.bias_type);
  }
  return std::nullopt;
}

std::optional<Member> member_of(cublasLtMatrixLayoutOpaque_t& layout, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return member(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return member(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return member(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return member(layout.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return member(layout.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return member(layout.batch_count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return member(layout.batch_stride);
  }
  return std::nullopt;
}

template <class Descriptor, class Attribute>
cublasStatus_t set(Descriptor* descriptor, Attribute attribute, const void* value, size_t bytes) {
  if (descriptor == nullptr || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const std::optional<Member> found = member_of(*descriptor, attribute);
  if (!found || found->bytes != bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(found->data, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Descriptor, class Attribute>
cublasStatus_t get(Descriptor* descriptor, Attribute attribute, void* value, size_t bytes, size_t* written) {
  if (descriptor == nullptr || (value == nullptr && written == nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  const std::optional<Member> found = member_of(*descriptor, attribute);
  if (!found) return CUBLAS_STATUS_INVALID_VALUE;
  if (written != nullptr) *written = found->bytes;
  if (bytes == 0) return CUBLAS_STATUS_SUCCESS;
  if (found->bytes != bytes || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, found->data, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Descriptor>
cublasStatus_t create(Descriptor** descriptor, const Descriptor& value) {
  if (descriptor == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *descriptor = new Descriptor(value);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Descriptor>
cublasStatus_t initialize(Descriptor* descriptor, const Descriptor& value) {
  if (descriptor == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *descriptor = value;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Descriptor>
cublasStatus_t destroy(Descriptor* descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

cublasLtMatmulDescOpaque_t product_of(cublasComputeType_t compute, cudaDataType scale_type) {
  cublasLtMatmulDescOpaque_t product;
  product.compute = compute;
  product.scale_type = scale_type;
  return product;
}

cublasLtMatrixLayoutOpaque_t layout_of(cudaDataType type, uint64_t rows, uint64_t columns, int64_t leading) {
  cublasLtMatrixLayoutOpaque_t layout;
  layout.type = type;
  layout.rows = rows;
  layout.columns = columns;
  layout.leading = leading;
  return layout;
}

}  // namespace

struct cublasLtContext {};

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) noexcept { return create(handle, {}); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) noexcept {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : destroy(handle);
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t product, cublasComputeType_t compute,
                                      cudaDataType scale_type) noexcept {
  return initialize(product, product_of(compute, scale_type));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType scale_type) noexcept {
  return create(product, product_of(compute, scale_type));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) noexcept { return destroy(product); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) noexcept {
  const cublasStatus_t status = set(product, attribute, value, bytes);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE) product->has_bias_type = true;
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE) product->has_aux_type = true;
  return status;
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                                              void* value, size_t bytes, size_t* written) noexcept {
  return get(product, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                        uint64_t columns, int64_t leading) noexcept {
  return initialize(layout, layout_of(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) noexcept {
  return create(layout, layout_of(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) noexcept { return destroy(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) noexcept {
  return set(layout, attribute, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* value, size_t bytes,
                                                size_t* written) noexcept {
  return get(layout, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) noexcept {
  return initialize(preference, {});
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) noexcept {
  return create(preference, {});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) noexcept {
  return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) noexcept {
  if (preference == nullptr || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_SUCCESS;
  if (bytes != sizeof(preference->workspace_bytes)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&preference->workspace_bytes, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace convlab::simt::cuda
