// Tests nvprof's output formats: fixed texts, and a parser that reads them back.

#include "convlab/profile/nvprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/support/profile_recordings.h"

namespace convlab {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(NvprofNumbers, TimesTakeEightCharactersAndTheUnitThatFits) {
  EXPECT_EQ(nvprof_time(0), "0ns");
  EXPECT_EQ(nvprof_time(608), "608ns");
  EXPECT_EQ(nvprof_time(999), "999ns");
  EXPECT_EQ(nvprof_time(1000), "1.0000us");
  EXPECT_EQ(nvprof_time(1120), "1.1200us");
  EXPECT_EQ(nvprof_time(830114), "830.11us");
  EXPECT_EQ(nvprof_time(16602499), "16.602ms");
  EXPECT_EQ(nvprof_time(3033001234), "3.03300s");
  EXPECT_EQ(nvprof_time(154623000000), "154.623s");
  // Rounding reaches the next unit, or adds a digit before the decimal point.
  EXPECT_EQ(nvprof_time(999996), "1.0000ms");
  EXPECT_EQ(nvprof_time(999996000), "1.00000s");
  EXPECT_EQ(nvprof_time(9999999), "10.000ms");
  for (int64_t ns = 1; ns < int64_t{1} << 40; ns = ns * 21 / 16 + 1) {
    EXPECT_LE(nvprof_time(ns).size(), 8u) << ns;
  }
}

TEST(NvprofNumbers, SizesAreInUnitsOf1024) {
  EXPECT_EQ(nvprof_size(0), "0B");
  EXPECT_EQ(nvprof_size(256), "256B");
  EXPECT_EQ(nvprof_size(1023), "1023B");
  EXPECT_EQ(nvprof_size(1024), "1.0000KB");
  EXPECT_EQ(nvprof_size(6912), "6.7500KB");
  EXPECT_EQ(nvprof_size(77070336), "73.500MB");
  EXPECT_EQ(nvprof_size(9.9053e9), "9.2250GB");
  EXPECT_EQ(nvprof_percent(0.398), "39.80%");
  EXPECT_EQ(nvprof_percent(1), "100.00%");
}

TEST(NvprofSummary, IsExactlyThisText) {
  EXPECT_EQ(nvprof_begin(278, "python m1.2.py"), "==278== NVPROF is profiling process 278, command: python m1.2.py\n");
  EXPECT_EQ(nvprof_summary(278, "convlab run fa19", summarize(gpu_recording())),
            "==278== Profiling application: convlab run fa19\n"
            "==278== Profiling result:\n"
            "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
            " GPU activities:   83.71%  40.000ms         2  20.000ms  10.000ms  30.000ms  void conv<5>(float const*, "
            "\"x\")\n"
            "                   16.28%  7.7809ms         1  7.7809ms  7.7809ms  7.7809ms  [CUDA memcpy HtoD]\n"
            "                    0.00%     608ns         1     608ns     608ns     608ns  [CUDA memset]\n"
            "      API calls:  100.00%  3.00000s         1  3.00000s  3.00000s  3.00000s  cudaStreamCreateWithFlags\n"
            "                    0.00%  10.000us         1  10.000us  10.000us  10.000us  cudaMemcpyAsync\n"
            "                    0.00%  9.0000us         3  3.0000us  1.0000us  5.0000us  cudaLaunchKernel\n");
}

TEST(NvprofSummary, OnAHostItNamesTheHost) {
  ProfileTotals summary = summarize(gpu_recording());
  summary.device = DeviceKind::simt;
  const std::string text = nvprof_summary(1, "x", summary);
  EXPECT_THAT(text, HasSubstr("\n CPU activities:   83.71%"));
  EXPECT_THAT(text, HasSubstr("\n     Host calls:  100.00%"));
  EXPECT_EQ(nvprof_summary(1, "x", {}),
            "==1== Profiling application: x\n==1== Profiling result:\n"
            "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n");
}

/// Splits a line into fields as RFC 4180 defines: quotes may enclose commas, and quotes inside are doubled.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  EXPECT_FALSE(quoted) << line;
  return fields;
}

/// Parses nvprof's CSV as its readers do: skips ==PID== lines, then reads the column names, their units and the rows.
struct Csv {
  std::vector<std::string> columns, units;
  std::vector<std::vector<std::string>> rows;

