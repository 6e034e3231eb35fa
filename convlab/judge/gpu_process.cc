// Starts the separate process that replays launch lists on a GPU.

#include "convlab/judge/gpu_process.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/process.h"
#include "convlab/base/text.h"

namespace convlab::judge {
namespace fs = std::filesystem;

std::optional<Json> replayed_on_gpu(Json request, const WorkFolder& work, double limit_s) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path() / "convlab-class";
  const fs::path answer = work.empty_file("gpu.answer"), path = work / "gpu.json";
  request["answer"] = answer.string();
  write_file(path, json_text(request, -1));
  const ProcessRun run = run_process(program.string(), {program.string(), "replay", path.string()}, limit_s);
  if (run.out_of_time) return std::nullopt;
  if (run.status != 0) throw unavailable("the GPU process failed: {}", printable(run.complaint));
  return parse_json(read_text(answer, kMostFileBytes), "answer of the GPU process");
}

}  // namespace convlab::judge
