// Computes and prints the effects that an ablation measured.

#include "app/results/ablation_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "convlab/measure/contention.h"

namespace convlab::app {
namespace {

/// Returns the variant's values of the metric; nullopt if it was not measured.
std::optional<std::vector<double>> numbers_of_variant(const Variant& variant, const AblationFigure& figure) {
  if (!variant.measured()) return std::nullopt;
  if (figure.samples == Samples::timed) return variant.ms;
  const auto found = std::ranges::find(variant.counts, figure.name, &std::pair<std::string, int64_t>::first);
  if (found == variant.counts.end()) return std::nullopt;
  return std::vector<double>{static_cast<double>(found->second)};
}

/// Makes the gain undecided if there is a reason, `why`: times from a busy machine are not valid.
void doubt(std::optional<Worth>& gain, const std::string& why) {
  if (!gain || why.empty()) return;
  gain->change = Decision::undecided;
  gain->doubt = why;
}

/// Returns the verdict on counts, which do not say what is faster. It has no numbers, because they are in the same row.
std::string counted_verdict(Effect effect) {
  switch (effect) {
    case Effect::adds:
    case Effect::adds_less:
    case Effect::adds_more:
      return "fewer, alone and with the others";
    case Effect::cancels:
      return "fewer alone, the same with the others";
    case Effect::needs_others:
      return "fewer with the others, not alone";
    case Effect::hurts:
      return "more with the others";
    case Effect::hurts_alone:
      return "more alone, the same with the others";
    case Effect::nothing:
      return "the same";
    case Effect::undecided:
    case Effect::unknown:
      break;
  }
  return "unknown: a variant could not be counted";
}

/// Returns the verdict on one of several kernels, against the first.
std::string verdict_of_kernel(const std::optional<Worth>& worth, Samples samples) {
  if (!worth) return "unknown: this kernel or the first could not be measured";
  const bool counted = samples == Samples::counted;
  switch (worth->change) {
    case Decision::faster:
      return counted ? "fewer" : "faster";
    case Decision::slower:
      return counted ? "more" : "slower";
    case Decision::same:
      return "the same";
    case Decision::undecided:
      break;
  }
  return "undecided" + (worth->doubt.empty() ? "" : ": " + worth->doubt);
}

class Figuring {
 public:
  Figuring(const Ablation& ablation, AblationFigure& figure) : ablation_(ablation), figure_(figure) {
    const auto& waited = ablation.where.waited_share;
    if (figure.samples == Samples::timed && waited && *waited > kBusy) doubt_ = busy_text(*waited);
  }

  void of_switches() {
    const int count = static_cast<int>(ablation_.switches.size());
    for (size_t i = 0; i < ablation_.sets.size(); ++i) {
      if (auto values = numbers_of_variant(ablation_.variants[i], figure_))
        series_[ablation_.sets[i]] = *std::move(values);
    }
    for (int i = 0; i < count; ++i) {
      SwitchEffect effect = effect_of_switch(series_, count, i, figure_.samples);
      doubt(effect.alone, doubt_);
      doubt(effect.left_out, doubt_);
      effect = effect_of(effect.alone, effect.left_out);
      figure_.rows.push_back({name(i), effect, ""});
      if (!every_subset()) continue;
      figure_.rows.back().main = main_effect(series_, count, i, figure_.samples);
      for (int j = 0; j < i; ++j) {
        if (const auto beyond = interaction(series_, count, j, i, figure_.samples)) {
          figure_.pairs.push_back({name(j), name(i), *beyond});
        }
      }
    }
    for (AblationRow& row : figure_.rows) {
      row.verdict = figure_.samples == Samples::counted ? counted_verdict(row.effect.effect)
                                                        : verdict_text(row.effect, partner_of(row.name));
    }
    multiply(count);
  }

  void of_kernels() {
    const std::vector<Variant>& variants = ablation_.variants;
    const auto first = numbers_of_variant(variants.front(), figure_);
    std::vector<std::vector<double>> each;
    std::optional<std::vector<double>> together;
    for (size_t i = 1; i < variants.size(); ++i) {
      const auto own = numbers_of_variant(variants[i], figure_);
      std::optional<Worth> gain;
      if (first && own) gain = worth_of(*first, *own, figure_.samples);
      doubt(gain, doubt_);
      figure_.rows.push_back(
          {variants[i].label, effect_of(gain, std::nullopt), verdict_of_kernel(gain, figure_.samples)});
      if (variants[i].label == ablation_.together) {
        together = own;
      } else if (own) {
        each.push_back(*own);
      }
    }
    if (first && together && each.size() + 2 == variants.size()) {
      figure_.product = product_of(*first, each, *together, figure_.samples);
    }
  }

