// Tests sharded runs and convlab merge. The tests set the environment variables of launchers;
// tests/tools/shards_by_launcher.sh runs mpirun and srun themselves.

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "app/shards/shard.h"
#include "convlab/tensor/npy.h"
#include "tests/support/onnx_model.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/small_data.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using app::launched_shard;
using app::parse_shard;
using app::Shard;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

TEST(Shard, SharesTakeEachImageOnceAndDifferByOneAtMost) {
  for (const int64_t images : {0L, 1L, 3L, 10L, 1003L, 1'000'000L, app::kMostShardedImages}) {
    for (const int64_t count : {1L, 2L, 3L, 7L, 64L, 1000L}) {
      int64_t next = 0;
      for (int64_t index = 0; index < count; ++index) {
        const Shard shard{.index = index, .count = count};
        EXPECT_EQ(shard.first(images), next);
        EXPECT_GE(shard.images(images), images / count);
        EXPECT_LE(shard.images(images), images / count + 1);
        next += shard.images(images);
      }
      EXPECT_EQ(next, images);
    }
  }
  const Shard last{.index = app::kMostShards - 1, .count = app::kMostShards};
  EXPECT_EQ(last.first(app::kMostShardedImages) + last.images(app::kMostShardedImages), app::kMostShardedImages);
}

TEST(Shard, IsSaidAsIOfN) {
  EXPECT_EQ(parse_shard("2/4", "--shard").index, 2);
  EXPECT_EQ(parse_shard("2/4", "--shard").count, 4);
  EXPECT_TRUE(parse_shard("0/1", "--shard").whole());
  EXPECT_THAT(bad_input_message([] { parse_shard("4/4", "--shard"); }),
              AllOf(HasSubstr("--shard 4/4"), HasSubstr("from 0/4 to 3/4")));
  for (const char* text : {"", "1", "1/", "/4", "1/2/3", "-1/4", "0/0", "a/b", "1.5/4", "0/9999999999999999999"}) {
    EXPECT_THAT(bad_input_message([&] { parse_shard(text, "--shard"); }), HasSubstr("--shard")) << text;
  }
}

Shard launched_with(const std::map<std::string, std::string>& variables) {
  return launched_shard([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Shard, IsTheOneThatALauncherGives) {
  const Shard slurm = launched_with({{"SLURM_PROCID", "3"},
                                     {"SLURM_STEP_NUM_TASKS", "4"},
                                     {"SLURM_LOCALID", "1"},
                                     {"SLURM_JOB_ID", "17"},
                                     {"SLURM_STEP_ID", "2"}});
  EXPECT_EQ(slurm.index, 3);
  EXPECT_EQ(slurm.count, 4);
  EXPECT_EQ(slurm.local_index, 1);
  EXPECT_EQ(slurm.launch, "srun 17 2");
  EXPECT_TRUE(slurm.launched());
  const Shard open_mpi = launched_with({{"OMPI_COMM_WORLD_RANK", "0"},
                                        {"OMPI_COMM_WORLD_SIZE", "2"},
                                        {"PMIX_NAMESPACE", "99"},
                                        {"SLURM_PROCID", "0"},
                                        {"SLURM_STEP_NUM_TASKS", "8"}});
  EXPECT_EQ(open_mpi.count, 2) << "mpirun in a step of srun's";
  EXPECT_EQ(open_mpi.launch, "mpirun 99");
  EXPECT_EQ(launched_with({{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}, {"MPI_LOCALRANKID", "1"}}).index, 5);
  const Shard batch_script = launched_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}});
  EXPECT_TRUE(batch_script.whole() && !batch_script.launched());
  EXPECT_FALSE(launched_with({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}).launched());
  EXPECT_THAT(bad_input_message([] {
                launched_with({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}});
              }),
              AllOf(HasSubstr("PMI_RANK is 4"), HasSubstr("--shard")));
  EXPECT_THAT(bad_input_message([] {
                launched_with({{"PMI_RANK", "1"}});
              }),
              AllOf(HasSubstr("PMI_SIZE is not"), HasSubstr("--shard")));
  EXPECT_EQ(launched_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}).launch, "mpiexec") << "the same on all hosts";
  EXPECT_THAT(bad_input_message([] { launched_with({{"PMI_RANK", "x"}, {"PMI_SIZE", "4"}}); }), HasSubstr("PMI_RANK"));
}

