// Shows the machines and builds of all measurements.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

/// Returns "1200 to 1980 MHz"; "" if no record has the value.
std::string range(const std::vector<Record>& records, std::optional<double> MachineState::*value,
                  std::string_view unit) {
  std::vector<double> values;
  for (const Record& record : records) {
    for (const MachineState* state : {&record.before, &record.after}) {
      if (state->*value) values.push_back(*(state->*value));
    }
  }
  if (values.empty()) return "";
  const auto [low, high] = std::ranges::minmax(values);
  return low == high ? fmt::format("{:.4g} {}", low, unit) : fmt::format("{:.4g} to {:.4g} {}", low, high, unit);
}

std::string joined(const std::set<std::string>& texts) { return fmt::format("{}", fmt::join(texts, "; ")); }

void describe_machine(Table& table, const Machine& machine) {
  table.row({text_cell("device"), text_cell(machine.device)});
  table.row({text_cell("CPU"), text_cell(fmt::format("{}, {} threads", machine.cpu, machine.threads))});
  table.row({text_cell("system"), text_cell(machine.system)});
  if (!machine.driver.empty()) table.row({text_cell("GPU driver"), text_cell(machine.driver)});
}

std::string build_text(const Build& build) {
  return fmt::format("convlab {}, {}, {}{}", build.version, build.compiler, build.type,
                     build.cuda.empty() ? ", no CUDA" : ", CUDA " + build.cuda);
}

void describe_ceilings(Table& table, const Ceilings& ceilings) {
  const auto add = [&](std::string_view name, double value, std::string_view unit) {
    if (value > 0) table.row({text_cell(name), text_cell(fmt::format("{} {}", significant(value), unit))});
  };
  add("memory copy", ceilings.memory_bytes * 1e-9, "GB/s");
  add("L2 copy", ceilings.cache_bytes * 1e-9, "GB/s");
  add("multiply-adds, fp32", ceilings.fp32_flops * 1e-9, "GFLOP/s");
  add("tensor cores, tf32", ceilings.tf32_flops * 1e-9, "GFLOP/s");
  add("tensor cores, fp16", ceilings.fp16_flops * 1e-9, "GFLOP/s");
  add("bf16x2 products", ceilings.bf16_flops * 1e-9, "GFLOP/s");
  add("host to device", ceilings.upload_bytes * 1e-9, "GB/s");
}

}  // namespace

void add_machines(Page& page, const Contents& contents) {
  std::string html = "<div class=\"columns\">\n";
  for (const MachineRecords& machine : contents.machines) {
    Table table("Measured on", {"", ""});
    describe_machine(table, machine.machine);
    std::set<std::string> builds, times, throttles;
    for (const Record& record : machine.records) {
      builds.insert(build_text(record.build));
      times.insert(record.when);
      for (const MachineState* state : {&record.before, &record.after}) {
        throttles.insert(state->throttle.begin(), state->throttle.end());
      }
    }
    table.row({text_cell("build"), text_cell(joined(builds))});
    table.row(
        {text_cell("measured"),
         text_cell(*times.begin() == *times.rbegin() ? *times.begin() : *times.begin() + " to " + *times.rbegin())});
    table.row({text_cell("Records"), text_cell(std::to_string(machine.records.size()))});
    const auto state = [&](std::string_view name, std::optional<double> MachineState::*value, std::string_view unit) {
      const std::string text = range(machine.records, value, unit);
      if (!text.empty()) table.row({text_cell(name), text_cell(text)});
    };
    state("clock", &MachineState::clock_mhz, "MHz");
    state("memory clock", &MachineState::memory_clock_mhz, "MHz");
    state("temperature", &MachineState::temperature_c, "°C");
    state("power", &MachineState::power_w, "W");
    state("load before", &MachineState::load, "");
    if (!throttles.empty()) table.row({text_cell("clock limited by"), text_cell(joined(throttles))});
    describe_ceilings(table, machine.records.front().ceilings);
    html += table.html();
  }
  Table here("This page was generated on", {"", ""});
  describe_machine(here, contents.input.machine);
  here.row({text_cell("build"), text_cell(build_text(contents.input.build))});
  here.row({text_cell("generated"), text_cell(contents.input.when)});
  html += here.html() + "</div>\n";
  page.section("machines", "Machines and builds", html);
}

}  // namespace convlab
