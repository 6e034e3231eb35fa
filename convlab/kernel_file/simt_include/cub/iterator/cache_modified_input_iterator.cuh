#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/random_access.cuh"

namespace cub {

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

/// Caches do not matter here: a plain load and store.
template <CacheLoadModifier MODIFIER, class T>
T ThreadLoad(T* from) {
  return *from;
}
template <CacheStoreModifier MODIFIER, class T>
void ThreadStore(T* to, T value) {
  *to = value;
}

/// An array that is read with a cache modifier.
template <CacheLoadModifier MODIFIER, class ValueType, class OffsetT = ptrdiff_t>
class CacheModifiedInputIterator
    : public detail::RandomAccess<CacheModifiedInputIterator<MODIFIER, ValueType, OffsetT>, ValueType, OffsetT> {
 public:
  explicit CacheModifiedInputIterator(ValueType* from) : from_(from) {}
  ValueType operator*() const { return *from_; }
  void advance(OffsetT n) { from_ += n; }
  OffsetT distance_from(const CacheModifiedInputIterator& other) const { return from_ - other.from_; }

 private:
  ValueType* from_;
};

}  // namespace cub
