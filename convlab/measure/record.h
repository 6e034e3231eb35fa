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

/// Everything about one timing of one kernel on one problem: `convlab bench --json` writes them, an array per file, and
/// reports and tables are made of them. docs/reference/records.md explains each member.
struct Record {
  std::string kernel, problem, math;
  DeviceKind device = DeviceKind::cpu;
  int rung = 0;
  std::string epilogue;  ///< what followed the sums, as to_text(Epilogue): "bias+relu"; "" for nothing
  std::string layout;    ///< how the output lay, and the input unless plain: "images in lanes"; "" for plain arrays
  std::map<std::string, int> tuning;  ///< the values of the kernel's tunables
  std::string choice;                 ///< what a library chose, and how long it searched; "" elsewhere

  Summary cold_ms;                       ///< the device's own time with caches flushed before each launch
  Summary hot_ms;                        ///< the device's own time, launch after launch
  std::optional<Summary> graph_ms = {};  ///< the device's time of each of `graph` launches, replayed as one CUDA graph
  int graph = 0;
  Summary op_ms;          ///< Op Time as the course took it: the host's clock around launch and wait, caches hot
  double prepare_ms = 0;  ///< packing the weights, once
  /// Of a kernel file with a prolog and an epilog: from the begin of the one to the end of the other, arrays of the
  /// host to arrays of the host. The times above are those of its call.
  std::optional<Summary> layer_ms = {};
  bool computes_in_prolog = false;  ///< then the times above tell nothing, and the rates below are of layer_ms

  double gflops =
      0;  ///< operations of the direct method over hot_ms.median (layer_ms of a file that computes in its prolog)
  double gbps = 0;      ///< input, filters and output once each over hot_ms.median
  double bound_ms = 0;  ///< see Ceilings::bound
  double share = 0;     ///< bound_ms / hot_ms.median
  std::string limit;    ///< what the bound is made of: "memory", "cache" or "arithmetic"

  Ceilings ceilings;
  Machine machine;
  Build build;
  MachineState before, after;
  std::optional<double> waited_share = {};  ///< on a host, Contention's share while measuring
  std::string when;                         ///< UTC, "2026-01-31T12:00:00Z"

  bool operator==(const Record&) const = default;
};

nlohmann::ordered_json to_json(const Record& record);
nlohmann::ordered_json to_json(const Ceilings& ceilings);
nlohmann::ordered_json to_json(const MachineState& state);
nlohmann::ordered_json to_json(const Machine& machine);
nlohmann::ordered_json to_json(const Build& build);
nlohmann::ordered_json to_json(const Summary& summary);

/// As to_json(Machine) wrote it. Error(bad_input) with the place and the member that is missing or of another type.
Machine machine_from_json(const JsonMembers& from);

/// Error(bad_input) that names `place` ("results/x.json, entry 3") and the member that is missing or of another type.
Record record_from_json(const nlohmann::ordered_json& json, const std::string& place);

/// The records of a file that `convlab bench --json` wrote. Error(bad_input) with the file and the place in it.
std::vector<Record> read_records(const std::string& path);

/// A file of a device's ceilings alone. Error(bad_input) as read_records().
Ceilings read_ceilings(const std::filesystem::path& path);
void write_ceilings(const std::filesystem::path& path, const Ceilings& ceilings);

}  // namespace convlab
