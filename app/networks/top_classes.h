#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// A class that a network finds in an image.
struct TopClass {
  int64_t number;
  std::string label;  ///< "" without labels
  double score;       ///< its probability
};

/// Labels from a file, one a line. Error(bad_input) where there is none.
std::vector<std::string> read_labels(const std::string& file);

/// Whether an output is a score for each of several classes of each image: N x classes, and nothing but 1 behind.
bool has_classes(const Shape& output);

/// The most probable classes of each image, best first; of equal ones the lower number. Unless the scores of each add
/// up to 1, they become probabilities by softmax. `labels` may be empty. Error(bad_input) where the output has no
/// classes, or not as many as there are labels; Error(wrong_result) for NaN.
std::vector<std::vector<TopClass>> top_classes(const Tensor& output, int64_t count,
                                               const std::vector<std::string>& labels, const std::string& labels_file);

/// `names`: of the images; where there are fewer, images are numbered.
void print_top(Output& output, const std::vector<std::vector<TopClass>>& images, const std::vector<std::string>& names);

}  // namespace convlab::app