/// Sets an environment variable for the lifetime of the object, so that processes started meanwhile inherit it.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class Shares : public testing::Test {
 protected:
  static constexpr int kImages = 103, kShares = 4;

  void SetUp() override { write_small_data(folder_.path(), kImages); }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  json read(const std::string& name) const { return json::parse(read_text(path(name))); }
  void write(const std::string& name, const json& record) const { write_file(path(name), record.dump()); }
  static std::string of(int index) { return std::to_string(index) + "-of-" + std::to_string(kShares); }

  ProgramRun run(std::vector<std::string> options, const std::string& model = "fa17-low") const {
    std::vector<std::string> arguments{"run", model, "--device", "cpu", "--data", folder_.path().string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(std::move(arguments));
  }

  /// Computes each shard and writes r.0-of-4.json and so on.
  void run_shares() const {
    for (int index = 0; index < kShares; ++index) {
      const ProgramRun share =
          run({"--shard", std::to_string(index) + "/4", "--json", path("r." + of(index) + ".json")});
      ASSERT_EQ(share.status, 0) << share.complaint;
    }
  }

  /// Runs one of the four processes of a launcher's job, with --json all.json.
  ProgramRun run_launched(int index, const std::string& launch, std::vector<std::string> options = {}) const {
    const Variable rank("OMPI_COMM_WORLD_RANK", std::to_string(index)), size("OMPI_COMM_WORLD_SIZE", "4"),
        name("PMIX_NAMESPACE", launch);
    options.insert(options.end(), {"--json", path("all.json")});
    return run(std::move(options));
  }

  ProgramRun merge(const std::vector<std::string>& names, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "merge");
    for (const std::string& name : names) options.insert(options.begin() + 1, path(name));
    return run_program(std::move(options));
  }

  void expect_refused(const std::vector<std::string>& names, const testing::Matcher<std::string>& complaint) const {
    const ProgramRun merged = merge(names, {"--json", path("never.json")});
    EXPECT_EQ(merged.status, 2) << merged.output;
    EXPECT_THAT(merged.complaint, complaint);
    EXPECT_FALSE(fs::exists(path("never.json")));
  }

  TemporaryFolder folder_;
  const std::vector<std::string> records_{"r.0-of-4.json", "r.1-of-4.json", "r.2-of-4.json", "r.3-of-4.json"};
};

TEST_F(Shares, MergedHaveTheCountsOfOneRun) {
  run_shares();
  ASSERT_EQ(run({"--json", path("one.json")}).status, 0);
  const ProgramRun merged = merge(records_, {"--json", path("merged.json")});
  ASSERT_EQ(merged.status, 0) << merged.complaint;
  const json one = read("one.json"), all = read("merged.json");
  for (const char* name : {"model", "images", "right", "accuracy", "labels", "device", "math", "plan"}) {
    EXPECT_EQ(all[name], one[name]) << name;
  }
  ASSERT_EQ(all["shares"].size(), 4U);
  EXPECT_EQ(all["shares"][3]["first"], 77);
  EXPECT_EQ(all["shares"][3]["images"], 26);
  EXPECT_EQ(all["shares"][3]["device"], one["devices"][0]["name"]);
  EXPECT_THAT(merged.output, HasSubstr(std::to_string(one["right"].get<int>()) + " of 103 images are correct"));
}

TEST_F(Shares, OfCopiesAreTheSameImages) {
  for (const char* share : {"0/2", "1/2"}) {
    const std::string name = std::string("c") + share[0] + ".json";
    ASSERT_EQ(run({"-n", "7", "--copies", "3", "--shard", share, "--json", path(name)}).status, 0);
  }
  ASSERT_EQ(run({"-n", "7", "--copies", "3", "--json", path("one.json")}).status, 0);
  ASSERT_EQ(merge({"c1.json", "c0.json"}, {"--json", path("merged.json")}).status, 0);
  EXPECT_EQ(read("merged.json")["labels"], read("one.json")["labels"]);
}

