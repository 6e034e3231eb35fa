// Reads the factors of cuSPARSE's calls.

#include "convlab/simt/cuda/cusparse_call.h"

#include <fmt/format.h>

#include "convlab/simt/cuda/copy_checks.h"

namespace convlab::simt::cuda::runtime {

std::optional<BlasFactor> factor(const LibraryCall& call, cusparsePointerMode_t mode, const void* pointer,
                                 cudaDataType type, const char* name) {
  if (mode == CUSPARSE_POINTER_MODE_DEVICE) return BlasFactor{.device = pointer, .type = type, .name = name};
  if (pointer == nullptr) {
    refuse_sparse(call, fmt::format("{} is a null pointer", name));
    return std::nullopt;
  }
  if (side_of(pointer, 1) == Side::device) {
    call.on_wrong_side(name, "pass a host pointer, or call cusparseSetPointerMode first");
    return std::nullopt;
  }
  return BlasFactor{.value = element<std::complex<double>>(pointer, type, 0)};
}

}  // namespace convlab::simt::cuda::runtime
