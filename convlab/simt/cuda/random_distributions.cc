// Inverts the distribution function of Poisson variables.

#include "convlab/simt/cuda/random_distributions.h"

#include <algorithm>

namespace convlab::simt::cuda::runtime {

unsigned poisson_at(double u, double mean) noexcept {
  // Below 12 standard deviations under the mean, the sum of the probabilities is less than any u.
  const double first = std::floor(std::max(0.0, mean - 12 * std::sqrt(mean)));
  const double last = mean + 12 * std::sqrt(mean);
  double probability = std::exp(first * std::log(mean) - mean - std::lgamma(first + 1)), sum = probability;
  double events = first;
  while (sum < u && events < last) sum += probability *= mean / ++events;
  return static_cast<unsigned>(events);
}

}  // namespace convlab::simt::cuda::runtime