TEST_F(Shares, ThatDoNotFitAreRefused) {
  run_shares();
  expect_refused({"r.0-of-4.json", "r.2-of-4.json"}, AllOf(HasSubstr("1/4"), HasSubstr("3/4")));
  fs::copy_file(path("r.1-of-4.json"), path("again.json"));
  expect_refused({"r.0-of-4.json", "r.1-of-4.json", "again.json", "r.2-of-4.json", "r.3-of-4.json"},
                 AllOf(HasSubstr("again.json"), HasSubstr("r.1-of-4.json"), HasSubstr("1/4")));
  const auto with = [&](const std::string& name) {
    std::vector<std::string> names = records_;
    names[3] = name;
    return names;
  };
  ASSERT_EQ(run({"--shard", "3/4", "-n", "50", "--json", path("fewer.json")}).status, 0);
  expect_refused(with("fewer.json"), HasSubstr("fewer.json"));
  ASSERT_EQ(run({"--shard", "3/5", "--json", path("of5.json")}).status, 0);
  expect_refused(with("of5.json"), AllOf(HasSubstr("of5.json"), HasSubstr("'5'")));
  ASSERT_EQ(run({"--shard", "3/4", "--plan", "layers", "--json", path("plan.json")}).status, 0);
  expect_refused(with("plan.json"), AllOf(HasSubstr("plan.json"), HasSubstr("layers")));
  ASSERT_EQ(run({"--shard", "3/4", "--json", path("model.json")}, "fa17-high").status, 0);
  expect_refused(with("model.json"), AllOf(HasSubstr("model.json"), HasSubstr("fa17-high")));

  const std::string text = read_text(path("r.3-of-4.json"));
  write_file(path("cut.json"), text.substr(0, text.size() / 2));
  expect_refused(with("cut.json"), HasSubstr("cut.json"));
  ASSERT_EQ(run({"--json", path("one.json")}).status, 0);
  expect_refused(with("one.json"), AllOf(HasSubstr("one.json"), HasSubstr("--shard")));
  expect_refused(with("nowhere.json"), HasSubstr("nowhere.json"));
}

TEST_F(Shares, ThatSomebodyHasChangedAreRefused) {
  run_shares();
  const json record = read("r.3-of-4.json");
  const auto refused = [&](const json& changed, const std::string& what) {
    write("changed.json", changed);
    expect_refused({"r.0-of-4.json", "r.1-of-4.json", "r.2-of-4.json", "changed.json"},
                   AllOf(HasSubstr("changed.json"), HasSubstr(what)));
  };
  for (const char* name : {"model", "device", "math", "plan", "right", "images", "labels"}) {
    json changed = record;
    changed.erase(name);
    refused(changed, name);
    changed[name] = json::array({json::object()});
    refused(changed, "");
  }
  json changed = record;
  changed["right"] = 1000;
  refused(changed, "right");
  changed["right"] = -1;
  refused(changed, "right");
  for (const char* name : {"index", "count", "first", "images", "of"}) {
    changed = record;
    changed["shard"][name] = -1;
    refused(changed, "");
  }
  changed = record;
  changed["shard"] = 3;
  refused(changed, "shard");
}

TEST_F(Shares, OfALaunchMakeTheRecordOfAllWhenTheLastOneIsDone) {
  ASSERT_EQ(run({"--json", path("one.json")}).status, 0);
  for (const int index : {2, 0, 3, 1}) {
    EXPECT_FALSE(fs::exists(path("all.json"))) << index;
    const ProgramRun share = run_launched(index, "first");
    ASSERT_EQ(share.status, 0) << share.complaint;
    EXPECT_EQ(share.output.find("New Inference") != std::string::npos, index == 0);
    EXPECT_TRUE(fs::exists(path("all." + of(index) + ".json")));
  }
  const json all = read("all.json");
  EXPECT_EQ(all["labels"], read("one.json")["labels"]);
  EXPECT_EQ(all["launch"], "mpirun first");
}

