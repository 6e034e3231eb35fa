// Writes a recording as a Chrome trace.

#include "convlab/profile/chrome_trace.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace convlab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kHost = 0, kDevice = 1;
constexpr uint32_t kPartsRow = 0, kFirstThreadRow = 1;

/// The process and row in which an activity is drawn.
struct Place {
  int process = kHost;
  uint32_t row = kPartsRow;
};

class Writer {
 public:
  explicit Writer(const Recording& recording) : recording_(recording) {
    name("process_name", kHost, 0, "program");
    name("process_name", kDevice, 0, recording.device_name);
    name("thread_name", kHost, kPartsRow, "parts");
  }

  Json write() {
    std::map<uint32_t, const Activity*> calls;
    for (const Activity& each : recording_.activities) {
      // A call inside another one has the same correlation; the outer one, which began first, is the program's.
      if (each.kind == ActivityKind::api && each.correlation != 0) calls.try_emplace(each.correlation, &each);
    }
    for (const Activity& each : recording_.activities) {
      write(each);
      const auto call = calls.find(each.correlation);
      if (each.on_device() && call != calls.end()) connect(*call->second, each);
    }
    return std::move(events_);
  }

 private:
  double microseconds(int64_t ns) const { return static_cast<double>(ns - recording_.begin_ns) * 1e-3; }

  void name(const char* what, int process, uint32_t row, const std::string& value) {
    events_.push_back({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", row}, {"args", {{"name", value}}}});
  }

  Place place(const Activity& activity) {
    if (activity.kind == ActivityKind::part) return {kHost, kPartsRow};
    if (activity.on_device()) {
      if (streams_.insert(activity.stream).second) {
        name("thread_name", kDevice, activity.stream, "stream " + std::to_string(activity.stream));
      }
      return {kDevice, activity.stream};
    }
    const auto [row, is_new] = threads_.try_emplace(activity.thread, kFirstThreadRow + threads_.size());
    if (is_new) name("thread_name", kHost, row->second, "calls of thread " + std::to_string(activity.thread));
    return {kHost, row->second};
  }

  static std::string_view category(ActivityKind kind) {
    switch (kind) {
      case ActivityKind::kernel:
        return "kernel";
      case ActivityKind::copy:
      case ActivityKind::fill:
        return "copy";
      case ActivityKind::api:
        return "api";
      case ActivityKind::part:
        return "layer";
    }
    return "?";
  }

  void write(const Activity& activity) {
    const auto [process, row] = place(activity);
    Json arguments = Json::object();
    if (!activity.part.empty()) arguments["layer"] = activity.part;
    if (activity.correlation != 0) arguments["correlation"] = activity.correlation;
    if (activity.bytes > 0) arguments["bytes"] = activity.bytes;
    if (activity.grid[0] > 0) {
      arguments["grid"] = activity.grid;
      arguments["block"] = activity.block;
      arguments["registers"] = activity.registers;
      arguments["shared_bytes"] = activity.static_shared_bytes + activity.dynamic_shared_bytes;
    }
    events_.push_back({{"name", activity.name},
                       {"cat", category(activity.kind)},
                       {"ph", "X"},
                       {"ts", microseconds(activity.begin_ns)},
                       {"dur", static_cast<double>(activity.duration_ns()) * 1e-3},
                       {"pid", process},
                       {"tid", row},
                       {"args", std::move(arguments)}});
  }

  void connect(const Activity& call, const Activity& done) {
    const auto event = [&](const char* phase, const Activity& at) {
      const auto [process, row] = place(at);
      return Json{{"name", "launch"},
                  {"cat", "flow"},
                  {"ph", phase},
                  {"id", done.correlation},
                  {"pid", process},
                  {"tid", row},
                  {"ts", microseconds(at.begin_ns)}};
    };
    events_.push_back(event("s", call));
    Json end = event("f", done);
    end["bp"] = "e";  // the arrow ends at the event that encloses this time, not at the next one
    events_.push_back(std::move(end));
  }

  const Recording& recording_;
  Json events_ = Json::array();
  std::set<uint32_t> streams_;
  std::map<uint32_t, uint32_t> threads_;
};

}  // namespace

nlohmann::ordered_json chrome_trace(const Recording& recording) { return Writer(recording).write(); }

}  // namespace convlab
