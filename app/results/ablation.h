#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/variants.h"
#include "app/results/output.h"
#include "convlab/kernel_file/switches.h"
#include "convlab/measure/ablation.h"

namespace convlab::app {

/// What one change is worth in one figure: of a switch alone and left out, of one of several kernels against the first.
struct AblationRow {
  std::string name;
  SwitchEffect effect;
  std::string verdict;
  std::optional<Worth> main = {};  ///< of all subsets: averaged over whatever else is on
};

/// What two switches do to each other.
struct AblationPair {
  std::string a, b;
  Worth beyond;  ///< how many times as much one gains with the other as without
};

/// One figure of all variants.
struct AblationFigure {
  std::string name;  ///< "ms", or one of kCounts
  Samples samples = Samples::timed;
  std::vector<AblationRow> rows;
  std::vector<AblationPair> pairs;  ///< of all subsets
  std::optional<Product> product;   ///< of all gains alone, beside all together
};

/// An ablation of one file's switches; or several kernels, each against the first.
struct Ablation {
  std::string file;              ///< "" of several kernels
  std::vector<Switch> switches;  ///< none of several kernels
  std::vector<SwitchSet> sets;   ///< of each variant; none of several kernels
  std::string together;          ///< of several kernels: the one that has the others' ideas; "" if none is named
  ConvProblem problem;
  std::vector<Variant> variants;
  VariantsMeasured where;
  std::vector<AblationFigure> figures = {};
};

/// Fills in `figures`, from what was measured of the variants.
void add_figures(Ablation& ablation);

/// What a switch changes in the machine code: "same machine code: the compiler already does it"; "" where nobody knows.
std::string code_text(const Ablation& ablation, const std::string& name);

void print_ablation(Output& output, const Ablation& ablation);

void write_json(Output& output, const Ablation& ablation);

/// An SVG: of each change a bar for its gain alone and one for what it costs to leave it out, around 1, with what is
/// known of each. It is made for narrow screens, too, light and dark.
std::string ablation_picture(const Ablation& ablation);

}  // namespace convlab::app
