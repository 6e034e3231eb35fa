#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::classroom {

/// A file that was handed in.
struct HandedIn {
  int64_t submission = 0;
  std::string name;  ///< the student's
  std::string text;
};

struct SimilarPair {
  HandedIn first, second;
  double share = 0;  ///< of the smaller file's runs of tokens: how many the other has, too
};

/// Pairs of files that have at least `least` of their text in common, the most alike first. What is compared are runs
/// of 16 tokens: no layout and no comments, each name of the file's own as the other's. What the file has in which all
/// begin does not count. (Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for document fingerprinting",
/// SIGMOD 2003, whose runs these are; kernel files are small enough to keep all.)
std::vector<SimilarPair> similar_pairs(const std::vector<HandedIn>& files, std::string_view begun_with, double least);

}  // namespace convlab::classroom