TEST_F(Shares, OfAnEarlierLaunchAreNotTaken) {
  for (const int index : {0, 1, 2}) ASSERT_EQ(run_launched(index, "first").status, 0);
  ASSERT_EQ(run_launched(3, "second").status, 0);
  EXPECT_FALSE(fs::exists(path("all.json")));
  const ProgramRun merged =
      merge({"all.0-of-4.json", "all.1-of-4.json", "all.2-of-4.json", "all.3-of-4.json"}, {"--json", path("m.json")});
  EXPECT_EQ(merged.status, 2);
  EXPECT_THAT(merged.complaint, AllOf(HasSubstr("first"), HasSubstr("second")));
}

TEST_F(Shares, ThatAreThereAreNotComputedAgain) {
  ASSERT_EQ(run({"--json", path("one.json")}).status, 0);
  for (const int index : {0, 1, 3}) ASSERT_EQ(run_launched(index, "killed").status, 0);
  for (const int index : {0, 1, 2, 3}) {
    const ProgramRun share = run_launched(index, "again", {"--resume"});
    ASSERT_EQ(share.status, 0) << share.complaint;
    EXPECT_EQ(share.complaint.find("is already computed") != std::string::npos, index != 2) << share.complaint;
  }
  EXPECT_EQ(read("all.json")["labels"], read("one.json")["labels"]);
  // Shards of a different run are computed again.
  const ProgramRun other = run_launched(0, "other", {"--resume", "--plan", "layers"});
  EXPECT_EQ(other.complaint.find("is already computed"), std::string::npos);
}

TEST_F(Shares, OfAnotherModelOfTheSameNameAreNotResumed) {
  fs::copy_file(source_folder() / "models/fa17-low.onnx", path("net.onnx"));
  const std::vector<std::string> options{"--shard", "0/4", "--json", path("p.json"), "--resume"};
  ASSERT_EQ(run(options, path("net.onnx")).status, 0);
  EXPECT_THAT(run(options, path("net.onnx")).complaint, HasSubstr("is already computed"));
  fs::copy_file(source_folder() / "models/fa17-high.onnx", path("net.onnx"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(run(options, path("net.onnx")).complaint.find("is already computed"), std::string::npos);
}

TEST_F(Shares, AreExpectedToBeRightTogether) {
  const double accuracy = [&] {
    EXPECT_EQ(run({"--json", path("one.json")}).status, 0);
    return read("one.json")["accuracy"].get<double>();
  }();
  const std::string less = std::to_string(accuracy / 2), more = std::to_string(accuracy * 1.5);
  for (const int index : {0, 1, 2}) EXPECT_EQ(run_launched(index, "a", {"--expect", "1"}).status, 0);
  EXPECT_EQ(run_launched(3, "a", {"--expect", less}).status, 0);
  const ProgramRun wrong = run_launched(3, "a", {"--expect", more});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.complaint, HasSubstr("--expect"));
  EXPECT_EQ(run_launched(3, "a", {"--expect", more, "--resume"}).status, 1);
  const std::vector<std::string> all{"all.0-of-4.json", "all.1-of-4.json", "all.2-of-4.json", "all.3-of-4.json"};
  EXPECT_EQ(merge(all, {"--expect", less}).status, 0);
  EXPECT_EQ(merge(all, {"--expect", more}).status, 1);
}

TEST_F(Shares, ThatLaunchersGiveAreTurnedOffByTheOption) {
  ASSERT_EQ(run_launched(2, "any", {"--shard", "0/1"}).status, 0);
  EXPECT_EQ(read("all.json")["images"], kImages);
}

TEST_F(Shares, AreNotWhatAReportIsMadeFrom) {
  run_shares();
  ASSERT_EQ(merge(records_, {"--json", path("merged.json")}).status, 0);
  for (const char* name : {"r.1-of-4.json", "merged.json"}) {
    const ProgramRun report = run_program({"report", "--from", path(name), "-o", path("report.html")});
    EXPECT_EQ(report.status, 2);
    EXPECT_THAT(report.complaint, AllOf(HasSubstr(name), HasSubstr("several processes")));
  }
}

TEST_F(Shares, MoreThanThereAreImagesAreAnError) {
  const ProgramRun share = run({"-n", "3", "--shard", "0/4"});
  EXPECT_EQ(share.status, 2);
  EXPECT_THAT(share.complaint, AllOf(HasSubstr("0/4"), HasSubstr("3 images")));
}

TEST_F(Shares, OfALaunchWantAFile) {
  const Variable rank("OMPI_COMM_WORLD_RANK", "0"), size("OMPI_COMM_WORLD_SIZE", "4");
  const ProgramRun share = run({"--json", "-"});
  EXPECT_EQ(share.status, 2);
  EXPECT_THAT(share.complaint, HasSubstr("--json -"));
}

std::vector<float> random_floats(size_t count) {
  Rng rng(1);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.integer(-100, 100)) / 100;
  return values;
}

