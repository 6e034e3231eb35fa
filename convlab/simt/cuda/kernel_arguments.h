#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/simt/kernel_call.h"

/// Calls of a kernel through a void*, with an array of pointers to its arguments, as cudaLaunchKernel() and nodes of
/// graphs have them. Their types come from the kernel's symbol, "kernel(float*, int)". So parameters must be pointers
/// or numbers: a symbol does not tell the layout of structures.
namespace convlab::simt::cuda::runtime {

class ErasedCall {
 public:
  /// Returns the call; nullopt with the reason in `why` if a parameter's type is not supported.
  static std::optional<ErasedCall> of(const void* kernel, void* const* arguments, std::string& why);

  /// Returns the call. It points into this object.
  KernelCall call() const;

 private:
  /// All that the calling conventions of x86-64 and AArch64 pass in registers, and the part on the stack.
  struct Words {
#ifdef __aarch64__
    static constexpr size_t kIntegers = 8;
#else
    static constexpr size_t kIntegers = 6;
#endif
    static constexpr size_t kFloats = 8, kOnStack = 24;
    const void* kernel = nullptr;
    std::array<uint64_t, kIntegers> integers{};
    std::array<double, kFloats> floats{};
    std::array<uint64_t, kOnStack> on_stack{};
  };
  static void invoke(const void* words);

  Words words_;
  std::vector<ArgumentPlace> places_;
};

}  // namespace convlab::simt::cuda::runtime
