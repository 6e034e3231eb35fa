#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::classroom {

/// A submitted file.
struct HandedIn {
  int64_t submission = 0;
  std::string name;  ///< the student's name
  std::string text;
};

struct SimilarPair {
  HandedIn first, second;
  double share = 0;  ///< fraction of the smaller file's token runs that the other file also has
};

/// Returns pairs of files that share at least the fraction `least` of their text, most similar first. Compares runs of
/// 16 tokens, ignoring layout, comments and the names of identifiers. Runs of the starter file `begun_with` do not
/// count. (Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003; kernel
/// files are small enough to keep all runs instead of winnowing.)
std::vector<SimilarPair> similar_pairs(const std::vector<HandedIn>& files, std::string_view begun_with, double least);

}  // namespace convlab::classroom
