#pragma once

#include <cstdint>
#include <string_view>

namespace convlab {

/// What a program that runs a network spends its time on, as a profiler and a bill of time distinguish it.
enum class Stage {
  driver,    ///< loading and starting a GPU's driver
  context,   ///< creating a GPU's context, opening the device
  model,     ///< reading a model's file
  data,      ///< reading and unpacking images and labels
  scaling,   ///< scaling images to what the model takes
  planning,  ///< simplifying the graph, choosing kernels, laying out memory
  memory,    ///< allocating memory of the device
  weights,   ///< taking weights to the device and packing them
  upload,    ///< images to the device
  step,      ///< one step of the plan: on a GPU its launch, on a host all of it
  waiting,   ///< for a GPU to finish what was launched
  download,  ///< scores to the host
  labels,    ///< scores to labels
  passes,    ///< passes of the network that are measured, once it has run
  ceilings,  ///< measuring what the machine can do at most
  release,   ///< giving everything back
};

/// In a few words: "reading the data".
std::string_view name_of(Stage stage);

/// A piece of work, reported when it begins. Texts stay valid until it ends.
struct Part {
  Stage stage;
  std::string_view name = name_of(stage);  ///< of a step: the layer's
  std::string_view kernel = {};            ///< of a step: the kernel's
  int64_t bytes = 0;                       ///< of an upload or download
};

/// Is told what is being done, on the thread that does it, so that a profiler can tie what it sees to layers. Parts
/// come one after another, never one inside another. Code that is given no observer tells nothing, at the price of one
/// comparison.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  virtual void begin(const Part& part) = 0;
  virtual void end() = 0;
};

/// One part, from here to the end of the scope. `observer` may be null.
class Observed {
 public:
  Observed(StageObserver* observer, const Part& part) : observer_(observer) {
    if (observer_ != nullptr) observer_->begin(part);
  }
  ~Observed() {
    if (observer_ != nullptr) observer_->end();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  StageObserver* observer_;
};

}  // namespace convlab
