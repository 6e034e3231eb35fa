#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Returns the number of images in inputs of these shapes: the first size of the first one, or 1 if it has none.
inline int64_t images_of(InputShapes inputs) { return inputs.empty() || inputs[0].empty() ? 1 : inputs[0][0]; }

/// The addresses of a run's input arrays, in the graph's order. A single address is implicitly a list of one. Refers to
/// its argument, as a span does: for parameters.
class InputArrays : public std::span<const void* const> {
 public:
  InputArrays(const void* const& only) : span(&only, 1) {}         // NOLINT: what has one input is common
  InputArrays(std::span<const void* const> all) : span(all) {}     // NOLINT
  InputArrays(const std::vector<const void*>& all) : span(all) {}  // NOLINT
};

/// Same for its output arrays.
class OutputArrays : public std::span<void* const> {
 public:
  OutputArrays(void* const& only) : span(&only, 1) {}         // NOLINT
  OutputArrays(std::span<void* const> all) : span(all) {}     // NOLINT
  OutputArrays(const std::vector<void*>& all) : span(all) {}  // NOLINT
};

/// Returns the addresses of the tensors' elements.
inline std::vector<const void*> input_addresses(std::span<const Tensor> tensors) {
  std::vector<const void*> addresses;
  for (const Tensor& tensor : tensors) addresses.push_back(tensor.raw());
  return addresses;
}
inline std::vector<void*> output_addresses(std::span<Tensor> tensors) {
  std::vector<void*> addresses;
  for (Tensor& tensor : tensors) addresses.push_back(tensor.raw());
  return addresses;
}

}  // namespace convlab
