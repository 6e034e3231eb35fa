#pragma once

#include <cstdint>
#include <string>

namespace convlab::classroom {

/// Returns a pseudonym of two words, such as "quiet heron". It is fixed for a student of a class, and unique among 4096
/// students; students beyond that also get a number. Without the class's seed, a pseudonym does not reveal the student
/// or other students' pseudonyms.
std::string alias_of(int64_t student, uint64_t seed);

}  // namespace convlab::classroom
