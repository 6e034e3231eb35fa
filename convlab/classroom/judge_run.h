#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

/// The judge at work on one job, here or elsewhere. The destructor ends it.
class JudgeRun {
 public:
  virtual ~JudgeRun() = default;

  /// How it ended; nullopt while it runs.
  struct End {
    int status = 0;         ///< exit status, or 128 + the signal that ended it
    std::string complaint;  ///< the last of what it said on standard error
  };
  virtual std::optional<End> end() = 0;
};

/// Starts a program, found in PATH unless its name has a folder, which ends with this process whatever happens to it.
/// Error(unavailable) where it cannot be started.
std::unique_ptr<JudgeRun> run_here(const std::vector<std::string>& arguments);

}  // namespace convlab::classroom
