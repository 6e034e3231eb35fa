// Names the stages of a run.

#include "convlab/base/stage.h"

namespace convlab {

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::driver:
      return "starting the driver";
    case Stage::context:
      return "opening the device";
    case Stage::model:
      return "reading the model";
    case Stage::data:
      return "reading the data";
    case Stage::scaling:
      return "scaling the images";
    case Stage::planning:
      return "planning";
    case Stage::memory:
      return "allocating memory";
    case Stage::weights:
      return "packing the weights";
    case Stage::upload:
      return "images to the device";
    case Stage::step:
      return "layers";
    case Stage::waiting:
      return "waiting for the device";
    case Stage::download:
      return "scores to the host";
    case Stage::labels:
      return "finding the labels";
    case Stage::passes:
      return "measured passes";
    case Stage::ceilings:
      return "measuring the machine";
    case Stage::release:
      return "giving memory back";
  }
  return "?";
}

}  // namespace convlab
