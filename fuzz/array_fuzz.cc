// Fuzzes ArrayFile, which reads .npy and idx files in blocks of images.

#include <vector>

#include "convlab/dataset/array_file.h"
#include "fuzz/file_of.h"
#include "fuzz/fuzz.h"

/// Reads three images at a time.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const convlab::FileOf file(data, size);
  convlab::refuse_or_take([&] {
    convlab::ArrayFile array(file.path());
    constexpr int64_t kImages = 3, kMost = 1 << 20;
    const int64_t elements = convlab::image_element_count(array.shape());
    if (elements > kMost) return;
    std::vector<float> images(static_cast<size_t>(kImages * elements));
    int64_t left = array.shape()[0];
    while (left > 0) left -= array.read(kImages, convlab::ElementType::f32, images.data());
    convlab::demand(left == 0, "there are as many images as the shape says");
    array.expect_end();
  });
  return 0;
}
