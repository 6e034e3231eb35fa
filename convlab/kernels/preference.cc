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
    "cpu.nchw8c_winograd",
    "cpu.nchw8c_depthwise",
    "cpu.nchw8c_first",
    "cpu.nhwc_bf16_depthwise",
    "cpu.nchw8c_dense",
    "cpu.nhwc_bf16_conv_amx",
    "cpu.nhwc_bf16_conv_dots",
    "cpu.nchw16n2c_amx_bf16",
    "cpu.nhwc_bf16_conv",
    "cpu.nchw8c_direct",
    "cpu.nchw16n2c_amx_bf16x2",
    "cpu.nchw16n_winograd",
    "cpu.nchw16n_direct",
    "cpu.direct",
    "cpu.im2col_gemm",
    "cpu.nchw16n2c_avx512_bf16",
    "cpu.nchw16n2c_avx512_bf16x2",
    "cpu.nchw16n2c_bf16",
    "cpu.nchw16n2c_bf16x2",
    "cpu.reference",

    // Convolutions on GPUs: production kernels, then the ladder.
    "cuda.one_pixel",
    "cuda.nhwc_depthwise",
    "cuda.nhwc_depthwise_fp32",
    "cuda.nhwc_hopper_first_fp16",
    "cuda.nhwc_hopper_first_tf32",
    "cuda.nhwc_hopper_first_3xfp16",
    "cuda.nhwc_first_fp32",
    "cuda.first_layer_fp16",
    "cuda.nhwc_hopper_igemm_fp16",
    "cuda.nhwc_hopper_igemm_tf32",
    "cuda.nhwc_hopper_igemm_3xfp16",
    "cuda.nhwc_pointwise_fp32",
    "cuda.nhwc_hopper_igemm_3xtf32",
    "cuda.nhwc_igemm_tf32",
    "cuda.nhwc_igemm_3xfp16",
    "cuda.nhwc_igemm_fp16",
    "cuda.first_layer_1xfp16",
    "cuda.first_layer_3xfp16",
    "cuda.deep_layer_fp16",
    "cuda.deep_layer_1xfp16",
    "cuda.nchw_hopper_3xfp16",
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
    "cpu.nhwc_int8_depthwise_dots",
    "cpu.nhwc_int8_conv_amx",
    "cpu.nhwc_int8_depthwise",
    "cpu.nhwc_int8_conv_dots",
    "cpu.nhwc_int8_conv",
    "cpu.qlinear_conv",

    // Dense layers and other matrix products.
    "cpu.nchw16n2c_dense_amx_bf16",
    "cpu.nchw16n2c_dense_amx_bf16x2",
    "cpu.nchw16n2c_dense_avx512_bf16",
    "cpu.nchw16n2c_dense_avx512_bf16x2",
    "cpu.dense_bf16",
    "cpu.nchw16n_dense_strassen",
    "cpu.dense",
    "cpu.nchw16n_dense",
    "cpu.nchw16n2c_dense_bf16",
    "cpu.nchw16n2c_dense_bf16x2",
    "cpu.gemm",
    "cpu.matmul",
    "cuda.nhwc_dense",
    "cuda.dense_narrow",
    "cuda.dense_fp16",
    "cuda.nhwc_igemm_dense",
    "cuda.dense_3xfp16",
    "cuda.dense",
    "cuda.matmul",

    // Conversions between formats.
    "cpu.nhwc_bf16_reorder",
    "cpu.nhwc_int8_reorder",
    "cpu.nchw8c_reorder",
    "cuda.nhwc_reorder",
    "cuda.nhwc_reorder_fp32",
});

auto place_of(const KernelInfo& info) {
  return std::tuple(std::ranges::find(kPreferred, info.name), -info.rung, info.name);
}

}  // namespace

std::span<const std::string_view> preferred_kernels() { return kPreferred; }

bool comes_before(const KernelInfo& a, const KernelInfo& b) { return place_of(a) < place_of(b); }

}  // namespace convlab
