// Reads textures: addresses, filters, and converts texels.

#include "convlab/simt/cuda/texture_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convlab/simt/cuda/cubemap_faces.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/cuda/image_accesses.h"

namespace convlab::simt::cuda::runtime {
namespace {

constexpr const char* kHeadline = "invalid texture read";
constexpr int64_t kOutside = -1;  // an index that reads the border color

// The one or two texels along one dimension that contribute, and the weight of the second one.
struct Taps {
  int64_t index[2];
  double second;
};

cudaTextureAddressMode mode_along(const cudaTextureDesc& texture, int dimension) {
  const cudaTextureAddressMode mode = texture.addressMode[dimension];
  const bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
  return repeats && texture.normalizedCoords == 0 ? cudaAddressModeClamp : mode;
}

int64_t index_in(int64_t index, int64_t size, cudaTextureAddressMode mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case cudaAddressModeWrap:
      return ((index % size) + size) % size;
    case cudaAddressModeMirror: {
      const int64_t at = ((index % (2 * size)) + 2 * size) % (2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case cudaAddressModeBorder:
      return kOutside;
    default:
      return std::clamp<int64_t>(index, 0, size - 1);
  }
}

// Returns the coordinate in texels, within what an index can hold.
double in_texels(double coordinate, size_t size, bool is_normalized) {
  constexpr double kFar = 1e9;
  const double at = is_normalized ? coordinate * static_cast<double>(size) : coordinate;
  return std::isnan(at) ? 0.0 : std::clamp(at, -kFar, kFar);
}

// Returns the taps of linear filtering, whose indexes may be outside.
Taps linear_taps(double at) {
  // Fixed point with 8 bits of fraction, rounded half up as an H200 does.
  constexpr double kSteps = 256.0;
  const double fixed = std::floor((at - 0.5) * kSteps + 0.5) / kSteps;
  const auto first = static_cast<int64_t>(std::floor(fixed));
  return {{first, first + 1}, fixed - std::floor(fixed)};
}

Taps taps_of(const cudaTextureDesc& texture, int dimension, double coordinate, size_t size) {
  const auto count = static_cast<int64_t>(size);
  const cudaTextureAddressMode mode = mode_along(texture, dimension);
  const double at = in_texels(coordinate, size, texture.normalizedCoords != 0);
  if (texture.filterMode == cudaFilterModePoint) {
    return {{index_in(static_cast<int64_t>(std::floor(at)), count, mode), kOutside}, 0.0};
  }
  const Taps taps = linear_taps(at);
  return {{index_in(taps.index[0], count, mode), index_in(taps.index[1], count, mode)}, taps.second};
}

float half_as_float(uint32_t bits) { return half_to_float(static_cast<uint16_t>(bits)); }

// Returns the channel as a float, if the texture is read as float, or extended to 32 bits.
uint32_t converted(uint32_t bits, const cudaChannelFormatDesc& format, cudaTextureReadMode mode) {
  const bool is_signed = format.f == cudaChannelFormatKindSigned;
  if (format.f == cudaChannelFormatKindFloat)
    return format.x == 16 ? std::bit_cast<uint32_t>(half_as_float(bits)) : bits;
  int32_t value = static_cast<int32_t>(bits);
  if (is_signed && format.x == 8) value = static_cast<int8_t>(bits);
  if (is_signed && format.x == 16) value = static_cast<int16_t>(bits);
  if (mode != cudaReadModeNormalizedFloat) return static_cast<uint32_t>(value);
  // Unsigned channels become 0 to 1, signed ones -1 to 1: the two smallest are both -1.
  const int largest = (1 << (format.x - (is_signed ? 1 : 0))) - 1;
  return std::bit_cast<uint32_t>(std::max(static_cast<float>(value) / static_cast<float>(largest), -1.0f));
}

bool reads_float(const ImageObject& object) {
  return object.image.format.f == cudaChannelFormatKindFloat || object.texture.readMode == cudaReadModeNormalizedFloat;
}

Texel border_of(const ImageObject& object) {
  Texel texel{};
  for (int i = 0; i < channels_of(object.image.format); ++i) {
    const float color = object.texture.borderColor[i];
    texel.bits[i] = reads_float(object) ? std::bit_cast<uint32_t>(color) : static_cast<uint32_t>(std::lrint(color));
  }
  return texel;
}

Texel load(const ImageCall& call, const ImageObject& object, int64_t x, int64_t y, int64_t z) {
  if (x == kOutside || y == kOutside || z == kOutside) return border_of(object);
  const Image& image = object.image;
  const size_t texel = texel_bytes(image.format), channel = static_cast<size_t>(image.format.x) / 8;
  const char* const address =
      image.row(static_cast<size_t>(y), static_cast<size_t>(z)) + static_cast<size_t>(x) * texel;
  check_image_access(call, address, texel, false);
  Texel result{};
  for (int i = 0; i < channels_of(image.format); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, address + static_cast<size_t>(i) * channel, channel);
    result.bits[i] = converted(bits, image.format, object.texture.readMode);
  }
  return result;
}

// The weighted sum of texels.
class Sum {
 public:
  void add(const Texel& texel, double weight) {
    for (int c = 0; c < 4; ++c) channels_[c] += weight * std::bit_cast<float>(texel.bits[c]);
  }
  Texel texel() const {
    Texel result;
    for (int c = 0; c < 4; ++c) result.bits[c] = std::bit_cast<uint32_t>(static_cast<float>(channels_[c]));
    return result;
  }

