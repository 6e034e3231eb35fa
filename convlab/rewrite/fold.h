#pragma once

#include <string>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/model/graph.h"

namespace convlab {

/// A chain of linear operators, and the result of folding it.
struct Folding {
  std::string nodes;    ///< the chain's nodes, joined by '+'
  bool folded = false;  ///< some or all of them were folded into fewer nodes
  std::string text;     ///< the new operators, or why there are none, with both costs, for people
};

/// Folds chains of linear operators: convolution, average pooling, batch normalization, addition of or multiplication
/// by a constant, constant padding, rearrangements within an image, and dense layers. Partitions each chain where the
/// total cost is lowest. Each part becomes one convolution or one dense layer, or stays as it is. The cost of an
/// operator is its multiply-adds plus the bytes that it must move, one byte counted as five multiply-adds; the images
/// of `inputs` share the weights. New weights are computed in double and rounded once. The graph must come from
/// simplified(). Returns all chains of two operators or more.
std::vector<Folding> fold_linear(Graph& graph, InputShapes inputs, ThreadPool& threads);

}  // namespace convlab
