// Explains how each figure was measured, and which file it is from.

#include <fmt/format.h>

#include <algorithm>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

constexpr std::string_view kMethods =
    "<dl>\n"
    "<dt>Op Time</dt><dd>The host's clock around one convolution, with device synchronization before and after: "
    "the course's measure. Tables of kernels show the median of repeated launches with hot caches.</dd>\n"
    "<dt>Prolog to epilog</dt><dd>For a kernel file in three phases: the host's clock from the start of the "
    "prolog to the end of the epilog, from host arrays to host arrays. Its Op Time is that of the second phase "
    "alone.</dd>\n"
    "<dt>Device time</dt><dd>Events on the GPU around each launch, the clock on a CPU: the median after a "
    "warm-up, repeated until the median is precise enough or time is up. Each sample is in the Record.</dd>\n"
    "<dt>Gain</dt><dd>The ratio of two medians. Hover to see the interval that follows from the 95 % confidence "
    "intervals of both; if it contains 1, a question mark says that the difference may be chance.</dd>\n"
    "<dt>Bound</dt><dd>The least possible time on the machine: the larger of (operations of the direct method / "
    "peak multiply-add rate) and (bytes of input, filters and output, moved once / peak copy rate). Both rates "
    "were measured on the machine itself; “bound by” names the larger time. A method with fewer operations "
    "(Winograd, FFT, folding) is compared with the bound of the direct method.</dd>\n"
    "<dt>GFLOP/s</dt><dd>Operations of the direct method per second; a multiplication and an addition count one "
    "each.</dd>\n"
    "<dt>Roofline</dt><dd>X axis: operations per compulsory byte. Y axis: GFLOP/s. The roofs are the measured "
    "rates. All kernels of a layer share one column because the compulsory bytes do not depend on the "
    "kernel.</dd>\n"
    "<dt>Utilization</dt><dd>Hardware counters, read through CUPTI in separate runs that repeat each kernel, in "
    "percent of the chip's sustained peak, with the names that NVIDIA's tools use. Occupancy is the share of a "
    "multiprocessor's warp slots that were active.</dd>\n"
    "<dt>Counts</dt><dd>Requests, sectors, wavefronts and flops, counted by simt, which executes CUDA kernels on "
    "the CPU in warps. For the ladder's kernels they match a GPU's counters.</dd>\n"
    "<dt>Whole-program times</dt><dd>User, system and elapsed time and the peak resident memory of a process "
    "from start to end, as <code>/usr/bin/time</code> reports them. “Waited” is the share of time that its "
    "threads waited for a CPU.</dd>\n"
    "<dt>Accuracy, confusion, images, feature maps</dt><dd>Computed by convlab's engine on the CPU while this "
    "page was generated, from the shipped network and the test images of Fashion-MNIST.</dd>\n"
    "</dl>\n";

std::string quality(const Contents& contents) {
  Table table("Precision of the medians", {"machine", "Records", "fewest samples", "median spread", "worst spread"});
  for (const MachineRecords& machine : contents.machines) {
    std::vector<double> spreads;
    size_t fewest = SIZE_MAX;
    for (const Record& record : machine.records) {
      spreads.push_back(record.hot_ms.spread());
      fewest = std::min(fewest, record.hot_ms.samples.size());
    }
    const auto percent = [](double share) { return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "?"; };
    table.row({text_cell(machine.machine.device), number_cell(std::to_string(machine.records.size())),
               number_cell(std::to_string(fewest)), number_cell(percent(median(spreads))),
               number_cell(percent(std::ranges::max(spreads)))});
  }
  return table.empty() ? "" : table.html();
}

std::string sources(const Contents& contents) {
  Table table("Sources of this page", {"file or command", "content"});
  for (const Evidence::Source& source : contents.input.evidence.sources) {
    table.row(
        {{.html = fmt::format("<code>{}</code>", escaped(source.file)), .kind = "long"}, text_cell(source.content)});
  }
  return table.empty() ? "<p class=\"missing\">No measurement files were given or found.</p>\n" : table.html();
}

}  // namespace

void add_methods(Page& page, const Contents& contents) {
  page.section("methods", "Measurement methods", std::string(kMethods) + quality(contents) + sources(contents));
}

}  // namespace convlab
