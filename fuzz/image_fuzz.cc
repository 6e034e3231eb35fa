// Fuzzes decoding and preparation of PNG and JPEG images.

#include <utility>

#include "convlab/image/decode.h"
#include "convlab/image/prepare_image.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  convlab::refuse_or_take([&] {
    convlab::Tensor picture = convlab::decode_picture({data, size}, "input");
    convlab::demand(picture.shape().size() == 3 && picture.shape()[2] == 3, "a picture has three channels");
    const convlab::Preparation preparation{.resize = convlab::Extent{9, 7}, .crop = convlab::Extent{8}};
    const convlab::Tensor small = convlab::prepared(std::move(picture), preparation, "input");
    convlab::demand(small.shape() == convlab::Shape{8, 8, 3}, "it has the size asked for");
  });
  return 0;
}
