// Counts the memory of pools.

#include "convlab/simt/cuda/memory_pools.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "convlab/simt/cuda/call_errors.h"

namespace convlab::simt::cuda {

struct CUmemPoolHandle_st {
  std::array<int, 4> flags{0, 1, 1, 1};  ///< by cudaMemPoolAttr, up to cudaMemPoolReuseAllowInternalDependencies
  uint64_t threshold = 0, used = 0, most_used = 0;
  size_t limit = 0;  ///< maxSize; 0: none
};

namespace {

struct State {
  std::mutex mutex;
  CUmemPoolHandle_st usual;
  cudaMemPool_t current = &usual;
  std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> pools;  // that the program created
  std::map<void*, std::pair<cudaMemPool_t, size_t>> allocations;
};
State& state() {
  static State& one = *new State;  // never destroyed: static objects may still free memory at exit
  return one;
}

cudaError_t invalid() { return runtime::set_last_error(cudaErrorInvalidValue); }
bool exists(cudaMemPool_t pool) { return pool == &state().usual || state().pools.contains(pool); }

}  // namespace

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) noexcept {
  if (pool == nullptr) return invalid();
  if (device != 0) return runtime::set_last_error(cudaErrorInvalidDevice);
  *pool = &state().usual;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) noexcept {
  if (pool == nullptr) return invalid();
  if (device != 0) return runtime::set_last_error(cudaErrorInvalidDevice);
  std::lock_guard lock(state().mutex);
  *pool = state().current;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) noexcept {
  if (device != 0) return runtime::set_last_error(cudaErrorInvalidDevice);
  std::lock_guard lock(state().mutex);
  if (!exists(pool)) return invalid();
  state().current = pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties, Where where) noexcept {
  if (pool == nullptr || properties == nullptr) return invalid();
  if (properties->allocType != cudaMemAllocationTypePinned || properties->handleTypes != cudaMemHandleTypeNone ||
      properties->location.type != cudaMemLocationTypeDevice || properties->location.id != 0) {
    return failed(cudaErrorNotSupported, "cudaMemPoolCreate", where,
                  "simt has pools of pinned memory of device 0, without handles for other processes");
  }
  auto created = std::make_unique<CUmemPoolHandle_st>();
  created->limit = properties->maxSize;
  std::lock_guard lock(state().mutex);
  *pool = created.get();
  state().pools[*pool] = std::move(created);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.pools.erase(pool) == 0) return invalid();
  if (s.current == pool) s.current = &s.usual;
  std::erase_if(s.allocations, [&](const auto& each) { return each.second.first == pool; });
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) noexcept {
  std::lock_guard lock(state().mutex);
  if (!exists(pool) || value == nullptr) return invalid();
  if (attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies) {
    std::memcpy(&pool->flags[attribute], value, sizeof(int));
    return cudaSuccess;
  }
  uint64_t number = 0;
  std::memcpy(&number, value, sizeof(number));
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->threshold = number;
    return cudaSuccess;
  }
  const bool is_high = attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
  if (!is_high || number != 0) return invalid();  // they can only be reset
  pool->most_used = pool->used;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) noexcept {
  std::lock_guard lock(state().mutex);
  if (!exists(pool) || value == nullptr) return invalid();
  uint64_t number = 0;
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      std::memcpy(value, &pool->flags[attribute], sizeof(int));
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      number = pool->threshold;
      break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      number = pool->used;
      break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      number = pool->most_used;
      break;
    default:
      return invalid();
  }
  std::memcpy(value, &number, sizeof(number));
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) noexcept {
  std::lock_guard lock(state().mutex);
  return exists(pool) ? cudaSuccess : invalid();
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) noexcept {
  std::lock_guard lock(state().mutex);
  if (!exists(pool) || (list == nullptr && count > 0)) return invalid();
  for (size_t i = 0; i < count; ++i) {
    if (list[i].location.type != cudaMemLocationTypeDevice || list[i].location.id != 0) {
      return runtime::set_last_error(cudaErrorInvalidDevice);
    }
    if (list[i].flags != cudaMemAccessFlagsProtReadWrite) return invalid();  // the pool's own device has all access
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) noexcept {
  std::lock_guard lock(state().mutex);
  if (flags == nullptr || location == nullptr || !exists(pool)) return invalid();
  const bool own = location->type == cudaMemLocationTypeDevice && location->id == 0;
  *flags = own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

cudaError_t runtime::allocate_from(cudaMemPool_t pool, void** memory, size_t bytes, cudaStream_t stream,
                                   const char* name, Where where) noexcept {
  State& s = state();
  {
    std::lock_guard lock(s.mutex);
    if (pool == nullptr) pool = s.current;
    if (!exists(pool))
      return failed(cudaErrorInvalidValue, "cudaMallocAsync", where, "there is no pool of this handle");
    if (pool->limit != 0 && pool->used + bytes > pool->limit) {
      return failed(cudaErrorMemoryAllocation, "cudaMallocAsync", where, "the pool is full");
    }
  }
  on_stream(stream);
  if (const cudaError_t error = allocate(memory, bytes, name, where); error != cudaSuccess) return error;
  {
    std::lock_guard lock(s.mutex);
    s.allocations[*memory] = {pool, bytes};
    pool->used += bytes;
    pool->most_used = std::max(pool->most_used, pool->used);
  }
  return is_capturing(stream) ? submit(stream, cudaGraphNodeTypeMemAlloc, nullptr) : cudaSuccess;
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream, Where where) noexcept {
  if (runtime::is_capturing(stream)) return runtime::submit(stream, cudaGraphNodeTypeMemFree, nullptr);
  runtime::on_stream(stream);
  {
    State& s = state();
    std::lock_guard lock(s.mutex);
    if (const auto at = s.allocations.find(memory); at != s.allocations.end()) {
      at->second.first->used -= at->second.second;
      s.allocations.erase(at);
    }
  }
  return cudaFree(memory, where);
}

}  // namespace convlab::simt::cuda
