// Finds submissions with similar source text.

#include "convlab/classroom/similarity.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "convlab/kernel_file/tokens.h"

namespace convlab::classroom {
namespace {

constexpr size_t kRun = 16;     // tokens
constexpr size_t kFewest = 20;  // runs; a smaller number is less than a kernel's loops

/// Returns hashes of the text's runs.
std::set<size_t> runs_of(std::string_view text) {
  std::vector<size_t> tokens;
  for (const Token& token : tokens_of(text)) {
    if (token.kind == Token::Kind::directive) continue;
    tokens.push_back(std::hash<std::string_view>{}(token.kind == Token::Kind::name ? "name" : token.text));
  }
  std::set<size_t> runs;
  for (size_t begin = 0; begin + kRun <= tokens.size(); ++begin) {
    size_t run = 0;
    for (size_t i = begin; i < begin + kRun; ++i) run = run * 0x100000001b3 ^ tokens[i];
    runs.insert(run);
  }
  return runs;
}

}  // namespace

std::vector<SimilarPair> similar_pairs(const std::vector<HandedIn>& files, std::string_view begun_with, double least) {
  const std::set<size_t> given = runs_of(begun_with);
  std::vector<std::set<size_t>> runs;
  for (const HandedIn& file : files) {
    runs.push_back(runs_of(file.text));
    std::erase_if(runs.back(), [&](size_t run) { return given.contains(run); });
  }
  std::vector<SimilarPair> pairs;
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const size_t smaller = std::min(runs[i].size(), runs[j].size());
      if (smaller < kFewest) continue;
      std::vector<size_t> common;
      std::ranges::set_intersection(runs[i], runs[j], std::back_inserter(common));
      const double share = static_cast<double>(common.size()) / static_cast<double>(smaller);
      if (share >= least) pairs.push_back({files[j], files[i], share});
    }
  }
  std::ranges::stable_sort(pairs, std::greater{}, &SimilarPair::share);
  return pairs;
}

}  // namespace convlab::classroom
