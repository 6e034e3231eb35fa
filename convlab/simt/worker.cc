// Checks the memory accesses of CUDA threads.

#include "convlab/simt/worker.h"

#include <bit>
#include <optional>
#include <utility>

#include "convlab/simt/initialized_bytes.h"
#include "convlab/simt/settings.h"

namespace convlab::simt::internal {

constinit thread_local Worker* active_worker = nullptr;

namespace {

// An access outside all ranges and guards, but this close to the static shared arrays, counts as out of their bounds.
constexpr size_t kStaticNear = 64 * 1024;

}  // namespace

Worker::Worker(void* dynamic_memory) {
  dynamic_shared.base = reinterpret_cast<uintptr_t>(dynamic_memory);
  dynamic_shared.span = kMaxSharedBytes + kDynamicGuard;
  dynamic_shared.make_shadow(kMaxSharedBytes);
}

void Worker::begin_launch(Grid& of_launch) {
  grid = &of_launch;
  linear = 0;  // the previous launch's index could make a timer tick end a thread of this one
  static_shared.base = grid->module->thread_local_base();
  static_shared.span = static_shared.bytes = grid->module->thread_local_bytes();
  static_shared.used = grid->shared_arrays->words.data();
  accessor.clocks = &clocks;
  if (!static_shared.shadow || static_shared.shadow->bytes() < static_shared.span) {
    static_shared.make_shadow(static_shared.span);
  }
  dynamic_shared.bytes = grid->shared_bytes;
  forget_sites();  // allocations may have changed since the last launch
  site_numbers_ = {};
  if (grid->counted) {
    counting_ = std::make_unique<Counting>(MemoryMap{static_shared.base, dynamic_shared.base, static_shared.span,
                                                     dynamic_shared.span, grid->ranges.get(), grid->module});
    flow = &counting_->flow();
  }
  progress.begin_launch();
  grid->stores.join(store_under_way_);
}

void Worker::end_launch() {
  grid->stores.leave(store_under_way_);
  if (counting_) {
    std::lock_guard lock(grid->mutex);
    grid->counts.add(counting_->counts());
    counting_.reset();
  }
  trace = nullptr;
  grid = nullptr;
}

void Worker::begin_block(int64_t of_grid) {
  if (epoch_ > UINT32_MAX - (1u << 30)) {  // leaves 2^30 epochs for the barriers of the next block
    epoch_ = 0;
    static_shared.shadow->clear();
    dynamic_shared.shadow->clear();
    block_shadow.clear();
  }
  linear = of_grid;
  is_dead = false;
  faults.clear();
  accessor.block_epoch = ++epoch_;
  global_accessor = grid->races.accessor_of(linear);
  block_shadow.begin_block();
  clocks.restart();
  awaited_copies.clear();
  tiles.begin_block();
  candidates_.clear();
  if (counting_) counting_->begin_block(grid->block_threads);
}

void Worker::pass_barrier() {
  clocks.restart();
  ++epoch_;
}

// Suspends the lane until its trace is counted.
void Worker::pause() {
  const HostScope host;
  current().state = ThreadState::paused;
  suspend();
}

void Worker::yield() {
  const HostScope host;
  current().state = ThreadState::yielded;
  suspend();
}

void Worker::wait_for_change(uintptr_t address, bool again, Where where) {
  wait_for_thread(is_shared(address), again, where);
}

void Worker::wait_for_thread(bool of_block, bool again, Where where) {
  fail_if_stuck(nullptr, where);
  current().waits = of_block;
  if (!again) has_moved = true;
  current().where = where;
  yield();
  current().waits = false;
}

void Worker::check_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where,
                          const AtomicOrder& order) {
  if (bytes == 0) return;
  if (order.scope == AtomicScope::thread) kind = outside_of_scope(kind);
  fail_if_stuck(code, where);
  if (grid->checks.is_empty()) return;
  accessor.at(code, kind == AccessKind::read ? address : 0);
  if (const size_t offset = address - static_shared.base; offset < static_shared.span) {
    check_shared(static_shared, RawFault::Space::static_shared, offset, bytes, kind, {code, where});
  } else if (const size_t offset = address - dynamic_shared.base; offset < dynamic_shared.span) {
    check_shared(dynamic_shared, RawFault::Space::dynamic_shared, offset, bytes, kind, {code, where});
  } else if (const size_t offset = address - stack_base; offset < kStackBytes && bytes <= kStackBytes - offset) {
    return;
  } else {
    check_global(address, bytes, kind, {code, where}, order);
  }
  if (!is_plain(kind)) synchronize_in_block(address, kind, order);
}

