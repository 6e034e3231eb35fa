#pragma once

#include <span>

#include "convlab/device/cuda_compat.h"

/// Small kernels in pairs: a right one, and the same with one mistake by which threads race. They are patterns of
/// irregular codes: lists, graphs, queues, histograms, reductions, prefix sums, stencils, tiles, flags.
namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// What each kernel gets. The graph has 64 nodes; the neighbours of node v are col[row[v]] to col[row[v + 1] - 1].
struct RaceData {
  const int *x, *row, *col;  ///< x: 256 numbers from 0 to 63
  int *y, *w;                ///< 256 zeros each
};

struct RacePair {
  const char* name;  ///< of the kernel: a template of whether it is right
  void (*right)(RaceData);
  void (*wrong)(RaceData);
  int blocks, threads;
};

#define RACE_PAIR(kernel, blocks, threads) \
  RacePair { #kernel, kernel < true>, kernel < false>, blocks, threads }

std::span<const RacePair> race_pairs_in_shared_memory();
std::span<const RacePair> race_pairs_in_global_memory();  ///< of threads in a block
std::span<const RacePair> race_pairs_of_blocks();

/// A kernel that is wrong where simt is strict, and what it is where it is not.
struct SameValue {
  const char* name;
  void (*kernel)(RaceData);
  int blocks, threads;
  enum Usually { right, redundant, race } usually;
};
std::span<const SameValue> same_values();

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
