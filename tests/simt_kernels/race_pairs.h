#pragma once

#include <span>

#include "convlab/device/cuda_compat.h"

/// Pairs of small kernels: a correct one, and the same with one mistake that causes a data race. The patterns come from
/// irregular programs: lists, graphs, queues, histograms, reductions, prefix sums, stencils, tiles, flags.
namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// The arguments of each kernel. The graph has 64 nodes; node v's neighbors are col[row[v]] to col[row[v + 1] - 1].
struct RaceData {
  const int *x, *row, *col;  ///< x: 256 numbers from 0 to 63
  int *y, *w;                ///< 256 zeros each
};

struct RacePair {
  const char* name;  ///< of the kernel, a template over whether it is right
  void (*right)(RaceData);
  void (*wrong)(RaceData);
  int blocks, threads;
};

#define RACE_PAIR(kernel, blocks, threads) \
  RacePair { #kernel, kernel < true>, kernel < false>, blocks, threads }

std::span<const RacePair> race_pairs_in_shared_memory();
std::span<const RacePair> race_pairs_in_global_memory();  ///< between threads of a block
std::span<const RacePair> race_pairs_of_blocks();

/// A kernel that is wrong under strict checking, and what it is otherwise.
struct SameValue {
  const char* name;
  void (*kernel)(RaceData);
  int blocks, threads;
  enum Usually { right, redundant, race } usually;
};
std::span<const SameValue> same_values();

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