// A volatile write after a fence is a flag that others may wait for. Without a fence it orders nothing and is a plain
// write, as in code that assumes that a warp's lanes run in lockstep.
AccessKind Worker::kind_in_block(AccessKind kind) const {
  if (kind != AccessKind::volatile_write) return kind;
  return current().fenced ? AccessKind::atomic_write : AccessKind::write;
}

// Called after the access.
void Worker::synchronize_in_block(uintptr_t address, AccessKind kind, const AtomicOrder& order) {
  CudaThread& self = current();
  const int thread = number_of(self);
  // An operation that does both acquires first: then its release includes what it acquired.
  const uintptr_t object = order.same_address ? address : ThreadClocks::kAnyAddress;
  if (kind == AccessKind::volatile_write || order.acquire == AtomicOrder::Acquire::never) {
    // It reads nothing.
  } else if (order.acquire == AtomicOrder::Acquire::now) {
    clocks.acquire(thread, object);
  } else {
    clocks.acquire_at_fence(thread, object);
  }
  if (is_write(kind) && (self.fenced || order.releases)) {
    release(address);
    self.fenced = false;
  }
}

void Worker::release(uintptr_t object) {
  const int thread = current_number();
  WarpClock& clock = warps[accessor.now.warp].clock;
  clocks.release(thread, clock, object);
  accessor.now.stamp = clock.next_stamp(thread % kWarpSize);
}

// Checks word by word. A store that is a race unless it leaves the word unchanged becomes a part; the result is the
// first definite fault.
ShadowResult Worker::touch_in_block(Shadow& shadow, size_t offset, size_t bytes, uintptr_t address, AccessKind kind,
                                    std::vector<HeldPart>& parts) {
  const auto thread = static_cast<size_t>(current_number());
  ShadowResult first;
  for (size_t done = 0; done < bytes;) {
    const size_t at = offset + done, rest = std::min(bytes - done, 4 - at % 4);
    const size_t count = kind == AccessKind::write && rest < 4 ? 1 : rest;  // parts of words are kept by byte
    const ShadowResult found = touch(shadow, at, count, kind, accessor);
    const bool harmless = found.if_equal == ShadowResult::IfEqual::harmless ||
                          (found.if_equal == ShadowResult::IfEqual::if_others_did &&
                           redundant_words_.find(address + done, count, epoch_) != nullptr);
    if (found.kind == ShadowResult::race && kind == AccessKind::write && harmless) {
      HeldPart part = held_part(address + done, count);
      part.shadow = &shadow;
      part.offset = at;
      part.other = found.other;
      parts.push_back(part);
    } else if (found.kind == ShadowResult::race && kind == AccessKind::read && found.other.many_warps &&
               redundant_words_.may_be_read_by(thread, address + done, count, epoch_)) {
      // Not a race: the thread can only see the one value that is stored there.
    } else if (first.kind == ShadowResult::ok) {
      first = found;
    }
    done += count;
  }
  return first;
}

void Worker::name_other_side(RawFault& fault, const AccessRecord& other, bool other_wrote) const {
  const AccessRecord& now = accessor.now;
  // wmma acts for all lanes: then report any lane of the other side.
  const LaneMask own = other.warp == now.warp && std::has_single_bit(now.lanes) ? now.lanes : 0;
  const LaneMask others = other.lanes & ~own;
  fault.other_thread = static_cast<int>(other.warp) * kWarpSize + std::countr_zero(others ? others : other.lanes);
  fault.other_code = grid->module->code_ending_in(other.code, AccessRecord::kCodeBits);
  fault.other_wrote = other_wrote;
}

