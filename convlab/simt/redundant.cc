// Tells redundant writes from data races.

#include "convlab/simt/redundant.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>

namespace convlab::simt::internal {

bool HeldPart::is_unchanged() const {
  return std::memcmp(before.data(), reinterpret_cast<const void*>(address), bytes) == 0;
}

HeldPart held_part(uintptr_t address, size_t bytes) {
  HeldPart part;
  part.address = address;
  part.bytes = bytes;
  std::memcpy(part.before.data(), reinterpret_cast<const void*>(address), bytes);
  return part;
}

const RedundantWords::Word* RedundantWords::find(uintptr_t address, size_t bytes, uint32_t epoch) const {
  if (epoch != epoch_) return nullptr;
  const auto found = words_.find(key(address, bytes));
  return found == words_.end() ? nullptr : &found->second;
}

const RedundantWords::Word& RedundantWords::add(const HeldPart& part, uint32_t warp, LaneMask lanes, uint32_t epoch) {
  if (epoch != std::exchange(epoch_, epoch)) words_.clear();
  const auto [entry, is_new] = words_.try_emplace(key(part.address, part.bytes));
  Word& word = entry->second;
  const auto add_store = [&](uint32_t of_warp, LaneMask all) {
    const size_t before = word.writers.count();
    for (; all != 0; all &= all - 1) word.writers.set(of_warp * kWarpSize + static_cast<size_t>(std::countr_zero(all)));
    if (word.writers.count() > before) ++word.stores;
  };
  if (is_new) {
    word.once = !part.other.again;
    add_store(part.other.warp, part.other.lanes);
  }
  add_store(warp, lanes);
  return word;
}

bool RedundantWords::may_be_read_by(size_t thread, uintptr_t address, size_t bytes, uint32_t epoch) const {
  const auto may_be_read = [&](uintptr_t at, size_t count) {
    const Word* const word = find(at, count, epoch);
    return word != nullptr && word->once && word->writers[thread];
  };
  if (bytes == 4 && may_be_read(address, 4)) return true;
  for (size_t i = 0; i < bytes; ++i) {
    if (!may_be_read(address + i, 1)) return false;
  }
  return true;
}

void RedundantBlocks::add(uintptr_t address, int64_t block) {
  std::lock_guard lock(mutex_);
  if (words_.size() >= kMostWords && !words_.contains(address)) return;
  Word& word = words_[address];
  if (std::exchange(word.last, block) != block) ++word.blocks;
}

int64_t RedundantBlocks::count(uintptr_t address) const {
  std::lock_guard lock(mutex_);
  const auto found = words_.find(address);
  return found == words_.end() ? 2 : found->second.blocks;
}

void StoreUnderWay::extend(uintptr_t begin, uintptr_t end) {
  const uintptr_t begin_before = begin_.load(std::memory_order_relaxed);
  const uintptr_t end_before = begin_before == 0 ? 0 : end_.load(std::memory_order_relaxed);
  if (begin_before == 0) turn_.store(0, std::memory_order_relaxed);
  end_.store(std::max(end, end_before), std::memory_order_release);
  begin_.store(begin_before == 0 ? begin : std::min(begin, begin_before), std::memory_order_release);
}

void StoresUnderWay::join(const StoreUnderWay& store) {
  std::lock_guard lock(mutex_);
  stores_.push_back(&store);
}

void StoresUnderWay::leave(const StoreUnderWay& store) {
  std::lock_guard lock(mutex_);
  std::erase(stores_, &store);
}

void StoresUnderWay::wait_for(uintptr_t address, StoreUnderWay& own) {
  std::unique_lock lock(mutex_);
  if (own.turn_ == 0) own.turn_ = ++last_turn_;
  const auto is_awaited = [&](const StoreUnderWay* store) {
    return store != &own && store->covers(address) && (!store->waits_ || store->turn_ < own.turn_);
  };
  own.waits_ = true;
  while (std::any_of(stores_.begin(), stores_.end(), is_awaited)) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  own.waits_ = false;
}

}  // namespace convlab::simt::internal
