// Shares packed weights and device copies of constants between engines of one model.

#include "convlab/engine/shared_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace convlab {
namespace {

/// Compares the kernel and all sizes that packed weights may depend on: all except the number of images.
bool same_weights(const PlanStep& a, const PlanStep& b) {
  if (a.name != b.name || a.kernel != b.kernel || a.prepared_bytes != b.prepared_bytes) return false;
  if (a.is_conv() != b.is_conv()) return false;
  if (a.is_conv()) {
    ConvProblem one = conv_step(a.what).problem, other = conv_step(b.what).problem;
    one.n = other.n = 1;
    return one == other;
  }
  return std::ranges::equal(a.what.inputs, b.what.inputs, [](const Operand& one, const Operand& other) {
    const Shape &x = one.shape, &y = other.shape;
    return x.size() == y.size() && (x.empty() || std::equal(x.begin() + 1, x.end(), y.begin() + 1));
  });
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

/// Returns the object kept by an entry that serves, if it is still in use; otherwise null. Removes expired entries.
template <class Entry, class Serves>
auto in_use(std::vector<Entry>& entries, Serves serves) {
  std::erase_if(entries, [](const Entry& entry) { return entry.kept.expired(); });
  for (const Entry& entry : entries) {
    if (!serves(entry)) continue;
    if (auto known = entry.kept.lock()) return known;
  }
  return decltype(Entry::kept.lock())();
}

}  // namespace

bool same_weights(const Plan& a, const Plan& b) {
  return a.options.mode == b.options.mode && a.options.math == b.options.math && a.options.input == b.options.input &&
         std::ranges::equal(a.steps, b.steps, [](const PlanStep& x, const PlanStep& y) { return same_weights(x, y); });
}

std::shared_ptr<const PreparedWeights> SharedWeights::prepared(const std::string& device,
                                                               const std::shared_ptr<const Plan>& plan,
                                                               const Prepare& prepare) {
  const std::lock_guard lock(mutex_);
  const auto serves = [&](const Entry& entry) { return entry.device == device && same_weights(*entry.plan, *plan); };
  if (auto known = in_use(entries_, serves)) return known;
  auto made = std::make_shared<const PreparedWeights>(prepare());
  entries_.push_back({device, plan, made});
  return made;
}

void SharedWeights::unify(Graph& graph) {
  const std::lock_guard lock(mutex_);
  for (auto& [value, constant] : graph.constants) {
    if (!constant.share_elements()) continue;  // deferred: the elements are made when something reads them
    const auto [known, first] = constants_.try_emplace(value, constant.clone());
    if (first) continue;
    if (same_elements(known->second, constant)) {
      constant = known->second.clone();
    } else {
      known->second = constant.clone();
    }
  }
}

std::shared_ptr<const Buffer> SharedWeights::in_memory_of(const std::string& device, ValueId value,
                                                          const Tensor& constant, const std::function<Buffer()>& copy) {
  const std::lock_guard lock(mutex_);
  const auto first = std::as_const(constants_).find(value);
  const bool shared = first != constants_.end() && first->second.raw() == constant.raw();
  const auto serves = [&](const Copy& each) { return each.device == device && each.elements.raw() == constant.raw(); };
  if (auto known = shared ? in_use(copies_, serves) : nullptr) return known;
  auto made = std::make_shared<const Buffer>(copy());
  if (shared) copies_.push_back({device, first->second.clone(), made});
  return made;
}

}  // namespace convlab
