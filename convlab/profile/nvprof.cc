// Prints recordings in nvprof's formats.

#include "convlab/profile/nvprof.h"

#include <fmt/format.h>

namespace convlab {
namespace {

/// Width of number and unit together, which sets the digits: "1.1200us", "16.602ms", "3.03300s".
constexpr size_t kWidth = 8;

std::string fixed_width(double value, std::string_view unit) {
  std::string text;
  for (int decimals = static_cast<int>(kWidth - unit.size()) - 2; decimals >= 1; --decimals) {
    text = fmt::format("{:.{}f}{}", value, decimals, unit);
    if (text.size() <= kWidth) break;
  }
  return text;
}

/// "GPU activities" is nvprof's title. A host device has none.
std::string_view activities_title(DeviceKind device) {
  return device == DeviceKind::cuda ? "GPU activities" : "CPU activities";
}
std::string_view calls_title(DeviceKind device) { return device == DeviceKind::cuda ? "API calls" : "Host calls"; }

std::string end_of_profile(int process, const std::string& command) {
  return fmt::format("=={0}== Profiling application: {1}\n=={0}== Profiling result:\n", process, command);
}

void append_rows(std::string& text, std::string_view title, const std::vector<TotalsRow>& rows) {
  std::string label = fmt::format("{}:", title);
  for (const TotalsRow& row : rows) {
    text += fmt::format("{:>16}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n", label, nvprof_percent(row.share),
                        nvprof_time(row.total_ns), row.calls, nvprof_time(row.average_ns()), nvprof_time(row.min_ns),
                        nvprof_time(row.max_ns), row.name);
    label.clear();
  }
}

std::string csv_field(std::string_view text) {
  std::string result = "\"";
  for (char each : text) result += each == '"' ? "\"\"" : std::string(1, each);
  return result + '"';
}

double milliseconds(int64_t ns) { return static_cast<double>(ns) * 1e-6; }

void append_csv_rows(std::string& text, std::string_view title, const std::vector<TotalsRow>& rows) {
  for (const TotalsRow& row : rows) {
    text += fmt::format("\"{}\",{:.6f},{:.6f},{},{:.6f},{:.6f},{:.6f},{}\n", title, 100 * row.share,
                        milliseconds(row.total_ns), row.calls, milliseconds(row.average_ns()), milliseconds(row.min_ns),
                        milliseconds(row.max_ns), csv_field(row.name));
  }
}

/// Returns "(128 1 1)", or "-" if there is no extent.
std::string extent(const std::array<int64_t, 3>& size) {
  return size[0] == 0 ? "-" : fmt::format("({} {} {})", size[0], size[1], size[2]);
}

double bytes_per_second(const Activity& activity) {
  const int64_t duration = activity.duration_ns();
  return duration > 0 ? static_cast<double>(activity.bytes) * 1e9 / static_cast<double>(duration) : 0;
}

/// Returns the name; for a kernel with the launch's number, as in nvprof.
std::string trace_name(const Activity& activity) {
  return activity.kind == ActivityKind::kernel ? fmt::format("{} [{}]", activity.name, activity.correlation)
                                               : activity.name;
}

constexpr std::string_view kGpuTraceLegend =
    "\nRegs: Number of registers used per CUDA thread. This number includes registers used internally by the CUDA "
    "driver and/or tools and can be more than what the compiler shows.\n"
    "SSMem: Static shared memory allocated per CUDA block.\n"
    "DSMem: Dynamic shared memory allocated per CUDA block.\n"
    "SrcMemType: The type of source memory accessed by memory operation/copy\n"
    "DstMemType: The type of destination memory accessed by memory operation/copy\n";

}  // namespace

std::string nvprof_time(int64_t ns) {
  // The unit changes where rounding would add a digit: 999.996us is 1.0000ms.
  const auto time = static_cast<double>(ns);
  if (time < 1e3) return fmt::format("{}ns", ns);
  if (time < 999.995e3) return fixed_width(time * 1e-3, "us");
  if (time < 999.995e6) return fixed_width(time * 1e-6, "ms");
  return fixed_width(time * 1e-9, "s");
}

std::string nvprof_size(double bytes) {
  constexpr double kStep = 1024;
  if (bytes < kStep) return fmt::format("{:.0f}B", bytes);
  const char* unit = "KB";
  for (const char* next : {"MB", "GB", "TB"}) {
    if (bytes / kStep < kStep) break;
    bytes /= kStep;
    unit = next;
  }
  return fixed_width(bytes / kStep, unit);
}

std::string nvprof_percent(double share) { return fmt::format("{:.2f}%", 100 * share); }

std::string nvprof_begin(int process, const std::string& command) {
  return fmt::format("=={0}== NVPROF is profiling process {0}, command: {1}\n", process, command);
}

std::string nvprof_summary(int process, const std::string& command, const ProfileTotals& summary) {
  std::string text = end_of_profile(process, command);
  text += "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n";
  append_rows(text, activities_title(summary.device), summary.activities);
  append_rows(text, calls_title(summary.device), summary.calls);
  return text;
}

std::string nvprof_summary_csv(int process, const std::string& command, const ProfileTotals& summary) {
  std::string text = end_of_profile(process, command);
  text += "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,ms,ms,ms,\n";
  append_csv_rows(text, activities_title(summary.device), summary.activities);
  append_csv_rows(text, calls_title(summary.device), summary.calls);
  return text;
}

std::string nvprof_gpu_trace(int process, const std::string& command, const Recording& recording) {
  std::string text = end_of_profile(process, command);
  text +=
      "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput  "
      "SrcMemType  DstMemType           Device   Context    Stream  Name\n";
  constexpr size_t kDeviceWidth = 15;
  for (const Activity& each : recording.activities) {
    if (!each.on_device()) continue;
    const bool launched = each.grid[0] > 0, moved = each.kind != ActivityKind::kernel;
    const auto only = [](bool there, const std::string& value) { return there && !value.empty() ? value : "-"; };
    text += fmt::format(
        "{:>8}  {:>8}  {:>19}  {:>14}  {:>8}  {:>8}  {:>8}  {:>8}  {:>10}  {:>10}  {:>10}  {:>15}  {:>8}  {:>8}  {}\n",
        nvprof_time(each.begin_ns - recording.begin_ns), nvprof_time(each.duration_ns()), extent(each.grid),
        extent(each.block), only(launched, std::to_string(each.registers)),
        only(launched, nvprof_size(static_cast<double>(each.static_shared_bytes))),
        only(launched, nvprof_size(static_cast<double>(each.dynamic_shared_bytes))),
        only(moved, nvprof_size(static_cast<double>(each.bytes))),
        only(moved, nvprof_size(bytes_per_second(each)) + "/s"), only(moved, std::string(each.source)),
        only(moved, std::string(each.destination)), recording.device_name.substr(0, kDeviceWidth), each.context,
        each.stream, trace_name(each));
  }
  return text + std::string(kGpuTraceLegend);
}

std::string nvprof_gpu_trace_csv(int process, const std::string& command, const Recording& recording) {
  std::string text = end_of_profile(process, command);
  text +=
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\"Registers Per "
      "Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\","
      "\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\nms,ms,,,,,,,,B,B,B,GB/s,,,,,,,\n";
  for (const Activity& each : recording.activities) {
    if (!each.on_device()) continue;
    text += fmt::format("{:.6f},{:.6f},", milliseconds(each.begin_ns - recording.begin_ns),
                        milliseconds(each.duration_ns()));
    if (each.grid[0] > 0) {
      text += fmt::format("{},{},{},{},", fmt::join(each.grid, ","), fmt::join(each.block, ","), each.registers,
                          each.static_shared_bytes);
      text += fmt::format("{},", each.dynamic_shared_bytes);
    } else {
      text += ",,,,,,,,,";
    }
    if (each.kind != ActivityKind::kernel) {
      text += fmt::format("{},{:.6f},", each.bytes, bytes_per_second(each) / 0x1p30);
    } else {
      text += ",,";
    }
    const auto text_or_nothing = [](std::string_view value) { return value.empty() ? "" : csv_field(value); };
    text += fmt::format("{},{},{},{},{},{},{}\n", text_or_nothing(each.source), text_or_nothing(each.destination),
                        csv_field(recording.device_name), each.context, each.stream, csv_field(each.name),
                        each.correlation);
  }
  return text;
}

}  // namespace convlab
