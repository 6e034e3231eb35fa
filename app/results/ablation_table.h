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

/// The gain of one change in one metric: of a switch, added alone and added to all others; of a kernel, against the
/// first.
struct AblationRow {
  std::string name;
  SwitchEffect effect;
  std::string verdict;
  std::optional<Worth> main = {};  ///< if all subsets were measured: average over the other switches
};

/// The interaction of two switches.
struct AblationPair {
  std::string a, b;
  Worth beyond;  ///< gain of one with the other on, divided by its gain with the other off
};

/// One metric of all variants.
struct AblationFigure {
  std::string name;  ///< "ms", or one of kCounts
  Samples samples = Samples::timed;
  std::vector<AblationRow> rows;
  std::vector<AblationPair> pairs;  ///< if all subsets were measured
  std::optional<Product> product;   ///< product of the gains alone, and the gain of all together
};

/// An ablation of one file's switches, or several kernels, each compared with the first.
struct Ablation {
  std::string file;              ///< "" for several kernels
  std::vector<Switch> switches;  ///< empty for several kernels
  std::vector<SwitchSet> sets;   ///< one per variant; empty for several kernels
  std::string together;          ///< several kernels: the one that combines the others' ideas; "" if none
  Step step;                     ///< the problem
  std::vector<Variant> variants;
  VariantsMeasured where;
  std::vector<AblationFigure> figures = {};
};

/// Computes `figures` from the measurements of the variants.
void add_figures(Ablation& ablation);

/// Returns how a switch changes the machine code: "same machine code: the compiler already does it"; "" if unknown.
std::string code_text(const Ablation& ablation, const std::string& name);

void print_ablation(Output& output, const Ablation& ablation);

void write_json(Output& output, const Ablation& ablation);

/// Returns an SVG: for each change, a bar for its gain alone and one for its gain when added to all others, starting at
/// 1, with confidence intervals. It fits narrow screens and supports light and dark mode.
std::string ablation_picture(const Ablation& ablation);

}  // namespace convlab::app
