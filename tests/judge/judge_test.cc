// Tests that correct submissions of all kinds pass, with complete judgments.

#include <gmock/gmock.h>

#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "convlab/base/entropy.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/process.h"
#include "convlab/judge/jail.h"
#include "convlab/judge/jail_program.h"
#include "convlab/judge/jailed_compiler.h"
#include "convlab/judge/judgement.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernels/registry.h"
#include "tests/support/paths.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path kRoot = source_folder();

Assignment some_assignment() {
  return {.name = "small",
          .layers = {parse_problem("n2_c1h20w20_k4r5s5"), parse_problem("n2_c4h16w16_k6r5s5")},
          .secret = {parse_problem("n3_c2h13w13_k5r3s3")}};
}

class Right : public testing::TestWithParam<std::filesystem::path> {};

/// Returns the arithmetic that the registered kernel of a file declares. Templates compute in fp32.
Math declared_math(const std::filesystem::path& file) {
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.file == file) return kernel.info.math;
  }
  return Math::fp32;
}

TEST_P(Right, SubmissionsPass) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  std::vector<Stage> entered;
  Assignment assignment = some_assignment();
  assignment.libraries_allowed = GetParam().stem() == "23_cublas_gemm";
  const Judgement judgement =
      judge_submission(kRoot / GetParam(), assignment, "simt", [&](Stage stage) { entered.push_back(stage); });
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
  EXPECT_EQ(judgement.failed_at, Stage::done);
  EXPECT_THAT(judgement.reason, IsEmpty());
  EXPECT_THAT(entered, ElementsAre(Stage::compiling, Stage::recording, Stage::verifying, Stage::done));
  EXPECT_EQ(judgement.stages.size(), 3u);
  EXPECT_FALSE(judgement.ratio.has_value());  // simt measures no times
  EXPECT_EQ(judgement.math, declared_math(GetParam())) << name_of(judgement.math);
  ASSERT_FALSE(judgement.counters.empty());
  EXPECT_EQ(judgement.counters.front().layer, "c1h20w20_k4r5s5");
  int64_t flops = 0;
  for (const KernelCountsSummary& each : judgement.counters) flops += each.flops;
  EXPECT_GT(flops, 0);
  for (const StageLog& stage : judgement.stages) std::printf("%s %.2f s\n", name_of(stage.stage).data(), stage.seconds);
}

std::vector<std::filesystem::path> templates() {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"own.cu", "mxnet.cuh", "minidnn.cu", "function.cu"}) {
    files.push_back(std::filesystem::path("convlab/kernel_file/templates") / name);
  }
  return files;
}

std::vector<std::filesystem::path> rungs() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = "convlab/kernels/ladder";
  const std::string declared = text_of(kRoot / folder / "CMakeLists.txt");
  for (const std::filesystem::path& each : files_under(kRoot / folder)) {
    const size_t at = declared.find("(" + each.string());
    if (each.extension() != ".cu" || at == std::string::npos) continue;
    if (declared.substr(at, declared.find(')', at) - at).find("GPU_ONLY") == std::string::npos)
      files.push_back(folder / each);
  }
  std::ranges::sort(files);
  return files;
}

std::string name_of_file(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Templates, Right, testing::ValuesIn(templates()), name_of_file);
INSTANTIATE_TEST_SUITE_P(Rungs, Right, testing::ValuesIn(rungs()), name_of_file);

/// Returns the judgment of a template, with a mistake in place of `from`.
Judgement judged_with_mistake(const std::string& from, const std::string& mistake,
                              const std::string& kernel_template = "function.cu") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "mine.cu";
  std::string text = text_of(kRoot / "convlab/kernel_file/templates" / kernel_template);
  EXPECT_NE(text.find(from), std::string::npos);
  text.replace(text.find(from), from.size(), mistake);
  std::ofstream(file) << text;
  return judge_submission(file, some_assignment(), "simt", nullptr);
}

