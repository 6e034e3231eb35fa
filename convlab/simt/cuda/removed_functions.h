#pragma once

/// Functions that CUDA no longer has for any GPU since compute capability 7.0: each is an error that says what to call.
/// Programs may define functions of these names, as for float4. Those are better matches than the ellipsis.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_REMOVED(name)                                                                                   \
  [[gnu::error("it needs compute capability below 7.0; call " #name "_sync, with the mask of the lanes")]] int name( \
      ...);

CONVLAB_SIMT_REMOVED(__shfl)
CONVLAB_SIMT_REMOVED(__shfl_up)
CONVLAB_SIMT_REMOVED(__shfl_down)
CONVLAB_SIMT_REMOVED(__shfl_xor)
CONVLAB_SIMT_REMOVED(__all)
CONVLAB_SIMT_REMOVED(__any)
CONVLAB_SIMT_REMOVED(__ballot)

#undef CONVLAB_SIMT_REMOVED

}  // namespace convlab::simt::cuda
