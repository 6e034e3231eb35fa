// Assigns pseudonyms to students.

#include "convlab/classroom/aliases.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "convlab/classroom/sha256.h"

namespace convlab::classroom {
namespace {

constexpr std::array<std::string_view, 64> kFirst{
    "amber",  "ample",   "azure",  "blithe", "bold",   "brave",  "bright", "brisk",   "calm",   "candid", "clear",
    "clever", "cosy",    "crisp",  "dapper", "deft",   "eager",  "early",  "earnest", "fair",   "fleet",  "fond",
    "frank",  "fresh",   "gentle", "glad",   "golden", "grand",  "hardy",  "hazel",   "honest", "humble", "jolly",
    "keen",   "kind",    "lively", "loyal",  "lucid",  "mellow", "merry",  "mighty",  "modest", "neat",   "nimble",
    "noble",  "patient", "placid", "plucky", "polite", "proud",  "quick",  "quiet",   "rapid",  "ready",  "rosy",
    "silver", "sleek",   "smart",  "steady", "sunny",  "swift",  "tidy",   "vivid",   "witty"};

constexpr std::array<std::string_view, 64> kSecond{
    "badger",  "beaver", "bison",  "bittern", "bobcat", "bream",  "camel",   "carp",   "cheetah", "cicada", "cobra",
    "condor",  "coyote", "crane",  "cricket", "curlew", "dingo",  "dolphin", "egret",  "falcon",  "ferret", "finch",
    "gazelle", "gecko",  "gibbon", "grouse",  "hare",   "heron",  "hornet",  "ibex",   "ibis",    "jackal", "jaguar",
    "kestrel", "kite",   "koala",  "lapwing", "lemur",  "linnet", "lizard",  "llama",  "lynx",    "magpie", "marmot",
    "marten",  "merlin", "mole",   "moose",   "newt",   "ocelot", "oriole",  "osprey", "otter",   "panda",  "perch",
    "pike",    "plover", "puffin", "quail",   "rabbit", "raven",  "robin",   "salmon", "tapir"};

/// Returns a permutation of the numbers below 64 * 64, chosen by the seed: a Feistel network with SHA-256 as round
/// function. (Luby and Rackoff, 1988: four rounds are pseudorandom; the halves are short here, so more rounds are
/// used.)
uint64_t shuffled(uint64_t number, uint64_t seed) {
  constexpr int kRounds = 8;
  constexpr uint64_t kHalf = kFirst.size();
  uint64_t left = number / kHalf, right = number % kHalf;
  for (int round = 0; round < kRounds; ++round) {
    const std::string digest = sha256(fmt::format("alias {:016x} {} {}", seed, round, right));
    const uint64_t mixed = std::stoull(digest.substr(0, 8), nullptr, 16);
    left = std::exchange(right, (left + mixed) % kHalf);
  }
  return left * kHalf + right;
}

}  // namespace

std::string alias_of(int64_t student, uint64_t seed) {
  constexpr uint64_t kNames = kFirst.size() * kSecond.size();
  const auto number = static_cast<uint64_t>(student);
  const uint64_t place = shuffled(number % kNames, seed);
  const std::string name = fmt::format("{} {}", kFirst[place / kSecond.size()], kSecond[place % kSecond.size()]);
  return number < kNames ? name : fmt::format("{} {}", name, number / kNames + 1);
}

}  // namespace convlab::classroom
