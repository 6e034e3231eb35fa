// Creates a class folder.

#include "convlab/classroom/create.h"

#include "convlab/base/file.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/pack.h"
#include "convlab/classroom/secrets.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

void write_assignment(const Folder& folder, const AssignmentSettings& assignment) {
  const Pack pack = load_pack(assignment.pack);
  const fs::path place = folder.public_files() / assignment.name;
  fs::create_directories(place);
  write_file(place / "README.md", read_file(pack.text));
  write_file(place / pack.file, read_file(pack.template_file));
  std::string shapes = "# The layers in order. Use this file with 'convlab verify --shapes'.\n";
  for (ConvProblem each : pack.layers) {
    each.n = assignment.images;
    shapes += to_text(each) + "\n";
  }
  write_file(place / "shapes.txt", shapes);
  write_secret(folder.secret(assignment.name), make_secret(pack.layers));
}

/// Makes the settings and public files readable for students, whatever the umask.
void open_to_students(const Folder& folder) {
  constexpr fs::perms kFile{0644}, kFolder{0755};
  fs::permissions(folder.settings(), kFile);
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(folder.public_files())) {
    fs::permissions(each.path(), each.is_directory() ? kFolder : kFile);
  }
}

}  // namespace

void create_class(const fs::path& root, const Settings& settings) {
  const std::string text = settings_text(settings);
  parse_settings(text, "class.toml");
  for (const AssignmentSettings& each : settings.assignments) load_pack(each.pack);
  Folder::create(root);
  write_file(root / "class.toml", text);
  const Folder folder(root);
  write_secret(folder.class_secret(), {.seed = entropy()});
  for (const AssignmentSettings& each : settings.assignments) write_assignment(folder, each);
  // SQLite creates its other files with the same permissions.
  write_file(folder.database(), "");
  fs::permissions(folder.database(), fs::perms::owner_read | fs::perms::owner_write);
  open_to_students(folder);
  Store store(folder.database());
  publish(folder, settings, store, {});
}

}  // namespace convlab::classroom