 private:
  std::string name(int i) const { return ablation_.switches[static_cast<size_t>(i)].name; }
  bool every_subset() const { return ablation_.sets.size() == size_t{1} << ablation_.switches.size(); }

  /// Returns the switch that cancels it: of two switches the other, otherwise the one with which it gains least.
  std::string partner_of(const std::string& name) const {
    if (figure_.rows.size() == 2) return figure_.rows[figure_.rows.front().name == name ? 1 : 0].name;
    const AblationPair* least = nullptr;
    for (const AblationPair& pair : figure_.pairs) {
      if ((pair.a == name || pair.b == name) && (least == nullptr || pair.beyond.times < least->beyond.times))
        least = &pair;
    }
    if (least == nullptr || least->beyond.change != Decision::slower) return "";
    return least->a == name ? least->b : least->a;
  }

  void multiply(int count) {
    std::vector<std::vector<double>> each;
    for (int i = 0; i < count; ++i) {
      if (const auto found = series_.find(SwitchSet{1} << i); found != series_.end()) each.push_back(found->second);
    }
    const auto none = series_.find(0), all = series_.find(all_of(count));
    if (count < 2 || std::ssize(each) < count || none == series_.end() || all == series_.end()) return;
    figure_.product = product_of(none->second, each, all->second, figure_.samples);
  }

