#pragma once

#include <string>
#include <string_view>

namespace convlab {

/// What g++'s preprocessor has made of a kernel file, with loops unrolled about as nvcc unrolls them: where the file
/// asks for it by `#pragma unroll`, and loops of up to 16 rounds that the compiler can count. Headers of the system
/// stay as they are. What a kernel's instructions are counted by depends on it; g++ alone unrolls no loop that has
/// calls of ours.
std::string unrolled(std::string_view preprocessed);

}  // namespace convlab
