// The table of memory orders, and copies of images from and to each of them.

#include "convlab/tensor/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"

namespace convlab {
namespace {

/// Elements of nhwc with each pixel padded to a multiple of `kMultiple` channels.
template <int64_t kMultiple>
int64_t count_in_rows(const BatchSizes& of, ElementType) {
  return checked_product({of.images, of.pixels, round_up(of.channels, kMultiple)});
}

template <int64_t kMultiple>
int64_t index_in_rows(const BatchSizes& of, ElementType, int64_t image, int64_t channel, int64_t pixel) {
  return (image * of.pixels + pixel) * round_up(of.channels, kMultiple) + channel;
}

/// Returns the image stride in nchw8c, in elements.
int64_t nchw8c_stride(const BatchSizes& of, ElementType type) {
  if (type != ElementType::f16) return checked_mul(round_up(of.channels, kChannelLanes), of.pixels);
  return round_up(checked_mul(round_up(of.channels, 4), of.pixels), 64);
}

constexpr OrderInfo kOrders[] = {
    {.name = "nchw",
     .reshapes_freely = true,
     .element_count =
         [](const BatchSizes& of, ElementType) {
           return checked_product({of.images, of.channels, of.pixels});
         },
     .index = [](const BatchSizes& of, ElementType, int64_t image, int64_t channel,
                 int64_t pixel) { return (image * of.channels + channel) * of.pixels + pixel; }},
    {.name = "nhwc", .element_count = count_in_rows<kChannelLanes>, .index = index_in_rows<kChannelLanes>},
    {.name = "nhwc4", .element_count = count_in_rows<kChannelBytes>, .index = index_in_rows<kChannelBytes>},
    {.name = "nchw8c",
     .element_count = [](const BatchSizes& of,
                         ElementType type) { return checked_mul(of.images, nchw8c_stride(of, type)); },
     .index =
         [](const BatchSizes& of, ElementType type, int64_t image, int64_t channel, int64_t pixel) {
           const int64_t block = channel / kChannelLanes * kChannelLanes;
           const bool narrow = type == ElementType::f16 && of.channels - block <= 4;
           return image * nchw8c_stride(of, type) + block * of.pixels + pixel * (narrow ? 4 : kChannelLanes) + channel -
                  block;
         }},
    {.name = "nchw16n",
     .interleaves_images = true,
     .reshapes_freely = true,
     .element_count =
         [](const BatchSizes& of, ElementType) {
           return checked_product({round_up(of.images, kImageLanes), of.channels, of.pixels});
         },
     .index =
         [](const BatchSizes& of, ElementType, int64_t image, int64_t channel, int64_t pixel) {
           const int64_t element = (image / kImageLanes * of.channels + channel) * of.pixels + pixel;
           return element * kImageLanes + image % kImageLanes;
         }},
    {.name = "nchw16n2c",
     .interleaves_images = true,
     .element_count =
         [](const BatchSizes& of, ElementType) {
           return checked_product({round_up(of.images, kImageLanes), round_up(of.channels, 2), of.pixels});
         },
     .index =
         [](const BatchSizes& of, ElementType, int64_t image, int64_t channel, int64_t pixel) {
           const int64_t pair = (image / kImageLanes * of.pixels + pixel) * ceil_div(of.channels, 2) + channel / 2;
           return (pair * kImageLanes + image % kImageLanes) * 2 + channel % 2;
         }},
};

BatchSizes sizes_of(const Shape& shape) {
  BatchSizes sizes{shape.empty() ? 1 : shape[0], shape.size() < 2 ? 1 : shape[1], 1};
  for (size_t i = 2; i < shape.size(); ++i) sizes.pixels = checked_mul(sizes.pixels, shape[i]);
  return sizes;
}

/// Calls visit(image, index in the nchw array, index in the array) for each element, including lanes beyond n.
template <class Visit>
void for_each_element(const BatchSizes& sizes, Format format, const Visit& visit) {
  const OrderInfo& order = info(format.order);
  const int64_t images = order.interleaves_images ? round_up(sizes.images, kImageLanes) : sizes.images;
  for (int64_t image = 0; image < images; ++image) {
    for (int64_t channel = 0; channel < sizes.channels; ++channel) {
      const int64_t plain = (image * sizes.channels + channel) * sizes.pixels;
      for (int64_t pixel = 0; pixel < sizes.pixels; ++pixel) {
        visit(image, static_cast<size_t>(plain + pixel),
              static_cast<size_t>(order.index(sizes, format.type, image, channel, pixel)));
      }
    }
  }
}

/// Calls run(Bits{}) with the unsigned integer that has the size of the element type.
template <class Run>
void with_bits(ElementType type, const Run& run) {
  switch (size_of(type)) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
  }
  run(uint64_t{});
}

/// Returns the bits of NaN, or 0 for an integer type.
template <class Bits>
Bits nan_bits(ElementType type) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (!is_real(type)) return 0;
  const Tensor one = converted(Tensor::of<float>({1}, std::span(&nan, 1)), type);
  return *static_cast<const Bits*>(one.raw());
}

