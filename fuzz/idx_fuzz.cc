// Fuzzes parsing of idx images and labels.

#include "convlab/dataset/idx.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(data, size);
  convlab::refuse_or_take([&] {
    const convlab::Tensor images = convlab::parse_idx_images(bytes, "input");
    convlab::demand(images.shape().size() == 4 && images.count() > 0, "images are N x 1 x rows x columns");
    uint8_t any = 0;
    for (uint8_t pixel : images.values<uint8_t>()) any |= pixel;  // every pixel must be readable
    static_cast<void>(any);
  });
  convlab::refuse_or_take([&] {
    const std::vector<uint8_t> labels = convlab::parse_idx_labels(bytes, "input", 10);
    convlab::demand(!labels.empty(), "there are labels");
    for (uint8_t label : labels) convlab::demand(label < 10, "labels are 0 to 9");
  });
  return 0;
}