TEST(Judge, ShowsTheSourceLinesOfAFault) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const std::string body = "  const int P = H - R + 1";
  const Judgement judgement =
      judged_with_mistake(body, "  __shared__ int tile[2][3];\n  tile[1][0] = threadIdx.x;\n" + body);
  EXPECT_EQ(judgement.verdict, Verdict::wrong);
  EXPECT_THAT(judgement.reason, testing::StartsWith("mine.cu:"));
  EXPECT_THAT(judgement.reason, HasSubstr(": error: data race on shared memory 'tile'\n"));
  EXPECT_THAT(judgement.reason, HasSubstr(" |   tile[1][0] = threadIdx.x;\n"));
  EXPECT_THAT(judgement.reason, HasSubstr(" writes tile[1][0]"));
  EXPECT_THAT(judgement.reason, HasSubstr("layer n2_c1h20w20_k4r5s5; "));
}

TEST(Judge, ShowsTheElementsOfAnArray) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const Judgement judgement = judged_with_mistake("y[i] = sum", "y[i] = sum; y[0] = i");
  EXPECT_THAT(judgement.reason, HasSubstr("y[0] is image 0, output channel 0, row 0, column 0"));
}

TEST(Judge, ShowsTheLikelyCauseOfAWrongOutput) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const Judgement channels = judged_with_mistake("c < C", "c < 1");
  EXPECT_EQ(channels.verdict, Verdict::wrong);
  EXPECT_THAT(channels.reason, testing::StartsWith("mine.cu: error: "));
  EXPECT_THAT(channels.reason, HasSubstr(" outputs are wrong\n  = layer n2_c4h16w16_k6r5s5; "));
  EXPECT_THAT(channels.reason, HasSubstr("help: possibly only channel 0 is summed: the loop over channels is missing"));

  const Judgement column = judged_with_mistake("y[i] = sum", "if (q < Q - 1) y[i] = sum");
  EXPECT_EQ(column.verdict, Verdict::wrong);
  EXPECT_THAT(column.reason, HasSubstr("nothing writes column 15"));
}

TEST(Judge, ShowsTheLaunchThatFailed) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const Judgement judgement = judged_with_mistake("threads = 128", "threads = 2048");
  EXPECT_EQ(judgement.verdict, Verdict::wrong);
  EXPECT_THAT(judgement.reason, HasSubstr("error: kernel 'convolve_kernel' was not launched: "));
  EXPECT_THAT(judgement.reason, HasSubstr("block dimensions 2048 x 1 x 1 exceed the limit"));
  EXPECT_THAT(judgement.reason, HasSubstr("as a result, "));
  EXPECT_THAT(judgement.reason, HasSubstr("reported by the submission's process"));
}

TEST(Judge, NamesArraysAsTheKernelDoes) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const Judgement judgement = judged_with_mistake("cudaMalloc(device_output_ptr, output_bytes)",
                                                  "cudaMalloc(device_output_ptr, 400)", "minidnn.cu");
  EXPECT_THAT(judgement.reason, HasSubstr(" writes output["));
}

TEST(Judge, EndsAnEndlessLoopSoon) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const std::string body = "  const int P = H - R + 1";
  const Judgement judgement = judged_with_mistake(body, "  volatile int forever = 1;\n  while (forever) {}\n" + body);
  EXPECT_EQ(judgement.verdict, Verdict::wrong);
  EXPECT_THAT(judgement.reason, testing::StartsWith("mine.cu:"));
  EXPECT_THAT(judgement.reason, HasSubstr(" for 3 s"));
}

TEST(Judge, SaysWhatIsMissing) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const Judgement launch = judged_with_mistake("convolve_kernel<<<", "if (N < 0) convolve_kernel<<<");
  EXPECT_EQ(launch.verdict, Verdict::wrong);
  EXPECT_THAT(launch.reason, testing::StartsWith("mine.cu: error: no kernel was launched\n"));
  EXPECT_THAT(launch.reason, HasSubstr("as a result, "));
  EXPECT_THAT(launch.reason, HasSubstr("help: launch a kernel that writes the output"));
  EXPECT_THAT(launch.what_to_do, HasSubstr("convlab verify"));
  const Judgement copy =
      judged_with_mistake("  cudaMemcpy(host_output", "  if (Batch < 0) cudaMemcpy(host_output", "minidnn.cu");
  EXPECT_THAT(copy.reason, testing::StartsWith("mine.cu: error: the output was not copied to the host\n"));
}

