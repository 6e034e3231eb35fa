#pragma once

#include <cstdint>
#include <string>

#include "convlab/device/device.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernel_file/source.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Whether a kernel file computes a convolution for every input of one shape, not only for those that were tried.
///
/// The file is compiled with Field in place of float (convlab/simt/field_element.h), so that it computes modulo the
/// prime p = 2^31 - 1. If its arithmetic consists of + - * and fma, and its control flow does not depend on the inputs,
/// then each output is a polynomial of the inputs, as is the convolution's. If the two differ, they agree at a random
/// point with a probability of at most degree / p (the lemma of Schwartz and Zippel); an upper bound of the degree is
/// computed by a run over degrees. Agreement at several points therefore proves, up to a stated probability, that they
/// are the same polynomial: in exact arithmetic the file is right. What rounding does to floats it does not say.
struct FileProof {
  enum class Outcome : uint8_t {
    proved,
    refuted,      ///< the file computes something else
    not_provable  ///< its results are not polynomials of its inputs, or it failed
  };
  Outcome outcome = Outcome::not_provable;
  std::string reason;  ///< of the other two; "" if it is proved
  int points = 0;
  uint32_t degree = 0;          ///< of the file's outputs, at most
  double log2_probability = 0;  ///< that a wrong file agrees at all points for all outputs, at most: its logarithm
};

/// Proves or refutes a file that was compiled over the prime field, on simt.
FileProof prove_file(const FileEntry& entry, const KernelSource& source, const ConvProblem& problem, Device& device);

/// The same for a kernel that a file of convlab's own kind has registered.
FileProof prove_kernel(const Kernel& kernel, const ConvProblem& problem, Device& device);

}  // namespace convlab