void Worker::report_race_in_block(RawFault fault, const ShadowResult& result, AccessKind kind) {
  const AccessRecord& other = result.other;
  settle_candidates(kNobody, fault.address);
  name_other_side(fault, other, result.other_was_write);
  fault.before_barriers = epoch_ == accessor.block_epoch;
  const bool may_be_guess = result.other_was_write ? kind == AccessKind::read && other.atomic : is_atomic(kind);
  if (!may_be_guess) return report(fault);
  add_candidate(result.other_was_write ? fault.thread : fault.other_thread, std::move(fault));
}

void Worker::add_candidate(int guesser, RawFault fault) {
  constexpr size_t kMostCandidates = 1 << 12;
  if (candidates_.size() == kMostCandidates) return report(fault);
  const uintptr_t address = fault.address;
  candidates_.push_back({address, guesser, std::move(fault)});
}

void Worker::settle_candidates(int guesser, uintptr_t address) {
  if (candidates_.empty()) return;
  std::erase_if(candidates_, [&](const CandidateInBlock& candidate) {
    return candidate.guesser == guesser && candidate.address == address;
  });
}

void Worker::report_candidates() {
  for (CandidateInBlock& candidate : std::exchange(candidates_, {})) report(candidate.fault);
}

// Returns a race of the running thread's access. Callers set the kind if it is another fault.
RawFault Worker::fault_at(RawFault::Space space, uintptr_t address, size_t bytes, AccessKind kind,
                          const Site& site) const {
  RawFault fault;
  fault.kind = space == RawFault::Space::global ? FaultKind::race_global : FaultKind::race_shared;
  fault.thread = current_number();
  fault.space = space;
  fault.address = address;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = is_write(kind);
  fault.code = site.code;
  fault.location = site.where;
  return fault;
}

void Worker::check_shared(SharedRegion& region, RawFault::Space space, size_t offset, size_t bytes, AccessKind kind,
                          const Site& site) {
  RawFault fault = fault_at(space, offset, bytes, kind, site);
  bool inside = offset < region.bytes && bytes <= region.bytes - offset;
  for (size_t word = offset / 4; inside && region.used && word <= (offset + bytes - 1) / 4; ++word) {
    inside = region.used[word] != 0 && region.used[word] == region.used[offset / 4];
  }
  if (!inside) {
    if (!grid->checks.has(Check::bounds)) return;
    fault.kind = FaultKind::out_of_bounds_shared;
    fail(std::move(fault));
  }
  kind = kind_in_block(kind);
  if (is_atomic(kind)) settle_candidates(fault.thread, offset);
  std::vector<HeldPart> parts;
  const ShadowResult result = touch_in_block(*region.shadow, offset, bytes, region.base + offset, kind, parts);
  if (result.kind == ShadowResult::uninitialized) {
    fault.kind = FaultKind::uninitialized_shared;
    add_candidate(kNobody, std::move(fault));
  } else if (result.kind == ShadowResult::race) {
    report_race_in_block(std::move(fault), result, kind);
  } else if (result.kind == ShadowResult::in_flight) {
    fault.other_thread = static_cast<int>(result.other.warp) * kWarpSize + std::countr_zero(result.other.lanes);
    fault.unawaited_copy = true;
    report(fault);
  } else {
    hold_in_block(std::move(fault), std::move(parts));
  }
}

