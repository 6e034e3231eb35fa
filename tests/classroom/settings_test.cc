// Tests class.toml, assignment packs, secrets and the folder of a new class.

#include "convlab/classroom/class_settings.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <set>

#include "convlab/classroom/create.h"
#include "convlab/classroom/pack.h"
#include "convlab/classroom/secrets.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab::classroom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Settings parse(const std::string& text) { return parse_settings(text, "class.toml"); }

std::string wrong(const std::string& text) {
  return bad_input_message([&] { parse(text); });
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST(Settings, SayWhatTheirTextSays) {
  const Settings settings = parse(
      "name = \"A class\"\naliases = false\ntrust = \"students\"\nper_hour = 7\n"
      "[[assignment]]\npack = \"fa19\"\nname = \"first\"\ndevice = \"cuda:1\"\ndeadline = 2026-12-01T23:59:00+01:00\n"
      "[assignment.limits]\ncompile_s = 5\nmemory_mib = 512\n"
      "[assignment.points]\nformula = \"linear\"\nfull = 0.25\nzero = 1\nmost = 80\n"
      "[[assignment]]\npack = \"sp25\"\n");
  EXPECT_FALSE(settings.aliases);
  EXPECT_EQ(settings.trust, judge::Trust::students);
  ASSERT_EQ(settings.assignments.size(), 2u);
  const AssignmentSettings& first = settings.assignment("first");
  EXPECT_EQ(first.deadline_s, 1796165940);
  EXPECT_EQ(first.images, 1000);
  EXPECT_EQ(first.limits.memory_bytes, 512 << 20);
  EXPECT_EQ(first.points.formula, Formula::linear);
  EXPECT_EQ(first.limits.verify_s, 60) << "a GPU";
  EXPECT_EQ(settings.assignment("sp25").images, 2) << "simt";
  EXPECT_EQ(settings.assignment("sp25").limits.verify_s, 300);
  EXPECT_THAT(bad_input_message([&] { settings.assignment(""); }), HasSubstr("first, sp25"));
}

TEST(Settings, ComeBackFromTheirText) {
  Settings settings{.name = "quotes \" and \\"};
  settings.assignments = {{.name = "a", .pack = "fa19", .deadline_s = 1796165940, .device = "cuda", .images = 10},
                          {.name = "b", .pack = "sp25", .images = 2}};
  settings.assignments[0].points = {.formula = Formula::deviations, .full = 1, .zero = -2};
  const Settings back = parse(settings_text(settings));
  EXPECT_EQ(settings_text(back), settings_text(settings));
  EXPECT_EQ(back.name, settings.name);
  EXPECT_EQ(back.assignments[0].deadline_s, 1796165940);
}

TEST(Settings, ThatMakeNoSenseAreErrorsWithLineAndKey) {
  const std::string begin = "[[assignment]]\npack = \"fa19\"\n";
  EXPECT_THAT(wrong(begin + "deadlin = 3\n"), AllOf(HasSubstr("class.toml:3: deadlin:"), HasSubstr("'deadline'")));
  EXPECT_THAT(wrong(begin + "deadline = \"tomorrow\"\n"), HasSubstr("class.toml:3: deadline: must be a date"));
  EXPECT_THAT(wrong(begin + "device = \"tpu\"\n"),
              HasSubstr("class.toml:3: device: expected cpu, simt, cuda or cuda:N, got 'tpu'"));
  EXPECT_THAT(wrong(begin + "images = 0\n"), HasSubstr("class.toml:3: images: must be between 1 and 1000000, got 0"));
  EXPECT_THAT(wrong("per_hour = 1.5\n" + begin), HasSubstr("class.toml:1: per_hour: must be an integer"));
  EXPECT_THAT(wrong(begin + "[assignment.limits]\ncompile_s = -1\n"), HasSubstr("class.toml:4: compile_s"));
  EXPECT_THAT(wrong(begin + "[assignment.points]\nformula = \"linear\"\n"), HasSubstr("class.toml:4: formula"));
  EXPECT_THAT(wrong(begin + "name = \"../x\"\n"), HasSubstr("class.toml:3: name"));
  EXPECT_THAT(wrong(begin + begin), HasSubstr("duplicate assignment name 'fa19'"));
  EXPECT_THAT(wrong("name = \"x\"\n"), HasSubstr("[[assignment]]"));
  EXPECT_THAT(wrong("name = \"x\nper_hour = 3\n"), HasSubstr("class.toml:1"));
  EXPECT_FALSE(wrong("a = [[[[[[").empty());
}

TEST(Packs, AllLoad) {
  EXPECT_THAT(pack_names(), ElementsAre("fa17", "fa18", "fa19", "sp19", "sp25"));
  for (const std::string& name : pack_names()) {
    const Pack pack = load_pack(name);
    EXPECT_FALSE(pack.title.empty());
    EXPECT_FALSE(pack.layers.empty());
    EXPECT_TRUE(std::filesystem::exists(pack.template_file));
    EXPECT_GT(text_of(pack.text).size(), 500u) << name;
  }
  EXPECT_THAT(bad_input_message([] { load_pack("fa91"); }), AllOf(HasSubstr("fa19"), HasSubstr("did you mean")));
}

TEST(Secrets, AreDrawnAnewAndNotLargerThanTheLayers) {
  EXPECT_NE(entropy(), entropy());
  const Pack pack = load_pack("fa19");
  std::set<std::string> texts;
  for (int i = 0; i < 200; ++i) {
    const Secret secret = make_secret(pack.layers);
    EXPECT_EQ(secret.seed, 0u) << "nothing that a jail sees derives from a secret's seed";
    EXPECT_GT(std::ranges::max(secret.shapes, {}, &ConvProblem::n).n, 32)
        << "of more images than kernels take together";
    for (size_t j = 0; j < secret.shapes.size(); ++j) {
      const ConvProblem &shape = secret.shapes[j], &layer = pack.layers[j % pack.layers.size()];
      validate(shape);
      EXPECT_TRUE(shape.c <= layer.c && shape.k <= layer.k && shape.h <= layer.h && shape.w <= layer.w);
      EXPECT_NE(shape.h, shape.w) << "a kernel that takes one for the other is wrong";
      EXPECT_TRUE(shape.r == layer.r && shape.s == layer.s) << "templates on the filter's size are right";
      texts.insert(to_text(shape));
    }
  }
  EXPECT_GT(texts.size(), 500u);
}

TEST(NewClass, HasWhatItsUsersNeedAndNoMore) {
  const TemporaryFolder temporary;
  const std::filesystem::path root = temporary.path() / "class";
  const mode_t before = ::umask(077);
  create_class(root, {.name = "x", .assignments = {{.name = "fa19", .pack = "fa19", .images = 2}}});
  ::umask(before);
  EXPECT_EQ(mode_of(root / "secret"), 0700u);
  EXPECT_EQ(mode_of(root / "spool"), 03733u);
  EXPECT_EQ(mode_of(root / "answers"), 0711u);
  EXPECT_EQ(mode_of(root / "secret/fa19.json"), 0600u);
  EXPECT_EQ(mode_of(root / "class.db"), 0600u);
  EXPECT_EQ(mode_of(root / "class.toml"), 0644u);
  EXPECT_EQ(mode_of(root / "public/fa19/new-forward.cuh"), 0644u);
  EXPECT_THAT(text_of(root / "public/fa19/shapes.txt"), HasSubstr("n2_c12h33w33_k24r5s5"));
  EXPECT_THAT(text_of(root / "public/queue.json"), HasSubstr("\"next\":1"));
  const Folder folder(root);
  const Settings settings = read_settings(folder);
  const judge::Assignment assignment = assignment_of(folder, settings, settings.assignment(""));
  EXPECT_EQ(assignment.layers.size(), 2u);
  EXPECT_EQ(assignment.layers[0].n, 2);
  EXPECT_EQ(assignment.secret.size(), 4u);
  EXPECT_THAT(bad_input_message([&] { create_class(root, settings); }), HasSubstr("not empty"));
}

TEST(NewClass, OfSettingsThatMakeNoSenseLeavesNothing) {
  const TemporaryFolder temporary;
  const std::filesystem::path root = temporary.path() / "class";
  bad_input_message([&] { create_class(root, {.assignments = {{.name = "a", .pack = "fa91", .images = 1}}}); });
  EXPECT_FALSE(std::filesystem::exists(root));
  EXPECT_THAT(bad_input_message([&] { Folder{temporary.path()}; }), HasSubstr("class.toml"));
}

}  // namespace
}  // namespace convlab::classroom
