#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convlab/conv/problem.h"

namespace convlab::classroom {

/// A semester's assignment as shipped: a folder in classes/ with pack.toml and the problem text, README.md.
struct Pack {
  std::string name;                 ///< "fa19"
  std::string title;                ///< a short description
  std::vector<ConvProblem> layers;  ///< with one image
  std::string file;                 ///< the name of students' files: "new-forward.cuh"
  std::string reference = "cuda.basic", reference_on_cpu = "cpu.reference";
  bool libraries_allowed = false;

  std::filesystem::path text;  ///< the problem text, Markdown
  std::filesystem::path template_file;
};

std::vector<std::string> pack_names();

/// Throws Error(bad_input), which lists the available packs, if there is none of this name.
Pack load_pack(const std::string& name);

}  // namespace convlab::classroom