void Worker::check_global(uintptr_t address, size_t bytes, AccessKind kind, const Site& site,
                          const AtomicOrder& order) {
  const bool writes = is_write(kind);
  RawFault fault = fault_at(RawFault::Space::global, address, bytes, kind, site);
  SiteEntry found = accessible_memory(*grid, address, bytes, writes, fault.kind);
  if (!grid->checks.has_races()) found.cells = nullptr;
  if (found.bytes == 0) {
    if (!grid->checks.has(Check::bounds)) return;
    const uintptr_t from = static_shared.base - kStaticNear;
    if (fault.kind == FaultKind::out_of_bounds_global && address - from < static_shared.span + 2 * kStaticNear &&
        !grid->shared_arrays->symbols.empty() && !is_in_device_block(address) && !released_at(address)) {
      fault.kind = FaultKind::out_of_bounds_shared;
      fault.space = RawFault::Space::static_shared;
      fault.address = address - static_shared.base;
    }
    fail(std::move(fault));
  }
  if (site.code) (writes ? write_sites : read_sites)[(reinterpret_cast<uintptr_t>(site.code) >> 1) % kSites] = found;
  if (found.cells) {
    // First check the block itself: a race inside a block usually occurs in all blocks and is then the closer cause.
    check_order_in_block(address, bytes, kind, site);
    // Between blocks, an operation of the block's scope is not atomic.
    check_order(found, address, bytes, order.scope == AtomicScope::device ? kind : outside_of_scope(kind), site);
  }
  if (!is_plain(kind) && order.scope == AtomicScope::device) {
    grid->races.synchronize(global_accessor, order);
  }
  // Setting a constant from the host registers a range for it.
  if (!writes && grid->module->is_unset_constant(address) && range_at(*grid->ranges, address) == nullptr) {
    fault.kind = FaultKind::uninitialized_global;
    return add_candidate(kNobody, std::move(fault));
  }
  if (!found.initialized) return;
  bool known = true;
  for_each_word(address - found.base, bytes, [&](size_t word, unsigned bits) {
    uint8_t* const entry = found.initialized + word;
    if (!writes || kind == AccessKind::atomic_update) known = known && is_initialised(entry, bits);
    if (writes) set_initialised(entry, bits);
  });
  if (known) return;
  fault.kind = FaultKind::uninitialized_global;
  add_candidate(kNobody, std::move(fault));
}

void Worker::check_order(const SiteEntry& entry, uintptr_t address, size_t bytes, AccessKind kind, const Site& site) {
  const int thread = current_number();
  const uintptr_t end = address + bytes;
  uint64_t number = site.code ? site_numbers_[site.code] : 0;
  if (number == 0) {
    number = grid->races.number_of(site);
    if (site.code) site_numbers_[site.code] = number;
  }
  if (kind == AccessKind::write) {
    store_under_way_.extend(address, end);
    attention = true;
  }
  std::optional<OtherAccess> other, unless_equal;
  std::vector<HeldPart> parts;
  for (uintptr_t at = address; at < end;) {
    const uintptr_t word = at & ~uintptr_t{3}, stop = std::min(end, word + 4);
    const unsigned mask = ((1u << (stop - at)) - 1) << (at - word);
    const auto found = grid->races.touch(entry.cell(at), at, mask, kind, thread, number, global_accessor);
    if (found && found->unless_equal) {
      grid->stores.wait_for(at, store_under_way_);
      HeldPart part = held_part(at, stop - at);
      part.cell = &entry.cell(at);
      part.mask = mask;
      parts.push_back(part);
      if (!unless_equal) unless_equal = found;
    } else if (!other) {
      other = found;
    }
    at = stop;
  }
  if (kind == AccessKind::write) progress.note();
  if (!other && !unless_equal) return;
  RawFault fault = fault_at(RawFault::Space::global, address, bytes, kind, site);
  fault.other_block = other ? other : unless_equal;
  other ? report(fault) : hold({.fault = std::move(fault), .parts = std::move(parts)});
}

