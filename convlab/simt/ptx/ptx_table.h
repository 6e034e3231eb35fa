#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "convlab/simt/ptx/ptx_types.h"

/// The PTX instructions that simt knows: one table, which the compiler reads to reject others where they are written,
/// the parser to know the operands, the interpreter to execute, and docs/reference/ptx.md to list.
namespace convlab::simt::ptx {

struct Instruction;
struct Run;

/// Executes one instruction of the running thread.
using Execute = void(Run& run, const Instruction& instruction);

// Defined in the files named after their groups.
Execute move, add, subtract, multiply, multiply_add, multiply24, sum_of_differences, divide, remainder, absolute,
    negate, extremum, float_function, copy_sign, test_property, dot_product4, dot_product2;
Execute logic, invert, shift, funnel_shift, logic3, extract_field, insert_field, find_bit, count_bits, reverse_bits,
    permute_bytes, find_set_bit, video_shift, video_difference;
Execute compare, set_by_comparison, select_by_predicate, select_by_sign, convert, convert_address, is_in_space;
Execute load, store, atomic, fence, no_effect, create_policy;
Execute block_barrier, block_barrier_of_predicates, warp_barrier, shuffle, vote, match, active_mask, reduce, elect;
Execute copy_async, commit_copies, wait_for_copies, load_matrix, store_matrix, multiply_matrices;
Execute branch, trap, exit_thread;

struct Row {
  std::string_view name;
  std::string_view words;  ///< modifiers that may follow; "hints" stands for all of L1:: and L2::
  std::string_view types;  ///< types that may follow
  /// One letter per operand: d destinations (also d|p), s sources, m an address in brackets, l a label. Those after ?
  /// may be missing.
  std::string_view operands;
  Execute* execute;
};

inline constexpr std::string_view kIntegers = "u16 u32 u64 s16 s32 s64";
inline constexpr std::string_view kBits = "pred b16 b32 b64";
inline constexpr std::string_view kFloats = "f16 f16x2 bf16 bf16x2 f32 f64";
inline constexpr std::string_view kNumbers = "u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
inline constexpr std::string_view kScalars =
    "pred b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
inline constexpr std::string_view kComparisons =
    "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
inline constexpr std::string_view kLoads =
    "weak volatile relaxed acquire mmio cta cluster gpu sys global shared shared::cta local const ca cg cs lu cv nc v2 "
    "v4 "
    "hints";
inline constexpr std::string_view kStores =
    "weak volatile relaxed release mmio cta cluster gpu sys global shared shared::cta local wb cg cs wt v2 v4 hints";
inline constexpr std::string_view kAtomics =
    "relaxed acquire release acq_rel cta cluster gpu sys global shared shared::cta and or xor cas exch add inc dec min "
    "max "
    "noftz hints";
inline constexpr std::string_view kRoundings = "rn rz rm rp ftz sat";

/// The longest name that fits counts.
inline constexpr std::array kTable{
    // Numbers
    Row{"addc", "cc", "u32 s32 u64 s64", "dss", add},
    Row{"add", "rn rz rm rp ftz sat cc", kNumbers, "dss", add},
    Row{"subc", "cc", "u32 s32 u64 s64", "dss", subtract},
    Row{"sub", "rn rz rm rp ftz sat cc", kNumbers, "dss", subtract},
    Row{"mul", "lo hi wide rn rz rm rp ftz sat", kNumbers, "dss", multiply},
    Row{"madc", "lo hi cc", "u32 s32 u64 s64", "dsss", multiply_add},
    Row{"mad", "lo hi wide cc rn rz rm rp ftz sat", kNumbers, "dsss", multiply_add},
    Row{"fma", "rn rz rm rp ftz sat relu", kFloats, "dsss", multiply_add},
    Row{"mul24", "lo hi", "u32 s32", "dss", multiply24},
    Row{"mad24", "lo hi", "u32 s32", "dsss", multiply24},
    Row{"sad", "", kIntegers, "dsss", sum_of_differences},
    Row{"div", "approx full rn rz rm rp ftz", "u16 u32 u64 s16 s32 s64 f32 f64", "dss", divide},
    Row{"rem", "", kIntegers, "dss", remainder},
    Row{"abs", "ftz", kNumbers, "ds", absolute},
    Row{"neg", "ftz", kNumbers, "ds", negate},
    Row{"min", "ftz NaN", kNumbers, "dss", extremum},
    Row{"max", "ftz NaN", kNumbers, "dss", extremum},
    Row{"sqrt", "approx rn rz rm rp ftz", "f32 f64", "ds", float_function},
    Row{"rcp", "approx rn rz rm rp ftz", "f32 f64", "ds", float_function},
    Row{"rsqrt", "approx ftz", "f32 f64", "ds", float_function},
    Row{"sin", "approx ftz", "f32", "ds", float_function},
    Row{"cos", "approx ftz", "f32", "ds", float_function},
    Row{"ex2", "approx ftz", "f16 f16x2 bf16 bf16x2 f32", "ds", float_function},
    Row{"lg2", "approx ftz", "f32", "ds", float_function},
    Row{"tanh", "approx", "f16 f16x2 bf16 bf16x2 f32", "ds", float_function},
    Row{"copysign", "", "f32 f64", "dss", copy_sign},
    Row{"testp", "finite infinite number notanumber normal subnormal", "f32 f64", "ds", test_property},
    Row{"dp4a", "", "u32 s32", "dsss", dot_product4},
    Row{"dp2a", "lo hi", "u32 s32", "dsss", dot_product2},
    // Bits
    Row{"and", "", kBits, "dss", logic},
    Row{"or", "", kBits, "dss", logic},
    Row{"xor", "", kBits, "dss", logic},
    Row{"not", "", kBits, "ds", invert},
    Row{"cnot", "", "b16 b32 b64", "ds", invert},
    Row{"shl", "", "b16 b32 b64", "dss", shift},
    Row{"shr", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "dss", shift},
    Row{"shf", "l r clamp wrap", "b32", "dsss", funnel_shift},
    Row{"lop3", "", "b32", "dssss", logic3},
    Row{"bfe", "", "u32 u64 s32 s64", "dsss", extract_field},
    Row{"bfi", "", "b32 b64", "dssss", insert_field},
    Row{"bfind", "shiftamt", "u32 u64 s32 s64", "ds", find_bit},
    Row{"popc", "", "b32 b64", "ds", count_bits},
    Row{"clz", "", "b32 b64", "ds", count_bits},
    Row{"brev", "", "b32 b64", "ds", reverse_bits},
    Row{"prmt", "f4e b4e rc8 ecl ecr rc16", "b32", "dsss", permute_bytes},
    Row{"fns", "", "b32", "dsss", find_set_bit},
    Row{"vshl", "clamp wrap add min max", "u32 s32", "dss?s", video_shift},
    Row{"vshr", "clamp wrap add min max", "u32 s32", "dss?s", video_shift},
    Row{"vabsdiff4", "add", "u32 s32", "dsss", video_difference},
    Row{"vabsdiff2", "add", "u32 s32", "dsss", video_difference},
    // Comparisons, selections and conversions
    Row{"setp", kComparisons, "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64", "dss?s", compare},
    Row{"set", kComparisons, "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64", "dss?s", set_by_comparison},
    Row{"selp", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "dsss", select_by_predicate},
    Row{"slct", "ftz", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "dsss", select_by_sign},
    Row{"cvta", "to global shared shared::cta local const", "u32 u64", "ds", convert_address},
    Row{"cvt", "rn rz rm rp rna rni rzi rmi rpi ftz sat satfinite relu",
        "u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 e4m3x2 e5m2x2", "ds?s", convert},
    Row{"isspacep", "global shared shared::cta local const", "", "ds", is_in_space},
    Row{"mov", "", kScalars, "ds", move},
    // Memory
    Row{"ldu", "global v2 v4", kScalars, "dm", load},
    Row{"ld", kLoads, kScalars, "dm?s", load},
    Row{"st", kStores, kScalars, "ms?s", store},
    Row{"atom", kAtomics, "b16 b32 b64 u32 u64 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", "dms?ss", atomic},
    Row{"red", kAtomics, "b32 b64 u32 u64 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", "ms?s", atomic},
    Row{"membar", "cta gl sys", "", "", fence},
    Row{"fence.proxy", "alias async global shared::cta shared::cluster", "", "", no_effect},
    Row{"fence", "sc acq_rel acquire release cta cluster gpu sys", "", "", fence},
    Row{"prefetchu", "L1", "", "m", no_effect},
    Row{"prefetch", "global local L1 L2 hints", "", "m", no_effect},
    Row{"discard", "global hints", "", "ms", no_effect},
    Row{"applypriority", "global hints", "", "ms", no_effect},
    Row{"createpolicy", "fractional range global hints", "b64", "d?sss", create_policy},
    // Blocks and warps
    Row{"bar.warp.sync", "", "", "s", warp_barrier},
    Row{"bar.red", "popc and or aligned cta", "u32 pred", "dss?s", block_barrier_of_predicates},
    Row{"barrier.cta.red", "popc and or aligned", "u32 pred", "dss?s", block_barrier_of_predicates},
    Row{"barrier.red", "popc and or aligned", "u32 pred", "dss?s", block_barrier_of_predicates},
    Row{"bar.sync", "", "", "s?s", block_barrier},
    Row{"bar.cta.sync", "", "", "s?s", block_barrier},
    Row{"barrier.cta.sync", "aligned", "", "s?s", block_barrier},
    Row{"barrier.sync", "aligned", "", "s?s", block_barrier},
    Row{"shfl.sync", "up down bfly idx", "b32", "dssss", shuffle},
    Row{"vote.sync", "all any uni ballot", "pred b32", "dss", vote},
    Row{"match.any.sync", "", "b32 b64", "dss", match},
    Row{"match.all.sync", "", "b32 b64", "dss", match},
    Row{"activemask", "", "b32", "d", active_mask},
    Row{"redux.sync", "add min max and or xor", "b32 u32 s32", "dss", reduce},
    Row{"elect.sync", "", "", "ds", elect},
    Row{"nanosleep", "", "u32", "s", no_effect},
    Row{"griddepcontrol", "launch_dependents wait", "", "", no_effect},
    Row{"pmevent", "mask", "", "s", no_effect},
    // Asynchronous copies and matrices
    Row{"cp.async.commit_group", "", "", "", commit_copies},
    Row{"cp.async.wait_group", "", "", "s", wait_for_copies},
    Row{"cp.async.wait_all", "", "", "", wait_for_copies},
    Row{"cp.async", "ca cg shared shared::cta global hints", "", "mms?ss", copy_async},
    Row{"ldmatrix", "sync aligned m8n8 x1 x2 x4 trans shared shared::cta", "b16", "dm", load_matrix},
    Row{"stmatrix", "sync aligned m8n8 x1 x2 x4 trans shared shared::cta", "b16", "ms", store_matrix},
    Row{"mma.sync", "aligned m8n8k4 m8n8k16 m16n8k4 m16n8k8 m16n8k16 m16n8k32 row col satfinite",
        "f16 bf16 tf32 f32 f64 s8 u8 s32", "dsss", multiply_matrices},
    // Control
    Row{"bra", "uni", "", "l", branch},
    Row{"trap", "", "", "", trap},
    Row{"brkpt", "", "", "", trap},
    Row{"exit", "", "", "", exit_thread},
};

/// Returns the index of the row of an instruction with modifiers, as in "cp.async.ca.shared.global"; kTable.size() if
/// there is none.
constexpr size_t row_of(std::string_view instruction) {
  size_t best = kTable.size();
  for (size_t i = 0; i < kTable.size(); ++i) {
    const std::string_view name = kTable[i].name;
    const bool matches = instruction.substr(0, name.size()) == name &&
                         (instruction.size() == name.size() || instruction[name.size()] == '.');
    if (matches && (best == kTable.size() || name.size() > kTable[best].name.size())) best = i;
  }
  return best;
}

constexpr bool is_hint(std::string_view word) { return word.substr(0, 4) == "L1::" || word.substr(0, 4) == "L2::"; }

/// Whether the table has the instruction with all of its modifiers and types.
constexpr bool is_known(std::string_view instruction) {
  const size_t found = row_of(instruction);
  if (found == kTable.size()) return false;
  const Row& row = kTable[found];
  for (size_t at = row.name.size(); at < instruction.size();) {
    const size_t end = position_of(instruction, '.', at + 1);
    const std::string_view part = instruction.substr(at + 1, end - at - 1);
    const bool known =
        is_in_list(row.words, part) || is_in_list(row.types, part) || (is_hint(part) && is_in_list(row.words, "hints"));
    if (!known) return false;
    at = end;
  }
  return true;
}

}  // namespace convlab::simt::ptx
