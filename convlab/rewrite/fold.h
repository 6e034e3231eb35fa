#pragma once

#include <string>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/model/graph.h"

namespace convlab {

/// A chain of linear operators, and what has become of it.
struct Folding {
  std::string nodes;    ///< the chain's nodes, joined by '+'
  bool folded = false;  ///< some or all of them were folded into fewer
  std::string text;     ///< into what, or why not, with the costs of both, for people
};

/// Folds linear operators in a row: convolution, average pooling, batch normalization, adding or multiplying by a
/// constant, zeros or another constant around an image, rearranging within it, and dense layers. Each chain is cut
/// where the parts together cost least; a part becomes one convolution or one dense layer, or stays as it is. The cost
/// of an operator is its multiply-adds and the bytes that it must move, a byte counted as five multiply-adds; weights
/// are shared by the images of `inputs`. New weights are computed in double and rounded once. The graph is as
/// simplified() leaves it. Returns all chains of two operators or more.
std::vector<Folding> fold_linear(Graph& graph, InputShapes inputs, ThreadPool& threads);

}  // namespace convlab
