#include "convlab/classroom/aliases.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

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

}  // namespace

std::string alias_of(int64_t student, uint64_t seed) {
  constexpr uint64_t kNames = kFirst.size() * kSecond.size();
  const auto number = static_cast<uint64_t>(student);
  // An odd factor permutes the numbers below a power of two; the seed chooses factor and beginning.
  const uint64_t mixed = number % kNames * (seed | 1) + (seed >> 32);
  const uint64_t place = (mixed ^ mixed % kNames >> 5) % kNames;
  const std::string name = fmt::format("{} {}", kFirst[place / kSecond.size()], kSecond[place % kSecond.size()]);
  return number < kNames ? name : fmt::format("{} {}", name, number / kNames + 1);
}

}  // namespace convlab::classroom
