// Fuses additions of 8-bit quantized values with convolutions.

#include <map>
#include <utility>
#include <vector>

#include "convlab/rewrite/readers.h"
#include "convlab/rewrite/rewrite_to_bytes.h"

namespace convlab {

void join_additions(Graph& graph) {
  const Readers readers(graph);
  std::map<ValueId, size_t> convs;
  std::vector<bool> gone(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    if (const auto* conv = std::get_if<ByteConvOp>(&node.op)) {
      if (!conv->adds && conv->conv.groups == 1 && readers.only(node.output)) convs[node.output] = i;
      continue;
    }
    const auto* add = std::get_if<ByteAddOp>(&node.op);
    if (add == nullptr || node.inputs[0] == node.inputs[1]) continue;
    const auto a = convs.find(node.inputs[0]), b = convs.find(node.inputs[1]);
    if (a == convs.end() && b == convs.end()) continue;
    // Of two convolutions, choose the later one: it finds the other's result in a cache.
    const bool first = b == convs.end() || (a != convs.end() && a->second > b->second);
    ByteAddOp sum = *add;
    if (!first) {
      std::swap(sum.a_factor, sum.b_factor);
      std::swap(sum.a_zero, sum.b_zero);
    }
    const size_t place = (first ? a : b)->second;
    Node joined = graph.nodes[place];
    auto& op = std::get<ByteConvOp>(joined.op);
    op.adds = true;
    op.sum = sum;
    joined.name += "+" + node.name;
    joined.inputs.push_back(node.inputs[first ? 1 : 0]);
    joined.output = node.output;
    gone[place] = true;
    node = std::move(joined);
  }
  size_t place = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return gone[place++]; });
}

}  // namespace convlab
