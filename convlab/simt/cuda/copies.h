#pragma once

/// Must be included before anything else in kernel files. The standard library copies and fills bytes (std::copy,
/// std::fill) with compiler builtins, which g++ expands into accesses without hooks. These macros turn them into calls
/// of the C library's functions, which the linker redirects to the hooks (kernel_file/compiler.cc). Copies that g++
/// compiles to one load and store remain builtins: those are instrumented.

extern "C" {
void* memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) noexcept;
void* memmove(void* to, const void* from, __SIZE_TYPE__ bytes) noexcept;
void* memset(void* to, int byte, __SIZE_TYPE__ bytes) noexcept;
}

#define CONVLAB_SIMT_IS_ONE_ACCESS(bytes) \
  (__builtin_constant_p(bytes) && ((bytes) == 1 || (bytes) == 2 || (bytes) == 4 || (bytes) == 8 || (bytes) == 16))

[[gnu::always_inline]] inline void* convlab_simt_memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) {
  return CONVLAB_SIMT_IS_ONE_ACCESS(bytes) ? __builtin_memcpy(to, from, bytes) : memcpy(to, from, bytes);
}
[[gnu::always_inline]] inline void* convlab_simt_memmove(void* to, const void* from, __SIZE_TYPE__ bytes) {
  return CONVLAB_SIMT_IS_ONE_ACCESS(bytes) ? __builtin_memmove(to, from, bytes) : memmove(to, from, bytes);
}
[[gnu::always_inline]] inline void* convlab_simt_memset(void* to, int byte, __SIZE_TYPE__ bytes) {
  return memset(to, byte, bytes);
}
#undef CONVLAB_SIMT_IS_ONE_ACCESS

#define __builtin_memcpy convlab_simt_memcpy
#define __builtin_memmove convlab_simt_memmove
#define __builtin_memset convlab_simt_memset