 private:
  double channels_[4] = {};
};

Texel filtered(const ImageCall& call, const ImageObject& object, const Taps& x, const Taps& y, const Taps& z) {
  if (object.texture.filterMode == cudaFilterModePoint) return load(call, object, x.index[0], y.index[0], z.index[0]);
  Sum sum;
  for (int corner = 0; corner < 8; ++corner) {
    const int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
    const double weight = (i ? x.second : 1 - x.second) * (j ? y.second : 1 - y.second) * (k ? z.second : 1 - z.second);
    if (weight != 0.0) sum.add(load(call, object, x.index[i], y.index[j], z.index[k]), weight);
  }
  return sum.texel();
}

// The type of the result must be what the texture is read as.
void check_type(const ImageCall& call, const ImageObject& object, const TextureRead& read) {
  if (reads_float(object) == read.wants_float) return;
  if (read.wants_float) {
    fail_image_access(
        call, kHeadline,
        fmt::format("{} returns float, but the texture's channels are integers of {} bits and its readMode "
                    "is cudaReadModeElementType",
                    call.name, object.image.format.x));
  }
  fail_image_access(call, kHeadline, fmt::format("{} returns integers, but the texture is read as float", call.name));
}

// Returns the first layer of the image's layer or cubemap.
int64_t layer_of(const Image& image, int layer) {
  const int64_t faces = image.is_cubemap() ? kFaces : 1, count = static_cast<int64_t>(image.layers) / faces;
  return std::clamp<int64_t>(layer, 0, count - 1) * faces;
}

const ImageObject& texture_for(const ImageCall& call, cudaTextureObject_t handle, const TextureRead& read) {
  const ImageObject& object = object_for(call, handle, false, {read.dimensions, read.is_layered, read.is_cubemap});
  if (object.is_linear()) {
    fail_image_access(call, kHeadline,
                      fmt::format("{} accesses linear memory, which only tex1Dfetch can read", call.name));
  }
  check_type(call, object, read);
  return object;
}

// Linear filtering at the edge of a face, with the texels of the faces next to it.
Texel filtered_across_edges(const ImageCall& call, const ImageObject& object, const FacePoint& point, int64_t cube) {
  const auto size = static_cast<int64_t>(object.image.width);
  const Taps x = linear_taps(in_texels(point.s, object.image.width, true));
  const Taps y = linear_taps(in_texels(point.t, object.image.width, true));
  double weights[4], corner = 0.0;
  int missing = -1;  // the tap beyond a corner of the cube, where there is no texel
  FaceTexel texels[4];
  for (int tap = 0; tap < 4; ++tap) {
    const int i = tap & 1, j = tap >> 1;
    FaceTexel texel{point.face, x.index[i], y.index[j]};
    weights[tap] = (i ? x.second : 1 - x.second) * (j ? y.second : 1 - y.second);
    const bool crosses_x = texel.x < 0 || texel.x >= size, crosses_y = texel.y < 0 || texel.y >= size;
    if (crosses_x && crosses_y) {
      missing = tap;
      corner = weights[tap];
    } else if (crosses_x || crosses_y) {
      texel = across_edge(texel, size);
    }
    texels[tap] = texel;
  }
  Sum sum;
  for (int tap = 0; tap < 4; ++tap) {
    const double weight = weights[tap] + corner / 3;
    if (tap == missing || weight == 0.0) continue;
    sum.add(load(call, object, texels[tap].x, texels[tap].y, cube + texels[tap].face), weight);
  }
  return sum.texel();
}

Texel read_cubemap(const ImageCall& call, const ImageObject& object, const TextureRead& read) {
  const FacePoint point = face_point(read.x, read.y, read.z);
  const int64_t cube = layer_of(object.image, read.layer);
  cudaTextureDesc face = object.texture;
  face.normalizedCoords = 1;  // a direction gives a point from 0 to 1, whatever the texture says
  if (face.seamlessCubemap != 0) {
    if (face.filterMode == cudaFilterModeLinear) return filtered_across_edges(call, object, point, cube);
    face.addressMode[0] = face.addressMode[1] = cudaAddressModeClamp;
  }
  return filtered(call, object, taps_of(face, 0, point.s, object.image.width),
                  taps_of(face, 1, point.t, object.image.height), {{cube + point.face, kOutside}, 0.0});
}

}  // namespace

Texel read_texture(cudaTextureObject_t handle, const TextureRead& read, Where where) noexcept {
  const ImageCall call{read.call, where, __builtin_return_address(0)};
  const ImageObject& object = texture_for(call, handle, read);
  if (read.is_cubemap) return read_cubemap(call, object, read);
  const Image& image = object.image;
  const Taps x = taps_of(object.texture, 0, read.x, image.width);
  Taps y{{0, 0}, 0.0}, z{{layer_of(image, read.layer), 0}, 0.0};
  if (read.dimensions > 1) y = taps_of(object.texture, 1, read.y, image.height);
  if (read.dimensions > 2) z = taps_of(object.texture, 2, read.z, image.depth);
  return filtered(call, object, x, y, z);
}

Texel fetch_texture(cudaTextureObject_t handle, int x, const TextureRead& read, Where where) noexcept {
  const ImageCall call{read.call, where, __builtin_return_address(0)};
  const ImageObject& object = object_for(call, handle, false, {.dimensions = 1});
  if (!object.is_linear()) {
    fail_image_access(call, kHeadline, "tex1Dfetch reads linear memory, and this texture is bound to an array");
  }
  check_type(call, object, read);
  if (x < 0 || static_cast<size_t>(x) >= object.image.width) return {{0, 0, 0, 0}};
  return load(call, object, x, 0, 0);
}

Texel gather_texture(cudaTextureObject_t handle, const TextureRead& read, int channel, Where where) noexcept {
  const ImageCall call{read.call, where, __builtin_return_address(0)};
  const ImageObject& object = texture_for(call, handle, read);
  const Image& image = object.image;
  cudaTextureDesc linear = object.texture;
  linear.filterMode = cudaFilterModeLinear;
  const Taps x = taps_of(linear, 0, read.x, image.width), y = taps_of(linear, 1, read.y, image.height);
  const int at = std::clamp(channel, 0, 3);
  return {
      {load(call, object, x.index[0], y.index[1], 0).bits[at], load(call, object, x.index[1], y.index[1], 0).bits[at],
       load(call, object, x.index[1], y.index[0], 0).bits[at], load(call, object, x.index[0], y.index[0], 0).bits[at]}};
}

}  // namespace convlab::simt::cuda::runtime
