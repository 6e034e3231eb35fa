// Registers kernels of version 0.1's contract.

#include "convlab/kernels/conv_kernel.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kMost = 16;

/// What a Kernel's plain function pointers cannot carry: each registered kernel has a slot, and each slot its own
/// functions.
std::array<ConvKernel, kMost> slots;
int taken = 0;

template <int kSlot>
Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  return slots[kSlot].refuses(step, caps);
}

template <int kSlot>
size_t prepared_bytes(const ConvStep& step, const DeviceCaps& caps) {
  return slots[kSlot].prepared_bytes != nullptr ? slots[kSlot].prepared_bytes(step, caps) : 0;
}

template <int kSlot>
size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  return slots[kSlot].workspace_bytes != nullptr ? slots[kSlot].workspace_bytes(step, caps) : 0;
}

template <int kSlot>
void prepare(const ConvArgs& args, Stream& stream) {
  slots[kSlot].prepare(args, stream);
}

template <int kSlot>
void launch(const ConvArgs& args, Stream& stream) {
  slots[kSlot].launch(args, stream);
}

template <int kSlot>
std::string choice(const ConvStep& step, Stream& stream) {
  return slots[kSlot].choice(step, stream);
}

template <int... kSlots>
Kernel kernel_of(int slot, std::integer_sequence<int, kSlots...>) {
  constexpr std::array kKernels{Kernel{.refuses = of_conv<refuses<kSlots>>,
                                       .prepared_bytes = of_conv<prepared_bytes<kSlots>>,
                                       .workspace_bytes = of_conv<workspace_bytes<kSlots>>,
                                       .prepare = of_conv<prepare<kSlots>>,
                                       .launch = of_conv<launch<kSlots>>,
                                       .choice = of_conv<choice<kSlots>>}...};
  return kKernels[static_cast<size_t>(slot)];
}

}  // namespace

RegisterConvKernel::RegisterConvKernel(const ConvKernel& kernel, const char* file) {
  if (taken == kMost) {
    // Nothing can catch an exception before main.
    std::fprintf(stderr, "at most %d kernels may use RegisterConvKernel\n", kMost);
    std::abort();
  }
  slots[static_cast<size_t>(taken)] = kernel;
  Kernel adapted = kernel_of(taken++, std::make_integer_sequence<int, kMost>());
  adapted.info = kernel.info;
  if (kernel.prepare == nullptr) adapted.prepare = nullptr;
  if (kernel.choice == nullptr) adapted.choice = nullptr;
  adapted.absent = kernel.absent;
  adapted.tunables = kernel.tunables;
  adapted.format = kernel.format;
  adapted.packs_weights = kernel.packs_weights;
  const RegisterKernel registered(adapted, file);
}

}  // namespace convlab
