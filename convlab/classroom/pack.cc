// Loads the assignments that are shipped in classes/.

#include "convlab/classroom/pack.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/base/semester.h"
#include "convlab/base/text.h"
#include "convlab/classroom/storage/toml_table.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "classes";

}  // namespace

std::vector<std::string> pack_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& each : fs::directory_iterator(find_resource(kFolder))) {
    if (fs::exists(each.path() / "pack.toml")) names.push_back(each.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Pack load_pack(const std::string& name) {
  const std::vector<std::string> names = pack_names();
  if (std::ranges::find(names, name) == names.end()) {
    std::string hint = semester_hint(name, names);
    if (hint.empty()) hint = did_you_mean(name, names);
    throw bad_input("unknown assignment '{}'{}; available: {}", printable(name), hint, fmt::join(names, ", "));
  }
  const fs::path folder = find_resource(kFolder) / name;
  const TomlTable from = TomlTable::read_file(folder / "pack.toml");
  from.require_only({"title", "layers", "template", "file", "reference", "reference_on_cpu", "libraries_allowed"});
  Pack pack{.name = name, .text = folder / "README.md"};
  from.read("title", pack.title);
  from.read("file", pack.file);
  from.read("reference", pack.reference);
  from.read("reference_on_cpu", pack.reference_on_cpu);
  from.read("libraries_allowed", pack.libraries_allowed);
  std::vector<std::string> layers;
  from.read("layers", layers);
  for (const std::string& each : layers) pack.layers.push_back(parse_problem(each));
  std::string kernel_template;
  from.read("template", kernel_template);
  pack.template_file = find_resource(fs::path("convlab/kernel_file/templates") / kernel_template);
  return pack;
}

}  // namespace convlab::classroom