  const Ablation& ablation_;
  AblationFigure& figure_;
  SeriesOfSets series_;
  std::string doubt_;
};

/// Whether the variants differ in the metric.
bool differs(const Ablation& ablation, const AblationFigure& figure) {
  std::optional<std::vector<double>> first;
  for (const Variant& each : ablation.variants) {
    const auto own = numbers_of_variant(each, figure);
    if (own && first && *own != *first) return true;
    if (!first) first = own;
  }
  return false;
}

/// Formats a ratio of counts or times; if a count was 0 before or is 0 after the change, there is no ratio.
std::string times_text(double times) {
  return std::isinf(times) ? "to 0" : times == 0 ? "from 0" : fmt::format("{:.2f}", times);
}

std::string gain_text(const std::optional<Worth>& gain, Samples samples) {
  if (!gain) return "-";
  if (samples == Samples::counted || !std::isfinite(gain->interval.high)) return times_text(gain->times);
  return fmt::format("{:.2f} ({:.2f}..{:.2f})", gain->times, gain->interval.low, gain->interval.high);
}

size_t width_of_labels(const Ablation& ablation) {
  size_t width = 8;
  for (const Variant& each : ablation.variants) width = std::max(width, each.label.size());
  for (const Switch& each : ablation.switches) width = std::max(width, each.name.size());
  return width;
}

void print_variants(Output& output, const Ablation& ablation, size_t width) {
  const bool counted = ablation.where.device == "simt";
  output.print("\n{:<{}}", "variant", width);
  if (counted) {
    for (const char* name : kCounts) output.print("  {:>20}", name);
    output.print("\n");
  } else {
    output.print("  {:>10}  {:>6}  {:>22}\n", "hot (ms)", "+-",
                 "speedup over " + (ablation.switches.empty() ? "first" : ablation.variants.front().label));
  }
  const Variant& first = ablation.variants.front();
  for (const Variant& each : ablation.variants) {
    output.print("{:<{}}", each.label, width);
    if (!each.measured()) {
      output.print("  {}: {}\n", name_of(each.outcome), each.reason);
    } else if (counted) {
      for (const auto& [name, value] : each.counts) output.print("  {:>20}", value);
      output.print("\n");
    } else {
      const Summary summary = summarize(each.ms);
      std::optional<Worth> gain;
      if (first.measured()) gain = worth_of(first.ms, each.ms, Samples::timed);
      const double spread = summary.spread();
      output.print("  {:>10.4f}  {:>6}  {:>22}\n", summary.median,
                   std::isfinite(spread) ? fmt::format("{:.1f}%", 100 * spread) : "-",
                   &each == &first ? "1.00" : gain_text(gain, Samples::timed));
    }
  }
}

void print_rows(Output& output, const Ablation& ablation, const AblationFigure& figure, size_t width) {
  const bool counted = figure.samples == Samples::counted;
  const bool kernels = ablation.switches.empty();
  const int column = counted ? 8 : 19;
  output.print("\n{}\n", counted ? fmt::format("{}: reduction factor", figure.name)
                                 : std::string("speedup (99 % confidence interval)"));
  output.print("{:<{}}  {:>{}}", kernels ? "kernel" : "switch", width, kernels ? "against first" : "alone", column);
  if (!kernels) output.print("  {:>{}}", "left out", column);
  const bool main = std::ranges::any_of(figure.rows, [](const AblationRow& row) { return row.main.has_value(); });
  if (main) output.print("  {:>{}}", "on average", std::max(column, 10));
  output.print("  verdict\n");
  for (const AblationRow& row : figure.rows) {
    output.print("{:<{}}  {:>{}}", row.name, width, gain_text(row.effect.alone, figure.samples),
                 kernels ? std::max(column, 13) : column);
    if (!kernels) output.print("  {:>{}}", gain_text(row.effect.left_out, figure.samples), column);
    if (main) output.print("  {:>{}}", gain_text(row.main, figure.samples), std::max(column, 10));
    output.print("  {}\n", row.verdict);
  }
  for (const AblationPair& pair : figure.pairs) {
    if (pair.beyond.change != Decision::faster && pair.beyond.change != Decision::slower) continue;
    output.print("{} with {}: together {} times the product of their gains\n", pair.a, pair.b,
                 gain_text(pair.beyond, figure.samples));
  }
  if (!figure.product || !std::isfinite(figure.product->multiplied.times)) return;
  output.print("product of the gains alone: {}; measured with {}: {}\n", times_text(figure.product->multiplied.times),
               kernels ? ablation.together : "all together", times_text(figure.product->together.times));
}

/// Returns the variant with this set of switches, or null.
const Variant* variant_of(const Ablation& ablation, SwitchSet set) {
  const auto found = std::ranges::find(ablation.sets, set);
  return found == ablation.sets.end() ? nullptr
                                      : &ablation.variants[static_cast<size_t>(found - ablation.sets.begin())];
}

void print_code(Output& output, const Ablation& ablation, size_t width) {
  const auto with_code =
      std::ranges::find_if(ablation.variants, [](const Variant& each) { return each.code.has_value(); });
  if (with_code == ablation.variants.end()) return;
  output.print("\nmachine code from {}: number of instructions, not executions\n{:<{}}", ablation.where.code_of,
               "variant", width);
  for (const auto& [name, count] : with_code->code->counts) output.print("  {:>{}}", name, name.size());
  output.print("\n");
  for (const Variant& each : ablation.variants) {
    if (!each.code) continue;
    output.print("{:<{}}", each.label, width);
    for (const auto& [name, count] : each.code->counts) output.print("  {:>{}}", count, name.size());
    output.print("\n");
  }
  for (const Switch& each : ablation.switches) {
    const std::string said = code_text(ablation, each.name);
    if (!said.empty()) output.print("{:<{}}  {}\n", each.name, width, said);
  }
}

}  // namespace

std::string code_text(const Ablation& ablation, const std::string& name) {
  const auto at = std::ranges::find(ablation.switches, name, &Switch::name) - ablation.switches.begin();
  const SwitchSet one = SwitchSet{1} << at, all = all_of(static_cast<int>(ablation.switches.size()));
  const auto same = [&](SwitchSet without, SwitchSet with) -> std::optional<bool> {
    const Variant *a = variant_of(ablation, without), *b = variant_of(ablation, with);
    if (a == nullptr || b == nullptr || !a->code || !b->code) return std::nullopt;
    return a->code->fingerprint == b->code->fingerprint;
  };
  const std::optional<bool> alone = same(0, one), end = same(all & ~one, all);
  if (!alone || !end) return "";
  if (*alone && *end) return "same machine code: the compiler already does it";
  if (*alone) return "same machine code alone, different with the others";
  if (*end) return "different machine code alone, the same with the others";
  return "different machine code";
}

void add_figures(Ablation& ablation) {
  std::vector<AblationFigure> figures;
  if (ablation.where.device == "simt") {
    for (const char* name : kCounts) figures.push_back({.name = name, .samples = Samples::counted});
    std::erase_if(figures, [&](const AblationFigure& each) { return !differs(ablation, each); });
  } else {
    figures.push_back({.name = "ms"});
  }
  for (AblationFigure& figure : figures) {
    Figuring figuring(ablation, figure);
    ablation.switches.empty() ? figuring.of_kernels() : figuring.of_switches();
  }
  ablation.figures = std::move(figures);
}

void print_ablation(Output& output, const Ablation& ablation) {
  const size_t width = width_of_labels(ablation);
  for (const Switch& each : ablation.switches) {
    output.print("  {:<{}}  {}\n", each.name, width, each.what.empty() ? fmt::format("line {}", each.line) : each.what);
  }
  print_variants(output, ablation, width);
  for (const AblationFigure& figure : ablation.figures) print_rows(output, ablation, figure, width);
  print_code(output, ablation, width);
}

}  // namespace convlab::app
