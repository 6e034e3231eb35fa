// Creates texture and surface objects, and finds them by their handles.

#include "convlab/simt/cuda/texture_objects.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/copy_checks.h"
#include "convlab/simt/ranges.h"

namespace convlab::simt::cuda {
namespace {

using runtime::Image;
using runtime::ImageObject;

// As on devices. The arrays of cudaMalloc and cudaMallocPitch have these alignments there.
constexpr size_t kTextureAlignment = 512, kPitchAlignment = 32;

// Handles are slots of a table, so that kernels find objects without a lock. The upper half counts how often the slot
// was used, so that the handle of a destroyed object is not that of a later one.
constexpr size_t kSlots = size_t{1} << 16;
constexpr int kSlotBits = 32;

struct Objects {
  std::array<std::atomic<ImageObject*>, kSlots> slots{};
  std::mutex mutex;
  std::vector<std::unique_ptr<ImageObject>> all;  // also destroyed ones, which a kernel may still look at
  std::vector<uint32_t> free_slots, uses = {0};
};

Objects& objects() {
  static Objects& one = *new Objects;  // never destroyed: a file's static objects may still destroy textures at exit
  return one;
}

cudaError_t fail(std::string_view call, const Where& where, std::string_view why) {
  return failed(cudaErrorInvalidValue, call, where, why);
}

cudaError_t keep(ImageObject object, unsigned long long* handle, std::string_view call, const Where& where) {
  Objects& o = objects();
  std::lock_guard lock(o.mutex);
  if (o.free_slots.empty()) {
    if (o.uses.size() == kSlots) return failed(cudaErrorMemoryAllocation, call, where, "too many objects");
    o.free_slots.push_back(static_cast<uint32_t>(o.uses.size()));
    o.uses.push_back(0);
  }
  const uint32_t slot = o.free_slots.back();
  o.free_slots.pop_back();
  object.handle = static_cast<unsigned long long>(++o.uses[slot]) << kSlotBits | slot;
  o.all.push_back(std::make_unique<ImageObject>(object));
  o.slots[slot].store(o.all.back().get(), std::memory_order_release);
  *handle = object.handle;
  return cudaSuccess;
}

cudaError_t destroy(unsigned long long handle, bool is_surface, std::string_view call, const Where& where) {
  if (handle == 0) return cudaSuccess;
  const ImageObject* const object = runtime::object_of(handle);
  if (object == nullptr || object->is_surface != is_surface) {
    return fail(call, where,
                is_surface ? "this is not a surface object, or it was destroyed"
                           : "this is not a texture object, or it was destroyed");
  }
  Objects& o = objects();
  std::lock_guard lock(o.mutex);
  const auto slot = static_cast<uint32_t>(handle);
  o.slots[slot].store(nullptr, std::memory_order_release);
  o.free_slots.push_back(slot);
  return cudaSuccess;
}

// Returns why a texture cannot begin at this address, or have these bytes; "" if it can.
std::string memory_error(const void* memory, size_t bytes) {
  const Side side = side_of(memory, bytes);
  if (side == Side::past_end) {
    return fmt::format("it has {} bytes, but the array ends after {}", bytes, bytes_inside(memory));
  }
  if (side != Side::device && side != Side::pinned) return "its memory is not device memory";
  const auto ranges = simt::internal::current_ranges();
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const simt::internal::Range* const range = simt::internal::range_at(*ranges, address);
  const size_t offset = range != nullptr ? address - range->base : 0;
  if (offset % kTextureAlignment == 0) return "";
  return fmt::format("it begins {} bytes into its array, which is not a multiple of {} bytes", offset,
                     kTextureAlignment);
}

// Returns why the resource cannot be a texture or surface; otherwise sets `image` and returns "".
std::string resource_error(const cudaResourceDesc& resource, Image* image) {
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const Image* const found = runtime::image_of(resource.res.array.array);
      if (found == nullptr) return "its array is not an array, or it was freed";
      *image = *found;
      return "";
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (!runtime::is_texel_format(linear.desc)) return "its format needs 1, 2 or 4 channels of 8, 16 or 32 bits";
      const size_t texel = runtime::texel_bytes(linear.desc);
      *image = {.memory = static_cast<char*>(linear.devPtr),
                .format = linear.desc,
                .width = linear.sizeInBytes / texel,
                .pitch = linear.sizeInBytes,
                .slice = linear.sizeInBytes,
                .dimensions = 1};
      return memory_error(linear.devPtr, std::min(linear.sizeInBytes, texel));  // each read is checked, not the end
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      if (!runtime::is_texel_format(pitched.desc)) return "its format needs 1, 2 or 4 channels of 8, 16 or 32 bits";
      const size_t row = pitched.width * runtime::texel_bytes(pitched.desc);
      if (pitched.width == 0 || pitched.height == 0) return "its width or height is 0";
      if (row > pitched.pitchInBytes) return "its rows are longer than their pitch";
      if (pitched.pitchInBytes % kPitchAlignment != 0) {
        return fmt::format("its pitch of {} bytes is not a multiple of {}", pitched.pitchInBytes, kPitchAlignment);
      }
      *image = {.memory = static_cast<char*>(pitched.devPtr),
                .format = pitched.desc,
                .width = pitched.width,
                .height = pitched.height,
                .pitch = pitched.pitchInBytes,
                .slice = pitched.pitchInBytes * pitched.height,
                .dimensions = 2};
      return memory_error(pitched.devPtr, pitched.pitchInBytes * (pitched.height - 1) + row);
    }
    default:
      return "simt does not support mipmapped arrays";
  }
}

