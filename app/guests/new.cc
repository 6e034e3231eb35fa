// convlab new: a kernel file to begin with.

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "app/command.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/resources.h"

namespace convlab::app {
namespace {

struct Template {
  std::string_view kind, file;
};
constexpr std::array kTemplates{Template{"own", "own.cu"}, Template{"mxnet", "mxnet.cuh"},
                                Template{"minidnn", "minidnn.cu"}, Template{"function", "function.cu"}};

struct NewOptions {
  std::string kind, output;
};

void write_template(const NewOptions& options, Output& output) {
  const auto chosen = std::ranges::find(kTemplates, options.kind, &Template::kind);
  const std::filesystem::path path = options.output.empty() ? std::string(chosen->file) : options.output;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    throw bad_input("{}: is there already; remove it, or give another -o FILE", path.string());
  }
  write_file(path, read_file(find_resource(std::filesystem::path("convlab/kernel_file/templates") / chosen->file)));
  output.print("{}: a kernel of kind {}; try 'convlab verify {}'\n", path.string(), options.kind, path.string());
}

}  // namespace

Action declare_new(CLI::App& options) {
  auto chosen = std::make_shared<NewOptions>();
  std::vector<std::string> kinds;
  for (const Template& each : kTemplates) kinds.emplace_back(each.kind);
  require(add_choice(options, "KIND", chosen->kind, kinds,
                     "own: what convlab's ladder is made of; mxnet, minidnn: the course's new-forward.cuh and "
                     "new-forward.cu; function: void convolve(x, w, y, shape...)"));
  add_text(options, "-o,--output", chosen->output, "FILE", "where to (default: the kind's name here)");
  return [chosen](Output& output) { write_template(*chosen, output); };
}

}  // namespace convlab::app
