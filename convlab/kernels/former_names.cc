// Kernels that convlab 0.1 named by other rules.

#include "convlab/kernels/former_names.h"

#include <algorithm>
#include <utility>

namespace convlab {
namespace {

// bench/pages.py reads these lines, too.
constexpr std::pair<std::string_view, std::string_view> kFormerNames[] = {
    {"cpu.amx_bf16", "cpu.nchw16n2c_amx_bf16"},
    {"cpu.amx_bf16x2", "cpu.nchw16n2c_amx_bf16x2"},
    {"cpu.avx512_bf16", "cpu.nchw16n2c_avx512_bf16"},
    {"cpu.avx512_bf16x2", "cpu.nchw16n2c_avx512_bf16x2"},
    {"cpu.byte_add", "cpu.nhwc_int8_add"},
    {"cpu.byte_concat", "cpu.nhwc_int8_concat"},
    {"cpu.byte_conv", "cpu.nhwc_int8_conv"},
    {"cpu.byte_conv_amx", "cpu.nhwc_int8_conv_amx"},
    {"cpu.byte_conv_dots", "cpu.nhwc_int8_conv_dots"},
    {"cpu.byte_depthwise", "cpu.nhwc_int8_depthwise"},
    {"cpu.byte_depthwise_dots", "cpu.nhwc_int8_depthwise_dots"},
    {"cpu.byte_max_pool", "cpu.nhwc_int8_max_pool"},
    {"cpu.byte_mean", "cpu.nhwc_int8_mean"},
    {"cpu.byte_reorder", "cpu.nhwc_int8_reorder"},
    {"cpu.channel_concat", "cpu.nchw8c_concat"},
    {"cpu.channel_dense", "cpu.nchw8c_dense"},
    {"cpu.channel_depthwise", "cpu.nchw8c_depthwise"},
    {"cpu.channel_direct", "cpu.nchw8c_direct"},
    {"cpu.channel_elementwise", "cpu.nchw8c_elementwise"},
    {"cpu.channel_first", "cpu.nchw8c_first"},
    {"cpu.channel_global_average_pool", "cpu.nchw8c_global_average_pool"},
    {"cpu.channel_pool", "cpu.nchw8c_pool"},
    {"cpu.channel_reorder", "cpu.nchw8c_reorder"},
    {"cpu.channel_scale", "cpu.nchw8c_scale"},
    {"cpu.channel_winograd", "cpu.nchw8c_winograd"},
    {"cpu.dense_amx_bf16", "cpu.nchw16n2c_dense_amx_bf16"},
    {"cpu.dense_amx_bf16x2", "cpu.nchw16n2c_dense_amx_bf16x2"},
    {"cpu.dense_avx512_bf16", "cpu.nchw16n2c_dense_avx512_bf16"},
    {"cpu.dense_avx512_bf16x2", "cpu.nchw16n2c_dense_avx512_bf16x2"},
    {"cpu.dense_lanes", "cpu.nchw16n_dense"},
    {"cpu.dense_pairs_bf16", "cpu.nchw16n2c_dense_bf16"},
    {"cpu.dense_pairs_bf16x2", "cpu.nchw16n2c_dense_bf16x2"},
    {"cpu.dense_strassen", "cpu.nchw16n_dense_strassen"},
    {"cpu.half_conv", "cpu.nhwc_bf16_conv"},
    {"cpu.half_conv_amx", "cpu.nhwc_bf16_conv_amx"},
    {"cpu.half_conv_dots", "cpu.nhwc_bf16_conv_dots"},
    {"cpu.half_depthwise", "cpu.nhwc_bf16_depthwise"},
    {"cpu.half_elementwise", "cpu.nhwc_bf16_elementwise"},
    {"cpu.half_mean", "cpu.nhwc_bf16_mean"},
    {"cpu.half_pool", "cpu.nhwc_bf16_pool"},
    {"cpu.half_reorder", "cpu.nhwc_bf16_reorder"},
    {"cpu.half_scale", "cpu.nhwc_bf16_scale"},
    {"cpu.image_lanes", "cpu.nchw16n_direct"},
    {"cpu.pairs_bf16", "cpu.nchw16n2c_bf16"},
    {"cpu.pairs_bf16x2", "cpu.nchw16n2c_bf16x2"},
    {"cpu.winograd", "cpu.nchw16n_winograd"},
    {"cuda.dense_rows", "cuda.nhwc_dense"},
    {"cuda.hopper_3xfp16", "cuda.nchw_hopper_3xfp16"},
    {"cuda.hopper_first_3xfp16", "cuda.nhwc_hopper_first_3xfp16"},
    {"cuda.hopper_first_fp16", "cuda.nhwc_hopper_first_fp16"},
    {"cuda.hopper_first_tf32", "cuda.nhwc_hopper_first_tf32"},
    {"cuda.hopper_igemm_3xfp16", "cuda.nhwc_hopper_igemm_3xfp16"},
    {"cuda.hopper_igemm_3xtf32", "cuda.nhwc_hopper_igemm_3xtf32"},
    {"cuda.hopper_igemm_fp16", "cuda.nhwc_hopper_igemm_fp16"},
    {"cuda.hopper_igemm_tf32", "cuda.nhwc_hopper_igemm_tf32"},
    {"cuda.igemm_3xfp16", "cuda.nhwc_igemm_3xfp16"},
    {"cuda.igemm_dense", "cuda.nhwc_igemm_dense"},
    {"cuda.igemm_fp16", "cuda.nhwc_igemm_fp16"},
    {"cuda.igemm_tf32", "cuda.nhwc_igemm_tf32"},
    {"cuda.pixel_depthwise", "cuda.nhwc_depthwise"},
    {"cuda.pixel_depthwise_fp32", "cuda.nhwc_depthwise_fp32"},
    {"cuda.pixel_elementwise", "cuda.nhwc_elementwise"},
    {"cuda.pixel_elementwise_fp32", "cuda.nhwc_elementwise_fp32"},
    {"cuda.pixel_first_fp32", "cuda.nhwc_first_fp32"},
    {"cuda.pixel_mean", "cuda.nhwc_mean"},
    {"cuda.pixel_mean_fp32", "cuda.nhwc_mean_fp32"},
    {"cuda.pixel_pointwise_fp32", "cuda.nhwc_pointwise_fp32"},
    {"cuda.pixel_pool", "cuda.nhwc_pool"},
    {"cuda.pixel_pool_fp32", "cuda.nhwc_pool_fp32"},
    {"cuda.pixel_reorder", "cuda.nhwc_reorder"},
    {"cuda.pixel_reorder_fp32", "cuda.nhwc_reorder_fp32"},
    {"cuda.pixel_scale", "cuda.nhwc_scale"},
    {"cuda.pixel_scale_fp32", "cuda.nhwc_scale_fp32"},
    {"cuda.pixel_squeeze_excite", "cuda.nhwc_squeeze_excite"},
    {"cuda.pixel_squeeze_excite_fp32", "cuda.nhwc_squeeze_excite_fp32"},
};

}  // namespace

std::string_view present_name(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kFormerNames, name, {}, [](const auto& row) { return row.first; });
  return found != std::ranges::end(kFormerNames) && found->first == name ? found->second : name;
}

std::span<const std::pair<std::string_view, std::string_view>> former_names() { return kFormerNames; }

}  // namespace convlab
