#include "convlab/base/error.h"
#include "convlab/judge/judgement.h"

namespace convlab::judge {

Judgement judge_submission(const std::filesystem::path& file, const Assignment&, const std::string& device,
                           const std::function<void(Stage)>&) {
  throw unavailable("{}: nothing is judged on {} yet", file.string(), device);
}

}  // namespace convlab::judge
