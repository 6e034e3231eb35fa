// Remembers which kernel wrote each element of device memory, also after copies to the host.

#include "convlab/simt/last_writer.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "convlab/simt/grid.h"

namespace convlab::simt {
namespace internal {
namespace {

constexpr size_t kMost = 1024;  // launches, copies, and host writes each

struct PastLaunch {
  uint64_t begin, end;  // serial numbers of its blocks: as many for each interval between barriers of the grid
  uint64_t blocks;
  BlockOrder order;
  std::string kernel;
  cuda::dim3 grid, block;
  const Module* module;
  std::vector<Site> sites;
};

struct Copy {
  uintptr_t host;
  size_t bytes;
  std::shared_ptr<GlobalCell[]> cells;  // shadow cells of the source
  uint64_t filled;                      // first serial number of launches after the host's last write to the source
};

struct HostWrite {
  uintptr_t device;
  size_t bytes;
  uint64_t before;  // later launches have serial numbers from this one on
};

struct Memory {
  std::mutex mutex;
  std::deque<PastLaunch> launches;
  std::deque<Copy> copies;
  std::deque<HostWrite> writes;
};

Memory& memory() {
  static Memory& memory = *new Memory;  // never destroyed: static objects may still copy at exit
  return memory;
}

template <class T>
void keep(std::deque<T>& all, T one) {
  all.push_back(std::move(one));
  if (all.size() > kMost) all.pop_front();
}

const Copy* copy_to(const Memory& all, const void* host) {
  const auto address = reinterpret_cast<uintptr_t>(host);
  const auto found = std::find_if(all.copies.rbegin(), all.copies.rend(),
                                  [&](const Copy& copy) { return address - copy.host < copy.bytes; });
  return found == all.copies.rend() ? nullptr : &*found;
}

}  // namespace

void remember_launch(Grid& grid) {
  if (!grid.races.checked()) return;
  Memory& all = memory();
  std::lock_guard lock(all.mutex);
  keep(all.launches, {grid.races.first_serial(), grid.races.end_serial(), static_cast<uint64_t>(grid.blocks),
                      grid.order, grid.kernel_name(), grid.grid, grid.block, grid.module, grid.races.take_sites()});
}

void remember_copy(void* host, const void* device, size_t bytes) {
  const auto ranges = current_ranges();
  const auto address = reinterpret_cast<uintptr_t>(device);
  const Range* const range = nearest_range(*ranges, address);
  if (!range || address - range->base >= range->bytes || !range->cells) return;
  Copy copy{
      reinterpret_cast<uintptr_t>(host), bytes, {range->cells, range->cells.get() + (address - range->base) / 4}, 0};
  Memory& all = memory();
  std::lock_guard lock(all.mutex);
  for (const HostWrite& write : all.writes) {
    const bool covers = address - write.device < write.bytes || write.device - address < bytes;
    if (covers) copy.filled = std::max(copy.filled, write.before);
  }
  keep(all.copies, std::move(copy));
}

void remember_host_write(const void* device, size_t bytes) {
  Memory& all = memory();
  const uint64_t before = take_block_serials(0);
  std::lock_guard lock(all.mutex);
  keep(all.writes, {reinterpret_cast<uintptr_t>(device), bytes, before});
}

void forget_copies(const void* host, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(host);
  Memory& all = memory();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.copies,
                [&](const Copy& copy) { return copy.host < begin + bytes && begin < copy.host + copy.bytes; });
}

}  // namespace internal

bool came_from_device(const void* host) {
  internal::Memory& all = internal::memory();
  std::lock_guard lock(all.mutex);
  return internal::copy_to(all, host) != nullptr;
}

std::optional<LastWriter> last_writer(const void* host) {
  internal::Memory& all = internal::memory();
  std::lock_guard lock(all.mutex);
  const internal::Copy* const copy = internal::copy_to(all, host);
  if (!copy) return std::nullopt;
  const uint64_t record = copy->cells[(reinterpret_cast<uintptr_t>(host) - copy->host) / 4].write.load();
  const uint64_t serial = internal::record::serial_of(record);
  if (record == 0) return std::nullopt;
  if ((record & internal::record::kSplit) != 0) return LastWriter{};
  if (serial < copy->filled) return std::nullopt;
  const auto launch = std::find_if(all.launches.rbegin(), all.launches.rend(), [&](const internal::PastLaunch& each) {
    return serial >= each.begin && serial < each.end;
  });
  if (launch == all.launches.rend()) return LastWriter{};
  LastWriter writer;
  writer.kernel = launch->kernel;
  const auto turn = static_cast<int64_t>((serial - launch->begin) % launch->blocks);
  writer.block = internal::position_of(launch->order.block_at(turn), launch->grid);
  writer.thread = internal::position_of(internal::record::thread_of(record), launch->block);
  const uint64_t site = internal::record::site_of(record);
  if (site < launch->sites.size()) writer.place = internal::place_of(*launch->module, launch->sites[site]);
  return writer;
}

}  // namespace convlab::simt