void Worker::check_order_in_block(uintptr_t address, size_t bytes, AccessKind kind, const Site& site) {
  kind = kind_in_block(kind);
  if (is_atomic(kind)) settle_candidates(current_number(), address);
  ShadowResult result;
  std::vector<HeldPart> parts;
  for (uintptr_t at = address; at < address + bytes;) {
    const size_t offset = at % PagedShadow::kPageBytes;
    const size_t count = std::min(address + bytes - at, PagedShadow::kPageBytes - offset);
    const ShadowResult found = touch_in_block(block_shadow.page(at), offset, count, at, kind, parts);
    if (result.kind == ShadowResult::ok) result = found;
    at += count;
  }
  if (result.kind == ShadowResult::race) {
    report_race_in_block(fault_at(RawFault::Space::global, address, bytes, kind, site), result, kind);
  } else if (!parts.empty()) {
    hold_in_block(fault_at(RawFault::Space::global, address, bytes, kind, site), std::move(parts));
  }
}

void Worker::hold_in_block(RawFault fault, std::vector<HeldPart> parts) {
  if (parts.empty()) return;
  name_other_side(fault, parts.front().other, true);
  hold({.fault = std::move(fault), .parts = std::move(parts)});
}

void Worker::hold(HeldStore store) {
  attention = true;
  store.warp = accessor.now.warp;
  store.lanes = accessor.now.lanes;
  held_stores_.push_back(std::move(store));
}

// A store that left each part unchanged is not a race: the other side stored the same value.
void Worker::settle_stores() {
  attention = trace != nullptr;
  std::vector<HeldStore> stores;
  stores.swap(held_stores_);
  for (HeldStore& store : stores) {
    RawFault& fault = store.fault;
    if (!std::all_of(store.parts.begin(), store.parts.end(),
                     [](const HeldPart& part) { return part.is_unchanged(); })) {
      settle_candidates(kNobody, fault.address);
      report(fault);
      continue;
    }
    fault.kind = FaultKind::redundant_write;
    for (const HeldPart& part : store.parts) {
      if (part.cell != nullptr) {
        grid->races.mark_several(*part.cell, part.address, part.mask);
        grid->redundant.add(fault.address, linear);
      } else {
        mark_redundant(*part.shadow, part.offset, part.bytes);
        const auto& word = redundant_words_.add(part, store.warp, store.lanes, epoch_);
        fault.writers = std::max(fault.writers, word.stores);
        fault.by_warps = !std::has_single_bit(store.lanes);
      }
    }
    report(fault);
  }
  store_under_way_.landed();
}

// Returns the memory space of the address. For shared memory, replaces the address by the offset in the region.
RawFault::Space Worker::space_of(uintptr_t& address) const {
  if (const size_t offset = address - static_shared.base; offset < static_shared.span) {
    address = offset;
    return RawFault::Space::static_shared;
  }
  if (const size_t offset = address - dynamic_shared.base; offset < dynamic_shared.span) {
    address = offset;
    return RawFault::Space::dynamic_shared;
  }
  return address - stack_base < kStackBytes ? RawFault::Space::none : RawFault::Space::global;
}

void Worker::fail_misaligned(uintptr_t address, size_t bytes, bool is_write, const void* code, Where where) {
  if (!grid->checks.has(Check::alignment)) return;
  RawFault fault;
  fault.kind = FaultKind::misaligned;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = is_write;
  fault.code = code;
  fault.location = where;
  fault.address = address;
  fault.space = space_of(fault.address);
  fail(std::move(fault));
}

void Worker::fail_stuck(const void* code, Where where) {
  RawFault fault;
  fault.kind = FaultKind::stuck;
  fault.code = code;
  fault.location = where;
  fault.detail = progress.stuck_text();
  if (const Range* range = nearest_range(*grid->ranges, accessor.read);
      progress.spins() && accessor.read != 0 &&
      (!range || accessor.read - range->base >= range->bytes || range->writable)) {
    fault.address = accessor.read;
    fault.space = space_of(fault.address);
    fault.other_code = grid->module->code_ending_in(accessor.now.code, AccessRecord::kCodeBits);
  }
  fail(std::move(fault));
}

}  // namespace convlab::simt::internal
