// convlab new: writes a kernel file to start from.

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
  std::string_view name, file, kind;
};
constexpr std::array kTemplates{Template{"own", "own.cu", "own"}, Template{"mxnet", "mxnet.cuh", "mxnet"},
                                Template{"minidnn", "minidnn.cu", "minidnn"},
                                Template{"streams", "streams.cu", "minidnn"},
                                Template{"function", "function.cu", "function"}};

struct NewOptions {
  std::string name, output;
};

void write_template(const NewOptions& options, Output& output) {
  const auto chosen = std::ranges::find(kTemplates, options.name, &Template::name);
  const std::filesystem::path path = options.output.empty() ? std::string(chosen->file) : options.output;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    throw bad_input("{} already exists; delete it or use another -o FILE", path.string());
  }
  write_file(path, read_file(find_resource(std::filesystem::path("convlab/kernel_file/templates") / chosen->file)));
  output.print("{}: kernel of kind {}; try 'convlab verify {}'\n", path.string(), chosen->kind, path.string());
}

}  // namespace

Action declare_new(CLI::App& options) {
  auto chosen = std::make_shared<NewOptions>();
  std::vector<std::string> names;
  for (const Template& each : kTemplates) names.emplace_back(each.name);
  require(add_choice(options, "KIND", chosen->name, names,
                     "own: as in convlab's ladder; mxnet, minidnn: the course's new-forward.cuh and new-forward.cu; "
                     "streams: new-forward.cu with overlapping copies and kernels; function: void convolve(x, w, y, "
                     "shape...)"));
  add_text(options, "-o,--output", chosen->output, "FILE",
           "file to write (default: own.cu, mxnet.cuh, minidnn.cu, streams.cu or function.cu)");
  return [chosen](Output& output) { write_template(*chosen, output); };
}

}  // namespace convlab::app
