#pragma once

#include <string>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// A value's name as it stands in a file's: "_" for what would lead to another folder.
std::string without_folders(std::string name);

/// Where a model's outputs go: --output's value, a .npy file for one, a .npz file, or a folder.
class OutputPlaces {
 public:
  OutputPlaces() = default;

  /// `output`: "" for nowhere. Error(bad_input) where several outputs were to go into one .npy file, or a file could
  /// not be written later.
  OutputPlaces(const Graph& graph, const std::string& output);

  /// The outputs' names, in the graph's order.
  const std::vector<std::string>& names() const { return names_; }

  /// The file of each; "" for nowhere.
  const std::vector<std::string>& files() const { return files_; }

  void write(std::vector<Tensor> outputs) const;

 private:
  std::vector<std::string> names_, files_;
  std::string folder_;  ///< in which the files are; "" where `output` is a file
  bool archive_ = false;
};

/// Error(bad_input) where --output names one file that could not be written.
void require_output(const std::string& output);

}  // namespace convlab::app
