#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

/// A judge that runs on one job, here or elsewhere. The destructor kills it.
class JudgeRun {
 public:
  virtual ~JudgeRun() = default;

  /// Returns how it ended, or nullopt while it runs.
  struct End {
    int status = 0;         ///< exit status, or 128 + signal
    std::string complaint;  ///< the end of its standard error
  };
  virtual std::optional<End> end() = 0;
};

/// Starts a program, found in PATH unless its name has a folder. It is killed when this process ends for any reason.
/// Throws Error(unavailable) if it cannot be started.
std::unique_ptr<JudgeRun> run_here(const std::vector<std::string>& arguments);

}  // namespace convlab::classroom
