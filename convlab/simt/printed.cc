// Collects what the kernels of a launch print.

#include "convlab/simt/printed.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace convlab::simt::internal {

void Printed::add(int64_t block, std::string text) {
  std::lock_guard lock(mutex_);
  if (block >= end_) return;
  bytes_ += text.size();
  texts_.emplace(block, std::move(text));
  while (bytes_ > kMostBytes) {
    const auto last = std::prev(texts_.end());
    end_ = last->first;
    bytes_ -= last->second.size();
    texts_.erase(last);
  }
}

void Printed::show(int64_t last_block) const {
  static std::mutex mutex;
  static size_t room = kMostBytes;
  std::string all;
  for (const auto& [block, text] : texts_) {
    if (block <= last_block) all += text;
  }
  const bool cut = end_ != INT64_MAX && end_ <= last_block;
  if (all.empty() && !cut) return;
  std::lock_guard lock(mutex);
  if (room == 0) return;
  const bool shown_whole = all.size() <= room && !cut;
  all.resize(std::min(all.size(), room));
  room -= all.size();
  if (!all.empty() && all.back() != '\n') all += '\n';
  if (!shown_whole) {
    all += "(output of kernels is cut off after 1 MiB)\n";
    room = 0;
  }
  std::fwrite(all.data(), 1, all.size(), stdout);
  std::fflush(stdout);
}

}  // namespace convlab::simt::internal
