// Lists which kernel the planner prefers if several support a step.

#include "convlab/kernels/preference.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace convlab {
namespace {

// The order was measured: docs/measured/. A plan file made by `convlab tune` overrides it.
constexpr std::array kPreferred = std::to_array<std::string_view>({
    // Convolutions on CPUs.
    "cpu.channel_winograd",
    "cpu.channel_depthwise",
    "cpu.channel_first",
    "cpu.half_depthwise",
    "cpu.channel_dense",
    "cpu.half_conv_amx",
    "cpu.half_conv_dots",
    "cpu.amx_bf16",
    "cpu.half_conv",
    "cpu.channel_direct",
    "cpu.amx_bf16x2",
    "cpu.winograd",
    "cpu.image_lanes",
    "cpu.direct",
    "cpu.im2col_gemm",
    "cpu.avx512_bf16",
    "cpu.avx512_bf16x2",
    "cpu.pairs_bf16",
    "cpu.pairs_bf16x2",
    "cpu.reference",

    // Convolutions on GPUs: production kernels, then the ladder.
    "cuda.one_pixel",
    "cuda.pixel_depthwise",
    "cuda.pixel_depthwise_fp32",
    "cuda.hopper_first_fp16",
    "cuda.hopper_first_tf32",
    "cuda.hopper_first_3xfp16",
    "cuda.pixel_first_fp32",
    "cuda.first_layer_fp16",
    "cuda.hopper_igemm_fp16",
    "cuda.hopper_igemm_tf32",
    "cuda.hopper_igemm_3xfp16",
    "cuda.pixel_pointwise_fp32",
    "cuda.hopper_igemm_3xtf32",
    "cuda.igemm_tf32",
    "cuda.igemm_3xfp16",
    "cuda.igemm_fp16",
    "cuda.first_layer_1xfp16",
    "cuda.first_layer_3xfp16",
    "cuda.deep_layer_fp16",
    "cuda.deep_layer_1xfp16",
    "cuda.hopper_3xfp16",
    "cuda.tensor_core_3xfp16",
    "cuda.tensor_core_3xtf32",
    "cuda.register_tile",
    "cuda.tensor_core_fp16",
    "cuda.tensor_core_tf32",
    "cuda.fft",
    "cuda.winograd",
    "cuda.image_batched",
    "cuda.coarsened",
    "cuda.restrict_unroll",
    "cuda.per_layer",
    "cuda.channel_tree",
    "cuda.channel_atomic",
    "cuda.fused_unroll_gemm",
    "cuda.unroll_gemm",
    "cuda.constant_weights",
    "cuda.shared_tile",
    "cuda.basic",

    // Quantized convolutions.
    "cpu.byte_depthwise_dots",
    "cpu.byte_conv_amx",
    "cpu.byte_depthwise",
    "cpu.byte_conv_dots",
    "cpu.byte_conv",
    "cpu.qlinear_conv",

    // Dense layers and other matrix products.
    "cpu.dense_amx_bf16",
    "cpu.dense_amx_bf16x2",
    "cpu.dense_avx512_bf16",
    "cpu.dense_avx512_bf16x2",
    "cpu.dense_bf16",
    "cpu.dense_strassen",
    "cpu.dense",
    "cpu.dense_lanes",
    "cpu.dense_pairs_bf16",
    "cpu.dense_pairs_bf16x2",
    "cpu.gemm",
    "cpu.matmul",
    "cuda.dense_rows",
    "cuda.dense_narrow",
    "cuda.dense_fp16",
    "cuda.igemm_dense",
    "cuda.dense_3xfp16",
    "cuda.dense",
    "cuda.matmul",

    // Conversions between formats.
    "cpu.half_reorder",
    "cpu.byte_reorder",
    "cpu.channel_reorder",
    "cuda.pixel_reorder",
    "cuda.pixel_reorder_fp32",
});

auto place_of(const KernelInfo& info) {
  return std::tuple(std::ranges::find(kPreferred, info.name), -info.rung, info.name);
}

}  // namespace

std::span<const std::string_view> preferred_kernels() { return kPreferred; }

bool comes_before(const KernelInfo& a, const KernelInfo& b) { return place_of(a) < place_of(b); }

}  // namespace convlab
