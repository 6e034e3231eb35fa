// How each figure was measured, and which file it comes from.

#include <fmt/format.h>

#include <algorithm>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

constexpr std::string_view kMethods =
    "<dl>\n"
    "<dt>Op Time</dt><dd>The host's clock around one convolution alone, the device waited for before and after: the "
    "course's measure. In tables of kernels it is the median of repeated launches with caches hot.</dd>\n"
    "<dt>Prolog to epilog</dt><dd>Of a kernel file in three phases: the host's clock from the begin of the first to "
    "the "
    "end of the last, from arrays of the host to arrays of the host, wherever the file computes. Its Op Time is that "
    "of the second phase alone.</dd>\n"
    "<dt>The device's own time</dt><dd>Events on the GPU around each launch, the clock on a CPU; median after a "
    "warm-up, repeated until the median is known well enough or time is up. Each sample is in the Record.</dd>\n"
    "<dt>Gain</dt><dd>The ratio of two medians. Hovering shows the interval that follows from the 95 % confidence "
    "intervals of both; where it contains 1, a question mark says that the difference may be chance.</dd>\n"
    "<dt>Bound</dt><dd>The least time that the machine could take: the larger of the operations of the direct method "
    "over its best rate of multiply-adds, and of input, filters and output, moved once each, over its best rate of "
    "copying. Both rates were measured on the machine itself; “bound by” names the larger time. A method with fewer "
    "operations (Winograd, FFT, folding) is held to the direct method's bound.</dd>\n"
    "<dt>GFLOP/s</dt><dd>Operations of the direct method, a multiplication and an addition each counted, over the "
    "time.</dd>\n"
    "<dt>Roofline</dt><dd>Operations per compulsory byte across, GFLOP/s up; the roofs are the measured rates. All "
    "kernels of a layer stand in one column, since what is compulsory does not depend on the kernel.</dd>\n"
    "<dt>Utilisation</dt><dd>Hardware counters, read through CUPTI in runs of their own, in which each kernel is "
    "repeated: as shares of what the chip can sustain, by the same names as NVIDIA's tools have. Occupancy is the "
    "share of the warps that a multiprocessor can hold that were active.</dd>\n"
    "<dt>Counts</dt><dd>Requests, sectors, wavefronts and flops, counted by simt, which executes CUDA kernels on the "
    "host and puts the threads together to warps: on the ladder's kernels the figures are those of a GPU's "
    "counters.</dd>\n"
    "<dt>Whole-program times</dt><dd>User and system time, elapsed time, and the most memory that was resident, as "
    "<code>/usr/bin/time</code> gives them, of a process from start to end. “Waited” is the share of "
    "their time that its threads waited for a CPU that others held.</dd>\n"
    "<dt>Accuracy, confusion, images, feature maps</dt><dd>Computed by convlab's engine on the CPU while this page was "
    "made, from the shipped network and the test images of Fashion-MNIST.</dd>\n"
    "</dl>\n";

std::string quality(const Contents& contents) {
  Table table("How well the medians are known",
              {"machine", "Records", "samples, fewest", "spread, median", "spread, worst"});
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
  Table table("Files and commands that this page was made from", {"file or command", "holds"});
  for (const Evidence::Source& source : contents.input.evidence.sources) {
    table.row(
        {{.html = fmt::format("<code>{}</code>", escaped(source.file)), .kind = "long"}, text_cell(source.content)});
  }
  return table.empty() ? "<p class=\"missing\">No file of measurements was given or found.</p>\n" : table.html();
}

}  // namespace

void add_methods(Page& page, const Contents& contents) {
  page.section("methods", "How each figure was measured",
               std::string(kMethods) + quality(contents) + sources(contents));
}

}  // namespace convlab