/// Compiles a kernel file to GPU machine code in a jail.
void expect_machine_code() {
  const TemporaryFolder folder;
  const JudgeLimits limits;
  const KernelSource source = read_kernel_source(kRoot / "convlab/kernel_file/templates/minidnn.cu");
  std::atomic<bool> late = false;
  CompileOptions options{.compute_capability = 90, .output = CompilerOutput::machine_code, .folder = folder.path()};
  options.runner = jailed_compiler(source, limits, true, late);
  const std::filesystem::path cubin = compile_kernel_file(source, Toolchain::nvcc, options).library;
  EXPECT_FALSE(late);
  EXPECT_THAT(text_of(cubin), AllOf(testing::StartsWith("\177ELF"), HasSubstr("conv_forward_kernel")));
}

TEST(Judge, CompilesMachineCodeOfGpusInAJail) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  if (found_tool("nvcc").empty()) GTEST_SKIP() << "there is no nvcc";
  expect_machine_code();
}

TEST(Judge, CompilesMachineCodeAlsoWhereNvccIsAScript) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const std::string nvcc = found_tool("nvcc");
  if (nvcc.empty()) GTEST_SKIP() << "there is no nvcc";
  const TemporaryFolder folder;
  const std::filesystem::path bin = folder.path() / "bin", script = bin / "nvcc";
  std::filesystem::create_directory(bin);
  std::ofstream(script) << "#!/bin/sh\nexec " << nvcc << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  EXPECT_EQ(found_tool("nvcc"), script);
  expect_machine_code();
  ::setenv("PATH", path.c_str(), 1);
}

TEST(Judge, TimesKernelsOfTheCpuAgainstTheReference) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  Assignment assignment = some_assignment();
  assignment.reference = "cpu.reference";
  assignment.limits.timing_s = 10;
  const Judgement judgement =
      judge_submission(kRoot / "convlab/kernels/ladder/00_reference.cc", assignment, "cpu", nullptr);
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
  ASSERT_TRUE(judgement.ratio.has_value());
  EXPECT_GE(judgement.ratio->samples, 10);
  // Both run the same code. On a busy machine single samples may be far off.
  EXPECT_GT(judgement.ratio->median, 0.5);
  EXPECT_LT(judgement.ratio->median, 2);
  EXPECT_LE(judgement.ratio->low, judgement.ratio->median);
  EXPECT_GE(judgement.ratio->high, judgement.ratio->median);
  ASSERT_EQ(judgement.times.size(), 2u);
  EXPECT_EQ(judgement.times[0].layer, "n2_c1h20w20_k4r5s5");
  double seconds = 0, reference_s = 0;
  for (const LayerTime& each : judgement.times) {
    EXPECT_GT(each.bound_s, 0);
    EXPECT_GT(each.seconds, each.bound_s);
    EXPECT_GT(each.reference_s, each.bound_s);
    seconds += each.seconds;
    reference_s += each.reference_s;
  }
  // Layers take microseconds here. On a busy machine, the ratio of summed times varies more than the median ratio.
  EXPECT_GT(seconds / reference_s, 0.2 * judgement.ratio->median);
  EXPECT_LT(seconds / reference_s, 5 * judgement.ratio->median);
}

TEST(Judge, RefusesLibrariesThatTheAssignmentDoesNotAllow) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const Judgement judgement =
      judge_submission(kRoot / "convlab/kernels/ladder/23_cublas_gemm.cu", some_assignment(), "simt", nullptr);
  EXPECT_EQ(judgement.verdict, Verdict::forbidden);
  EXPECT_EQ(judgement.failed_at, Stage::compiling);
  EXPECT_THAT(judgement.reason, HasSubstr("cuBLAS is not allowed in this assignment"));
}

