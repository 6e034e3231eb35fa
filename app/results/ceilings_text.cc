// Prints a machine's peak rates.

#include "app/results/ceilings_text.h"

#include <fmt/format.h>

namespace convlab::app {

std::string rates_text(const Ceilings& ceilings) {
  std::string text = fmt::format("fp32 {:.1f} GFLOP/s", ceilings.fp32_flops * 1e-9);
  if (ceilings.tf32_flops > 0) text += fmt::format(", tf32 {:.1f}", ceilings.tf32_flops * 1e-9);
  if (ceilings.fp16_flops > 0) text += fmt::format(", fp16 {:.1f}", ceilings.fp16_flops * 1e-9);
  if (ceilings.bf16_flops > 0) text += fmt::format(", bf16 {:.1f}", ceilings.bf16_flops * 1e-9);
  text += fmt::format("; memory copy {:.1f} GB/s, in the {:.1f} MiB cache {:.1f} GB/s", ceilings.memory_bytes * 1e-9,
                      static_cast<double>(ceilings.cache_size) * 0x1p-20, ceilings.cache_bytes * 1e-9);
  if (ceilings.upload_bytes > 0) text += fmt::format("; host to GPU {:.1f} GB/s", ceilings.upload_bytes * 1e-9);
  return text;
}

}  // namespace convlab::app
