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

/// What kernels prepared of a plan's weights. Launches only read it, so that it serves any number of plans and threads.
struct PreparedWeights {
  Buffer buffer;           ///< of all steps, so that a CPU's lie on large pages
  std::vector<size_t> at;  ///< by step, in bytes

  void* of(size_t step) const { return static_cast<std::byte*>(buffer.data()) + at[step]; }
};

/// Whether what is prepared for one plan serves another of the same model on the same device: their kernels are the
/// same, for images of the same size.
bool same_weights(const Plan& a, const Plan& b);

/// The weights that engines of one model have in memory once, also engines of several sessions. Any thread may use it.
class SharedWeights {
 public:
  using Prepare = std::function<PreparedWeights()>;

  /// What was prepared for such a plan on the device of this name, if a plan still uses it; otherwise what prepare()
  /// makes.
  std::shared_ptr<const PreparedWeights> prepared(const std::string& device, const std::shared_ptr<const Plan>& plan,
                                                  const Prepare& prepare);

  /// Has the graph's constants share elements with those of the graph before that are equal.
  void unify(Graph& graph);

  /// A graph's constant in the memory of the device of this name: one that something still uses, if it was made of the
  /// same elements and unify() had them, otherwise what copy() makes.
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
    Tensor elements;  ///< shared with the constant, so that no other has them at this address
    std::weak_ptr<const Buffer> kept;
  };

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::map<ValueId, Tensor> constants_;
  std::vector<Copy> copies_;
};

}  // namespace convlab
