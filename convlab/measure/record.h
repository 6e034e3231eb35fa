#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/ceilings.h"
#include "convlab/measure/machine.h"
#include "convlab/measure/summary.h"

namespace convlab {

class JsonMembers;

/// One timing of one kernel on one problem. `convlab bench --json` writes an array of Records per file; reports and
/// tables are made from them. docs/reference/records.md explains each member.
struct Record {
  std::string kernel, problem, math;
  DeviceKind device = DeviceKind::cpu;
  int rung = 0;
  std::string epilogue;               ///< what follows the sums, as to_text(Epilogue): "bias+relu"; "" for none
  std::string layout;                 ///< of the output, and of the input unless plain: "nchw16n"; "" for nchw
  std::map<std::string, int> tuning;  ///< the values of the kernel's tunables
  std::string choice;                 ///< what a library chose, and how long it searched; "" for other kernels

  Summary cold_ms;                       ///< device time with caches flushed before each launch
  Summary hot_ms;                        ///< device time of back-to-back launches
  std::optional<Summary> graph_ms = {};  ///< device time of each of `graph` launches, replayed as one CUDA graph
  int graph = 0;
  Summary op_ms;          ///< Op Time as the course takes it: the host's clock around launch and wait, caches hot
  double prepare_ms = 0;  ///< packing the weights, once
  /// For a kernel file with a prolog and an epilog: time from the start of the prolog to the end of the epilog, host
  /// arrays to host arrays. The times above are of its call alone.
  std::optional<Summary> layer_ms = {};
  bool computes_in_prolog = false;  ///< then the times above are meaningless, and the rates below are of layer_ms

  double gflops = 0;    ///< operations of the direct method / hot_ms.median (layer_ms.median if computes_in_prolog)
  double gbps = 0;      ///< input, filters and output once each / hot_ms.median
  double bound_ms = 0;  ///< see Ceilings::bound
  double share = 0;     ///< bound_ms / hot_ms.median
  std::string limit;    ///< what sets the bound: "memory", "cache" or "arithmetic"

  Ceilings ceilings;
  Machine machine;
  Build build;
  MachineState before, after;
  std::optional<double> waited_share = {};  ///< on a host: Contention::waited_share() while measuring
  std::string when;                         ///< UTC, "2026-01-31T12:00:00Z"

  bool operator==(const Record&) const = default;
};

nlohmann::ordered_json to_json(const Record& record);
nlohmann::ordered_json to_json(const Ceilings& ceilings);
nlohmann::ordered_json to_json(const MachineState& state);
nlohmann::ordered_json to_json(const Machine& machine);
nlohmann::ordered_json to_json(const Build& build);
nlohmann::ordered_json to_json(const Summary& summary);

/// Reads JSON that to_json(Machine) wrote. Throws Error(bad_input) with the location and the member that is missing or
/// of another type.
Machine machine_from_json(const JsonMembers& from);

/// Throws Error(bad_input) with `place` ("results/x.json, entry 3") and the member that is missing or of another type.
Record record_from_json(const nlohmann::ordered_json& json, const std::string& place);

/// Reads the Records of a file that `convlab bench --json` wrote. Throws Error(bad_input) with the file and the
/// location in it.
std::vector<Record> read_records(const std::string& path);

/// Reads a file with one device's ceilings. Throws Error(bad_input) like read_records().
Ceilings read_ceilings(const std::filesystem::path& path);
void write_ceilings(const std::filesystem::path& path, const Ceilings& ceilings);

}  // namespace convlab