// Returns why the texture cannot be read as described; "" if it can.
std::string_view texture_error(const cudaTextureDesc& texture, const Image& image) {
  const bool is_float = image.format.f == cudaChannelFormatKindFloat;
  const bool reads_float = is_float || texture.readMode == cudaReadModeNormalizedFloat;
  if (texture.filterMode == cudaFilterModeLinear && !reads_float) {
    return "linear filtering needs channels that are read as float: cudaReadModeNormalizedFloat";
  }
  if (texture.readMode == cudaReadModeNormalizedFloat && !is_float && image.format.x == 32) {
    return "only channels of 8 and 16 bits can be read as normalized float";
  }
  if (texture.seamlessCubemap != 0 && !image.is_cubemap()) {
    return "seamlessCubemap needs an array that was allocated with the flag cudaArrayCubemap";
  }
  if (texture.sRGB != 0) return "simt does not support sRGB";
  return "";
}

cudaError_t copy_resource(cudaResourceDesc* resource, unsigned long long handle, bool is_surface, std::string_view call,
                          const Where& where) {
  const ImageObject* const object = runtime::object_of(handle);
  if (object == nullptr || object->is_surface != is_surface) return fail(call, where, "there is no such object");
  *resource = object->resource;
  return cudaSuccess;
}

}  // namespace

namespace runtime {

const ImageObject* object_of(unsigned long long handle) noexcept {
  const auto slot = static_cast<uint32_t>(handle);
  if (slot >= kSlots) return nullptr;
  const ImageObject* const object = objects().slots[slot].load(std::memory_order_acquire);
  return object != nullptr && object->handle == handle ? object : nullptr;
}

}  // namespace runtime

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view,
                                    Where where) noexcept {
  constexpr std::string_view kCall = "cudaCreateTextureObject";
  if (Recorder* const records = recorder()) {
    records->refuse("a texture object");
    return cudaErrorInvalidValue;
  }
  if (object == nullptr || resource == nullptr || texture == nullptr) return fail(kCall, where, "a pointer is null");
  if (view != nullptr) return fail(kCall, where, "simt does not support resource views; pass a null pointer");
  ImageObject made{.resource = *resource, .texture = *texture};
  if (const std::string why = resource_error(*resource, &made.image); !why.empty()) return fail(kCall, where, why);
  if (const std::string_view why = texture_error(*texture, made.image); !why.empty()) return fail(kCall, where, why);
  return keep(made, object, kCall, where);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object, Where where) noexcept {
  return destroy(object, false, "cudaDestroyTextureObject", where);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object,
                                             Where where) noexcept {
  return copy_resource(resource, object, false, "cudaGetTextureObjectResourceDesc", where);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object,
                                            Where where) noexcept {
  const ImageObject* const found = runtime::object_of(object);
  if (found == nullptr || found->is_surface) {
    return fail("cudaGetTextureObjectTextureDesc", where, "there is no such object");
  }
  *texture = found->texture;
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource,
                                    Where where) noexcept {
  constexpr std::string_view kCall = "cudaCreateSurfaceObject";
  if (Recorder* const records = recorder()) {
    records->refuse("a surface object");
    return cudaErrorInvalidValue;
  }
  if (object == nullptr || resource == nullptr) return fail(kCall, where, "a pointer is null");
  if (resource->resType != cudaResourceTypeArray) return fail(kCall, where, "a surface needs an array");
  ImageObject made{.is_surface = true, .resource = *resource};
  if (const std::string why = resource_error(*resource, &made.image); !why.empty()) return fail(kCall, where, why);
  if ((made.image.flags & cudaArraySurfaceLoadStore) == 0) {
    return fail(kCall, where, "the array was allocated without the flag cudaArraySurfaceLoadStore");
  }
  return keep(made, object, kCall, where);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object, Where where) noexcept {
  return destroy(object, true, "cudaDestroySurfaceObject", where);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object,
                                             Where where) noexcept {
  return copy_resource(resource, object, true, "cudaGetSurfaceObjectResourceDesc", where);
}

}  // namespace convlab::simt::cuda