class InferredShares : public Shares, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    write_file(path("net.onnx"), OnnxModel(13)
                                     .input("x", {-1, 1, 8, 8})
                                     .output("y")
                                     .initializer("w", OnnxModel::floats({3, 1, 5, 5}, random_floats(75)))
                                     .node("Conv", {"x", "w"}, {"c"})
                                     .node("GlobalAveragePool", {"c"}, {"m"})
                                     .node("Flatten", {"m"}, {"y"})
                                     .bytes());
    Tensor x(ElementType::f32, {kImages, 1, 8, 8});
    std::ranges::copy(random_floats(kImages * 64), x.values<float>().begin());
    write_file(path("x.npy"), to_npy(x));
  }

  ProgramRun infer(std::vector<std::string> options) const {
    options.insert(options.begin(), {"infer", path("net.onnx"), "--device", "cpu", "--input", path("x.npy")});
    if (GetParam()) options.emplace_back("--stream");
    return run_program(std::move(options));
  }
};

TEST_P(InferredShares, MergedAreTheRowsOfOneRun) {
  ASSERT_EQ(infer({"--output", path("one.npy")}).status, 0);
  for (int index = 0; index < kShares; ++index) {
    const ProgramRun share = infer({"--shard", std::to_string(index) + "/4", "--output",
                                    path("y." + of(index) + ".npy"), "--json", path("r." + of(index) + ".json")});
    ASSERT_EQ(share.status, 0) << share.complaint;
  }
  const ProgramRun merged = merge(records_, {"--json", path("merged.json"), "--output", path("y.npy")});
  ASSERT_EQ(merged.status, 0) << merged.complaint;
  EXPECT_EQ(read("merged.json")["images"], kImages);
  EXPECT_EQ(read_file(path("y.npy")), read_file(path("one.npy")));

  fs::resize_file(path("y.2-of-4.npy"), fs::file_size(path("y.2-of-4.npy")) - 1);
  const ProgramRun cut = merge(records_, {"--output", path("z.npy")});
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.complaint, HasSubstr("y.2-of-4.npy"));
  EXPECT_FALSE(fs::exists(path("z.npy")));
}

TEST_P(InferredShares, OfALaunchHaveFilesOfTheirOwn) {
  ASSERT_EQ(infer({"--output", path("one.npy")}).status, 0);
  for (int index = 0; index < kShares; ++index) {
    const Variable rank("PMI_RANK", std::to_string(index)), size("PMI_SIZE", "4"), job("PMI_JOBID", "1");
    const ProgramRun share = infer({"--output", path("y.npy"), "--json", path("r.json")});
    ASSERT_EQ(share.status, 0) << share.complaint;
    EXPECT_TRUE(fs::exists(path("y." + of(index) + ".npy")));
  }
  EXPECT_EQ(read("r.json")["images"], kImages);
  ASSERT_EQ(merge(records_, {"--output", path("y.npy")}).status, 0);
  EXPECT_EQ(read_file(path("y.npy")), read_file(path("one.npy")));
}

INSTANTIATE_TEST_SUITE_P(All, InferredShares, testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "Streamed" : "AtOnce"; });

}  // namespace
}  // namespace convlab
