#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convlab/conv/problem.h"

namespace convlab::classroom {

/// What is shipped of one semester's assignment: a folder in classes/ with pack.toml and the problem's text, README.md.
struct Pack {
  std::string name;                 ///< "fa19"
  std::string title;                ///< in a few words
  std::vector<ConvProblem> layers;  ///< with one image
  std::string file;                 ///< how students call their file: "new-forward.cuh"
  std::string reference = "cuda.basic", reference_on_cpu = "cpu.reference";
  bool libraries_allowed = false;

  std::filesystem::path text;  ///< of the problem, Markdown
  std::filesystem::path template_file;
};

std::vector<std::string> pack_names();

/// Error(bad_input) with those that there are.
Pack load_pack(const std::string& name);

}  // namespace convlab::classroom
