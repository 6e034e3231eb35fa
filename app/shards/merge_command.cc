// convlab merge: merges the Records of all shares of a run.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/results/course_lines.h"
#include "app/results/output.h"
#include "app/shards/joined.h"
#include "app/shards/merged.h"

namespace convlab::app {
Action declare_merge(CLI::App& parser) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto expect = std::make_shared<double>(0);
  auto rows = std::make_shared<std::string>();
  require(add_texts(parser, "RESULT.json", *files, 1, kAnyNumber, "",
                    "--json files of all shares of one 'convlab run' or 'convlab infer'"));
  add_text(parser, "--output", *rows, "Y.npy", "also merge the shares' outputs, in the order of the images");
  add_real(parser, "--expect", *expect, 0, 1, "exit with status 1 if the accuracy of all images is below X");
  return [files, rows, expect](Output& output) {
    std::vector<Part> parts;
    for (const std::string& file : *files) parts.push_back(read_part(file));
    require_one_work(parts);
    if (!rows->empty()) {
      require_writable("--output", *rows);
      join_outputs(parts, *rows);
    }
    const double accuracy = write_merged(parts, output).value_or(1);
    require_accuracy(accuracy, fmt::format("{} images", parts.front().of), *expect);
  };
}

}  // namespace convlab::app
