// Orders the basic blocks of a kernel so that lanes of a warp reconverge.

#include "convlab/warps/control_flow.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace convlab {

/// Bourdoncle's algorithm, which builds the order from its end.
class ControlFlow::Sorting {
 public:
  explicit Sorting(std::vector<Block>& blocks)
      : blocks_(blocks), found_(blocks.size(), 0), last_of_loop_(blocks.size(), 0) {
    std::vector<uint32_t> order;
    // A function's entry comes before all of its executed blocks.
    for (uint32_t block = 0; block < blocks.size(); ++block) {
      if (found_[block] == 0) visit(block, order);
    }
    // Orders are even: the odd numbers between them are for edges back to a loop's head.
    const auto place_of = [&](size_t i) { return static_cast<uint32_t>(2 * (order.size() - i)); };
    for (size_t i = 0; i < order.size(); ++i) {
      blocks_[order[i]].order = place_of(i);
      blocks_[order[i]].behind_loop = place_of(last_of_loop_[order[i]]) + 1;
    }
  }

 private:
  static constexpr uint32_t kDone = std::numeric_limits<uint32_t>::max();

  // Appends the blocks after `block`, and then `block`. Returns the earliest discovered block that it leads back to.
  uint32_t visit(uint32_t block, std::vector<uint32_t>& order) {
    stack_.push_back(block);
    uint32_t head = found_[block] = ++count_;
    bool is_loop = false;
    for (const uint32_t next : blocks_[block].next) {
      const uint32_t earliest = found_[next] == 0 ? visit(next, order) : found_[next];
      if (earliest > head) continue;
      head = earliest;
      is_loop = true;
    }
    if (head != found_[block]) return head;
    found_[block] = kDone;
    uint32_t last = stack_.back();
    stack_.pop_back();
    for (; last != block; last = stack_.back(), stack_.pop_back()) found_[last] = 0;
    last_of_loop_[block] = order.size();
    if (is_loop) {  // visit its blocks again, without the back edge
      for (const uint32_t next : blocks_[block].next) {
        if (found_[next] == 0) visit(next, order);
      }
    }
    order.push_back(block);
    return head;
  }

  std::vector<Block>& blocks_;
  std::vector<uint32_t> found_;       // discovery number; 0: not yet
  std::vector<size_t> last_of_loop_;  // of a loop's head: the index in `order` of the loop's last block
  std::vector<uint32_t> stack_;
  uint32_t count_ = 0;
};

bool ControlFlow::sort() {
  if (sorted_) return false;
  Sorting sorting(blocks_);
  std::fill(std::begin(places_), std::end(places_), Place{});
  sorted_ = true;
  return true;
}

void ControlFlow::insert(const void* from, const void* to) {
  last_[place_of_step(from, to)] = step_of(from, to);
  const uint32_t target = number_of(to);
  if (!from) return;
  std::vector<uint32_t>& next = blocks_[number_of(from)].next;
  if (std::find(next.begin(), next.end(), target) != next.end()) return;
  next.push_back(target);
  sorted_ = false;
}

uint32_t ControlFlow::number_of(const void* block) {
  const auto [place, is_new] = numbers_.try_emplace(block, static_cast<uint32_t>(blocks_.size()));
  if (is_new) {
    blocks_.push_back({block, {}});
    sorted_ = false;
  }
  return place->second;
}

ControlFlow::Place ControlFlow::find(const void* block) const {
  const auto number = numbers_.find(block);
  if (number == numbers_.end()) return {block};
  const Block& known = blocks_[number->second];
  return {block, known.order, known.behind_loop};
}

}  // namespace convlab