TEST(Judge, CountsWhatALibraryMultiplies) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  Assignment assignment = some_assignment();
  assignment.libraries_allowed = true;
  const Judgement judgement =
      judge_submission(kRoot / "convlab/kernels/ladder/23_cublas_gemm.cu", assignment, "simt", nullptr);
  const auto counts = std::ranges::find(judgement.counters, "cuBLAS", &KernelCountsSummary::kernel);
  ASSERT_NE(counts, judgement.counters.end()) << judgement.reason;
  EXPECT_EQ(counts->launches, 1);
  EXPECT_EQ(counts->flops, 2 * 4 * 25 * 16 * 16);  // of one image of the first layer
}

TEST(Judge, SaysWhatDoesNotCompile) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "mine.cu";
  write_file(
      file,
      std::string_view(
          "__global__ void k() { int a = b; }\nvoid convolve(const float* x, const float* w, float* y, int N, int "
          "C, int H, int W, int K, int R, int S) { k<<<1, 1>>>(); }\n"));
  const Judgement judgement = judge_submission(file, some_assignment(), "simt", nullptr);
  EXPECT_EQ(judgement.verdict, Verdict::not_compiled);
  EXPECT_EQ(judgement.failed_at, Stage::compiling);
  EXPECT_THAT(judgement.reason, testing::StartsWith("mine.cu:1:"));
  EXPECT_THAT(judgement.reason, HasSubstr("1 | __global__ void k() { int a = b; }"));
  EXPECT_THAT(judgement.reason, Not(HasSubstr("In function")));
  write_file(file, std::string_view("int main() {}\n"));
  EXPECT_THAT(judge_submission(file, some_assignment(), "simt", nullptr).reason, HasSubstr("not a kernel file"));
}

TEST(ClassJudge, AnswersAJobInItsFolder) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::filesystem::path job = folder.path() / "jobs/7";
  std::filesystem::create_directories(job);
  std::filesystem::copy_file(kRoot / "convlab/kernel_file/templates/function.cu", job / "mine.cu");
  const Json request = {{"file", "mine.cu"}, {"device", "simt"}, {"assignment", to_json(some_assignment())}};
  write_file(job / "job.json", json_text(request, 1));
  const ProcessRun run = run_process(convlab_program(), {"convlab", "class", "judge", folder.path().string(), "7"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, testing::StartsWith("PASSED"));
  const Judgement judgement =
      judgement_from(parse_json(text_of(job / "judgement.json"), "judgement.json"), "judgement.json");
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
  EXPECT_EQ(text_of(job / "stage.txt"), "done\n");
  EXPECT_EQ(run_process(convlab_program(), {"convlab", "class", "judge", folder.path().string(), "../7"}).status, 2);
}

// ---- Data passed to jails ----

constexpr uint64_t kGamma = 0x9e3779b97f4a7c15;  // of SplitMix64

uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 5; ++i) result *= 2 - odd * result;
  return result;
}

uint64_t unshifted(uint64_t v, int bits) {
  uint64_t result = v;
  for (int done = bits; done < 64; done += bits) result = v ^ (result >> bits);
  return result;
}

/// Returns the Rng state behind a number, as a multiple of kGamma: states of consecutive numbers are neighbors.
uint64_t state_behind(uint64_t number) {
  number = unshifted(number, 31) * inverse(0x94d049bb133111eb);
  number = unshifted(number, 27) * inverse(0xbf58476d1ce4e5b9);
  return unshifted(number, 30) * inverse(kGamma);
}

/// Records everything that jails receive while it exists: command words and file contents, except convlab's own files.
class Spy {
 public:
  Spy() {
    watch_jails([this](const JailRequest& request) {
      const std::scoped_lock lock(mutex_);
      for (const std::string& word : request.command) texts.insert(word);
      for (const std::filesystem::path& each : request.shown) add(each);
      for (const std::filesystem::path& each : request.writable) add(each);
    });
  }
  ~Spy() { watch_jails({}); }
  Spy(const Spy&) = delete;
  Spy& operator=(const Spy&) = delete;

  std::set<std::string> texts, inputs;  ///< inputs: x and w of replays; texts: everything else

 private:
  void add(const std::filesystem::path& path) {
    const bool own = std::ranges::find(jail_program(), path) != jail_program().end();
    if (own || !std::filesystem::is_regular_file(path)) return;
    (path.filename().string().starts_with("inputs-") ? inputs : texts).insert(text_of(path));
  }
  std::mutex mutex_;
};

