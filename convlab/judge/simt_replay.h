#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/judge/launch_list.h"
#include "convlab/judge/replayed_memory.h"
#include "convlab/simt/symbols.h"

namespace convlab::judge {

/// Replays a list on simt, with the kernels of a compiled file. Errors are the submission's.
class SimtReplay {
 public:
  /// `inputs`: x followed by w. `zeros`: y is filled with zeros before the run instead of being uninitialized.
  SimtReplay(const std::string& library, const LaunchList& list, const ConvProblem& problem, bool zeros,
             std::span<const uint8_t> inputs);

  void run();
  std::vector<char> output() const;

 private:
  void add(int number, size_t bytes, std::string_view name);
  void add_input(int number, std::span<const uint8_t> bytes, std::string_view name);
  char* target(const Operation& op) const { return arrays_.at(op.array) + op.offset; }
  uintptr_t address(const simt::internal::Symbol* symbol, const std::string& name) const;
  uintptr_t variable(const std::string& name, int64_t offset) const;
  void launch(const Operation& op) const;
  void multiply(const Operation& op) const;
  void run(const Operation& op);

  const simt::internal::Module& module_;
  const LaunchList& list_;
  HostMemory host_;
  size_t bytes_y_;
  std::map<int, char*> arrays_;
};

}  // namespace convlab::judge
