#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/base/rng.h"
#include "tests/support/idx_bytes.h"

namespace convlab {

/// Writes the test split of a synthetic Fashion-MNIST to a folder: `count` noise images; image i has class i % 10.
inline void write_small_data(const std::filesystem::path& folder, uint32_t count) {
  constexpr uint32_t kSide = 28, kClasses = 10;
  Rng rng(1);
  Bytes pixels(count * kSide * kSide), labels(count);
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(rng.integer(0, 255));
  for (uint32_t i = 0; i < count; ++i) labels[i] = static_cast<uint8_t>(i % kClasses);
  write_file(folder / "t10k-images-idx3-ubyte.gz", gzip(idx({kIdxImages, count, kSide, kSide}, pixels)));
  write_file(folder / "t10k-labels-idx1-ubyte.gz", gzip(idx({kIdxLabels, count}, labels)));
}

}  // namespace convlab
