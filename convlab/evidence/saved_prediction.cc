// Reads predictions from JSON.

#include "convlab/evidence/saved_prediction.h"

#include "convlab/measure/json_members.h"

namespace convlab {

std::vector<SavedPrediction> saved_predictions_from_json(const JsonMembers& from) {
  std::vector<SavedPrediction> predictions;
  from.objects("predictions", [&](const JsonMembers& entry) {
    SavedPrediction& saved = predictions.emplace_back();
    entry.read_kernel_name("kernel", saved.kernel);
    entry.read("problem", saved.problem);
    entry.read("device", saved.device);
    entry.read("ms", saved.ms);
    entry.read("why", saved.why);
    entry.read_if_there("from", saved.from);
    if (!saved.from.empty()) entry.read("from_ms", saved.from_ms);
    if (!saved.from.empty() && !(saved.from_ms > 0)) {
      throw bad_input("{}: 'from_ms' must be greater than 0", entry.place());
    }
    if (!(saved.ms > 0)) throw bad_input("{}: 'ms' must be greater than 0", entry.place());
  });
  return predictions;
}

}  // namespace convlab