/// Returns the 64-bit numbers that an attacker could read from the bytes, whole or without their lowest bit.
std::vector<uint64_t> numbers_in(const std::string& bytes) {
  constexpr uint64_t kLarge = 1u << 31;
  std::vector<uint64_t> numbers;
  for (size_t at = 0; at < bytes.size(); ++at) {
    uint64_t value = 0;
    if (at % 4 == 0 && at + sizeof(value) <= bytes.size()) {
      std::memcpy(&value, bytes.data() + at, sizeof(value));
      numbers.push_back(value);
    }
    if (std::isdigit(static_cast<unsigned char>(bytes[at])) == 0) continue;
    value = std::strtoull(bytes.c_str() + at, nullptr, 10);
    if (value >= kLarge) numbers.insert(numbers.end(), {value, 2 * value, 2 * value + 1});
  }
  return numbers;
}

TEST(Judge, TellsJailsNothingThatASecretFollowsFrom) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const std::filesystem::path file = kRoot / "convlab/kernel_file/templates/function.cu";
  Assignment assignment = some_assignment();
  const auto judged = [&](Spy& spy) {
    const Judgement judgement = judge_submission(file, assignment, "simt", nullptr);
    EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
    EXPECT_GT(spy.inputs.size(), 10u);
    return parse_key(judgement.nonce);
  };
  std::optional<Spy> spy(std::in_place);
  const KeyedRng::Key nonce = judged(*spy);
  const std::set<std::string> texts = spy->texts, inputs = spy->inputs;

  // None of it may contain the nonce, or a number from which the nonce or an Rng's other numbers can be computed.
  std::set<uint64_t> words, states;
  for (size_t i = 0; i + 1 < nonce.size(); ++i) words.insert(nonce[i] | uint64_t{nonce[i + 1]} << 32);
  for (const std::string& bytes : texts) EXPECT_THAT(bytes, Not(HasSubstr(to_text(nonce).substr(0, 16))));
  std::set<std::string> all = texts;
  all.insert(inputs.begin(), inputs.end());
  for (const std::string& bytes : all) {
    if (bytes.starts_with("\177ELF")) continue;  // depends on the submitted file only
    for (const uint64_t number : numbers_in(bytes)) {
      EXPECT_FALSE(words.contains(number));
      EXPECT_FALSE(words.contains(state_behind(number) * kGamma));
      states.insert(state_behind(number));
    }
  }
  EXPECT_GT(states.size(), 1000u);
  constexpr uint64_t kNear = 64;
  for (auto state = states.begin(); std::next(state) != states.end(); ++state) {
    EXPECT_GT(*std::next(state) - *state, kNear) << "two numbers of one Rng";
  }

  // Another judgment uses other data; the same nonce reproduces the data.
  spy.reset();
  spy.emplace();
  judged(*spy);
  for (const std::string& each : spy->inputs) EXPECT_FALSE(inputs.contains(each));
  spy.reset();
  spy.emplace();
  assignment.nonce = to_text(nonce);
  judged(*spy);
  EXPECT_EQ(spy->inputs, inputs);
}

TEST(Judge, ReadsInAJailWhatTakesLongToRead) {
  if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "mine.cu";
  std::string text =
      "__global__ void k() {}\nvoid convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int "
      "K, int R, int S) {}\n";
  for (int i = 0; i < 60'000; ++i) text += "k<<<";
  write_file(file, text);
  Assignment assignment = some_assignment();
  assignment.limits.compile_s = 1;
  const Judgement judgement = judge_submission(file, assignment, "simt", nullptr);
  EXPECT_EQ(judgement.verdict, Verdict::timed_out);
  EXPECT_THAT(judgement.reason, HasSubstr("reading the file takes longer than 1 s"));
}

TEST(Judge, RefusesAnAssignmentWithoutLayers) {
  EXPECT_THAT(bad_input_message([] { judge_submission("x.cu", {.name = "empty"}, "simt", nullptr); }),
              HasSubstr("'empty'"));
}

}  // namespace
}  // namespace convlab::judge
