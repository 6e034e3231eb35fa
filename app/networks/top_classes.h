#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// A class that the network predicts for an image.
struct TopClass {
  int64_t number;
  std::string label;  ///< "" without labels
  double score;       ///< its probability
};

/// Reads labels from a file, one per line. Throws Error(bad_input) if there are none.
std::vector<std::string> read_labels(const std::string& file);

/// Whether an output has a score for each of several classes of each image: N x classes, then only dimensions of 1.
bool has_classes(const Shape& output);

/// Returns the `count` most probable classes of each image, best first; of equal ones the lower index first. Unless the
/// scores of each image add up to 1, converts them to probabilities by softmax. `labels` may be empty. Throws
/// Error(bad_input) if the output has no classes, or their number differs from that of `labels`; throws
/// Error(wrong_result) if a score is NaN or infinite.
std::vector<std::vector<TopClass>> top_classes(const Tensor& output, int64_t count,
                                               const std::vector<std::string>& labels, const std::string& labels_file);

/// Prints the classes. `names`: of the images; images without a name are numbered.
void print_top(Output& output, const std::vector<std::vector<TopClass>>& images, const std::vector<std::string>& names);

}  // namespace convlab::app
