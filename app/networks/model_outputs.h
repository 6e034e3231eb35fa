#pragma once

#include <string>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// Returns the name of a value for use in a file name: path separators become "_".
std::string without_folders(std::string name);

/// The files for a model's outputs, from --output: a .npy file for a single output, a .npz file, or a folder.
class OutputPlaces {
 public:
  OutputPlaces() = default;

  /// `output`: "" for none. Throws Error(bad_input) if several outputs would go to one file that is not a .npz file.
  OutputPlaces(const Graph& graph, const std::string& output);

  /// The outputs' names, in the graph's order.
  const std::vector<std::string>& names() const { return names_; }

  /// The file of each output; "" if it is not written.
  const std::vector<std::string>& files() const { return files_; }

  void write(std::vector<Tensor> outputs) const;

 private:
  std::vector<std::string> names_, files_;
  std::string folder_;  ///< folder of the files; "" if `output` is a file
  bool archive_ = false;
};

/// Throws Error(bad_input) if --output names one file that cannot be written, or whose ending is of
/// another format.
void require_output(const std::string& output);

}  // namespace convlab::app
