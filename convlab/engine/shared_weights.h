#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// A plan's weights as packed by its kernels. Launches only read them, so any number of plans and threads may share
/// them.
struct PreparedWeights {
  Buffer buffer;           ///< one for all steps, so that a CPU can use large pages
  std::vector<size_t> at;  ///< offset by step, in bytes

  void* of(size_t step) const { return static_cast<std::byte*>(buffer.data()) + at[step]; }
};

/// Whether two plans of the same model on the same device can share packed weights: their kernels are the same, for
/// images of the same size.
bool same_weights(const Plan& a, const Plan& b);

/// The weights that engines of one model, in one or several sessions, share in memory. Thread-safe.
class SharedWeights {
 public:
  using Prepare = std::function<PreparedWeights()>;

  /// Returns the weights packed for an equivalent plan on the device of this name, if a plan still uses them; otherwise
  /// the result of prepare().
  std::shared_ptr<const PreparedWeights> prepared(const std::string& device, const std::shared_ptr<const Plan>& plan,
                                                  const Prepare& prepare);

  /// Makes the graph's constants share memory with equal constants of the previous graph.
  void unify(Graph& graph);

  /// Returns a copy of a graph's constant in the memory of the device of this name: an existing copy of the same
  /// elements, if it is still in use and unify() has seen the constant; otherwise the result of copy().
  std::shared_ptr<const Buffer> in_memory_of(const std::string& device, ValueId value, const Tensor& constant,
                                             const std::function<Buffer()>& copy);

 private:
  struct Entry {
    std::string device;
    std::shared_ptr<const Plan> plan;
    std::weak_ptr<const PreparedWeights> kept;
  };

  struct Copy {
    std::string device;
    Tensor elements;  ///< shared with the constant, so that no other constant can get the same address
    std::weak_ptr<const Buffer> kept;
  };

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::map<ValueId, Tensor> constants_;
  std::vector<Copy> copies_;
};

}  // namespace convlab
