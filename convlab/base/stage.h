#pragma once

#include <cstdint>
#include <string_view>

namespace convlab {

/// The stages of a program that runs a network, as the profiler and the time breakdown distinguish them.
enum class Stage {
  driver,    ///< loading and starting a GPU's driver
  context,   ///< creating a GPU's context, opening the device
  model,     ///< reading a model's file
  data,      ///< reading and unpacking images and labels
  scaling,   ///< scaling images to the model's input size
  planning,  ///< simplifying the graph, choosing kernels, laying out memory
  memory,    ///< allocating device memory
  weights,   ///< uploading and packing weights
  upload,    ///< copying images to the device
  step,      ///< one step of the plan: on a GPU only its launch, on a host all of it
  waiting,   ///< waiting for a GPU to finish its launches
  download,  ///< copying scores to the host
  labels,    ///< converting scores to labels
  passes,    ///< measured passes of the network, after its first run
  ceilings,  ///< measuring the machine's peak rates
  release,   ///< releasing memory and devices
};

/// Returns a short description: "reading the data".
std::string_view name_of(Stage stage);

/// A part of the program's work, reported when it begins. Texts stay valid until it ends.
struct Part {
  Stage stage;
  std::string_view name = name_of(stage);  ///< of a step: the layer's name
  std::string_view kernel = {};            ///< of a step: the kernel's name
  int64_t bytes = 0;                       ///< of an upload or download
};

/// Is notified of each part of the work, on the thread that does it, so that a profiler can attribute activities to
/// layers. Parts are not nested. Without an observer, the cost is one comparison per part.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  virtual void begin(const Part& part) = 0;
  virtual void end() = 0;
};

/// Reports one part to the observer, which may be null: begins here and ends with the scope.
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
