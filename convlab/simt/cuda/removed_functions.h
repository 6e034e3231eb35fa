#pragma once

/// Functions that CUDA no longer has for any GPU since compute capability 7.0: each is an error that says what to call.
namespace convlab::simt::cuda {

namespace simt_detail {
template <class...>
inline constexpr bool kIsRemoved = false;
}

#define CONVLAB_SIMT_REMOVED(name)                                                                               \
  template <class... Arguments>                                                                                  \
  int name(Arguments...) {                                                                                       \
    static_assert(simt_detail::kIsRemoved<Arguments...>,                                                         \
                  #name " needs compute capability below 7.0; call " #name "_sync, with the mask of the lanes"); \
    return 0;                                                                                                    \
  }

CONVLAB_SIMT_REMOVED(__shfl)
CONVLAB_SIMT_REMOVED(__shfl_up)
CONVLAB_SIMT_REMOVED(__shfl_down)
CONVLAB_SIMT_REMOVED(__shfl_xor)
CONVLAB_SIMT_REMOVED(__all)
CONVLAB_SIMT_REMOVED(__any)
CONVLAB_SIMT_REMOVED(__ballot)

#undef CONVLAB_SIMT_REMOVED

}  // namespace convlab::simt::cuda