  explicit Csv(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("==")) continue;
      std::vector<std::string> fields = fields_of(line);
      if (columns.empty()) {
        columns = std::move(fields);
        continue;
      }
      EXPECT_EQ(fields.size(), columns.size()) << line;
      if (units.empty()) {
        units = std::move(fields);
      } else {
        rows.push_back(std::move(fields));
      }
    }
  }

  std::string text(size_t row, const std::string& column) const { return rows.at(row).at(index(column)); }

  /// Returns a value in seconds or bytes.
  double number(size_t row, const std::string& column) const {
    const std::string unit = units.at(index(column));
    const double scale = unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1;
    return std::stod(text(row, column)) * scale;
  }

 private:
  size_t index(const std::string& column) const {
    return static_cast<size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin());
  }
};

TEST(NvprofCsv, AParserReadsEveryFigureBack) {
  const ProfileTotals summary = summarize(gpu_recording());
  const std::string text = nvprof_summary_csv(278, "convlab run fa19", summary);
  EXPECT_THAT(text,
              HasSubstr("==278== Profiling result:\n\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\","
                        "\"Name\"\n,%,ms,,ms,ms,ms,\n\"GPU activities\",83.7"));
  const Csv csv(text);
  ASSERT_EQ(csv.rows.size(), summary.activities.size() + summary.calls.size());
  for (size_t i = 0; i < csv.rows.size(); ++i) {
    const bool on_device = i < summary.activities.size();
    const TotalsRow& row = on_device ? summary.activities[i] : summary.calls[i - summary.activities.size()];
    EXPECT_EQ(csv.text(i, "Type"), on_device ? "GPU activities" : "API calls");
    EXPECT_EQ(csv.text(i, "Name"), row.name);
    EXPECT_EQ(csv.number(i, "Calls"), static_cast<double>(row.calls));
    EXPECT_EQ(std::llround(csv.number(i, "Time") * 1e9), row.total_ns);
    EXPECT_EQ(std::llround(csv.number(i, "Avg") * 1e9), row.average_ns());
    EXPECT_EQ(std::llround(csv.number(i, "Min") * 1e9), row.min_ns);
    EXPECT_EQ(std::llround(csv.number(i, "Max") * 1e9), row.max_ns);
    EXPECT_NEAR(csv.number(i, "Time(%)"), 100 * row.share, 1e-5);
  }
}

TEST(NvprofGpuTrace, IsExactlyThisText) {
  const std::string text = nvprof_gpu_trace(278, "convlab run fa19", gpu_recording());
  EXPECT_THAT(
      text,
      StartsWith(
          "==278== Profiling application: convlab run fa19\n==278== Profiling result:\n"
          "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput "
          " "
          "SrcMemType  DstMemType           Device   Context    Stream  Name\n"
          "3.00012s  7.7809ms                    -               -         -         -         -  73.500MB  9.2248GB/s "
          " "
          "  Pageable      Device  NVIDIA H200, co         1         7  [CUDA memcpy HtoD]\n"
          "3.00801s  10.000ms            (128 1 1)       (256 1 1)        32  4.0000KB        0B         -           - "
          " "
          "         -           -  NVIDIA H200, co         1         7  void conv<5>(float const*, \"x\") [3]\n"));
  EXPECT_THAT(text, EndsWith("DstMemType: The type of destination memory accessed by memory operation/copy\n"));
}

TEST(NvprofGpuTrace, AParserReadsItsCsvBack) {
  const Csv csv(nvprof_gpu_trace_csv(278, "convlab run fa19", gpu_recording()));
  ASSERT_EQ(csv.rows.size(), 4u);
  EXPECT_NEAR(csv.number(0, "Start"), 3.00012, 1e-12);
  EXPECT_EQ(std::llround(csv.number(0, "Duration") * 1e9), 7'780'900);
  EXPECT_EQ(csv.text(0, "Size"), "77070336");
  EXPECT_NEAR(csv.number(0, "Throughput"), 9.2248, 1e-3);
  EXPECT_EQ(csv.text(0, "SrcMemType"), "Pageable");
  EXPECT_EQ(csv.text(0, "Grid X"), "");
  EXPECT_EQ(csv.text(1, "Grid X"), "128");
  EXPECT_EQ(csv.text(1, "Block X"), "256");
  EXPECT_EQ(csv.text(1, "Registers Per Thread"), "32");
  EXPECT_EQ(csv.text(1, "Static SMem"), "4096");
  EXPECT_EQ(csv.text(1, "Size"), "");
  EXPECT_EQ(csv.text(1, "Device"), "NVIDIA H200, compute capability 9.0");
  EXPECT_EQ(csv.text(1, "Name"), "void conv<5>(float const*, \"x\")");
  EXPECT_EQ(csv.text(3, "Name"), "[CUDA memset]");
  EXPECT_EQ(csv.text(3, "SrcMemType"), "");
  EXPECT_EQ(csv.text(3, "Correlation_ID"), "5");
}

}  // namespace
}  // namespace convlab