/// Separates the two parts of bf16x2 elements within each block of an nchw16n2c array, or joins them again.
void move_parts(uint16_t* array, int64_t blocks, int64_t elements, bool separate) {
  std::vector<uint16_t> block(static_cast<size_t>(elements / std::max<int64_t>(1, blocks) * 2));
  const size_t half = block.size() / 2;
  for (int64_t i = 0; i < blocks; ++i, array += block.size()) {
    for (size_t at = 0; at < half; ++at) {
      for (const size_t part : {size_t{0}, size_t{1}}) {
        const size_t joined = 2 * at + part, separated = part * half + at;
        block[separate ? separated : joined] = array[separate ? joined : separated];
      }
    }
    std::ranges::copy(block, array);
  }
}

}  // namespace

const OrderInfo& info(Order order) { return kOrders[static_cast<size_t>(order)]; }

std::string name_of(Format format) {
  const std::string_view order = info(format.order).name;
  return format.type == ElementType::f32 ? std::string(order) : fmt::format("{} {}", order, name_of(format.type));
}

int64_t element_count(const Shape& shape, Format format) {
  const int64_t plain = element_count(shape);
  return format.order == Order::nchw ? plain : info(format.order).element_count(sizes_of(shape), format.type);
}

int64_t byte_count(const Shape& shape, Format format) {
  return checked_mul(element_count(shape, format), static_cast<int64_t>(size_of(format.type)));
}

Tensor pack(const Tensor& images, Format format) {
  Tensor plain = converted(images, format.type);
  if (format.order == Order::nchw) return plain;
  const BatchSizes sizes = sizes_of(images.shape());
  Tensor packed(format.type, {element_count(images.shape(), format)});
  with_bits(format.type, [&]<class Bits>(Bits) {
    const auto* from = static_cast<const Bits*>(std::as_const(plain).raw());
    const std::span to(static_cast<Bits*>(packed.raw()), static_cast<size_t>(packed.count()));
    const Bits nan = nan_bits<Bits>(format.type);
    std::ranges::fill(to, pads_with_zeros(format) ? Bits{0} : nan);
    for_each_element(sizes, format, [&](int64_t image, size_t index, size_t place) {
      to[place] = image < sizes.images ? from[index] : nan;
    });
  });
  if (format.type == ElementType::bf16x2) {
    move_parts(static_cast<uint16_t*>(packed.raw()), ceil_div(sizes.images, kImageLanes), packed.count(), true);
  }
  return packed;
}

std::vector<float> unpack(const void* elements, const Shape& shape, Format format) {
  if (format == kNchw) {
    const auto* values = static_cast<const float*>(elements);
    return {values, values + element_count(shape)};
  }
  const BatchSizes sizes = sizes_of(shape);
  Tensor packed(format.type, {element_count(shape, format)}), plain(format.type, shape);
  if (packed.bytes() > 0) std::memcpy(packed.raw(), elements, packed.bytes());
  if (format.type == ElementType::bf16x2) {
    move_parts(static_cast<uint16_t*>(packed.raw()), ceil_div(sizes.images, kImageLanes), packed.count(), false);
  }
  std::vector<size_t> unwritten;
  with_bits(format.type, [&]<class Bits>(Bits) {
    const std::span from(static_cast<Bits*>(packed.raw()), static_cast<size_t>(packed.count()));
    auto* to = static_cast<Bits*>(plain.raw());
    for_each_element(sizes, format, [&](int64_t image, size_t index, size_t place) {
      if (image < sizes.images) {
        to[index] = from[place];
        if (from[place] == static_cast<Bits>(-1) && is_real(format.type)) unwritten.push_back(index);
      }
      from[place] = 0;
    });
    if (!pads_with_zeros(format)) return;
    const auto wrong = std::ranges::find_if(from, [](Bits bits) { return bits != 0; });
    if (wrong == from.end()) return;
    const Tensor values = converted(packed, ElementType::f32);
    throw wrong_result("padding element {} of an {} array must be 0, got {}", wrong - from.begin(), name_of(format),
                       values.values<float>()[static_cast<size_t>(wrong - from.begin())]);
  });
  const Tensor images = converted(plain, ElementType::f32);
  std::vector<float> result(images.values<float>().begin(), images.values<float>().end());
  for (const size_t index : unwritten) result[index] = std::bit_cast<float>(0xffffffffu);
  return result;
}

}  // namespace convlab
