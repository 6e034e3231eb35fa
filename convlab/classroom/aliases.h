#pragma once

#include <cstdint>
#include <string>

namespace convlab::classroom {

/// A made-up name of two words, "quiet heron": the same for a student of a class as long as it lasts, and different for
/// each of 4096; later ones have a number, too. Without the class's seed nobody tells whose it is, or what others are
/// called who knows some of them.
std::string alias_of(int64_t student, uint64_t seed);

}  // namespace convlab::classroom
