// Tests users' kernel files, on simt and on the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temporary_kernel_files.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(KernelFiles, EveryTemplatePasses) {
  std::vector<std::string> files{"--device", "simt"};
  for (const std::string kind : {"mxnet", "minidnn", "streams", "function"}) files.push_back(make(kind, kind + ".cu"));
  files.insert(files.end(), {"-n", "2"});
  for (const Json& file : verified(files, 0)) EXPECT_EQ(file["verdict"], "PASSED") << file;
  const Json own = verified({make("own", "own.cu"), "--device", "simt", "--problem", "n2_c3h9w9_k4r3s3_p1"}, 0);
  EXPECT_EQ(own[0]["kind"], "own");
  EXPECT_EQ(own[0]["cases"][0]["verdict"], "PASSED");
}

TEST_F(KernelFiles, OfTheFirstContractStillPass) {
  std::string text = text_of(make("own", "own.cu"));
  for (const auto& [now, then] : {std::pair("RegisterKernel", "RegisterConvKernel"),
                                  {"of_conv<refuses>", "refuses"},
                                  {"of_conv<launch_mine>", "launch_mine"}}) {
    ASSERT_THAT(text, HasSubstr(now));
    text.replace(text.find(now), std::string_view(now).size(), then);
  }
  const Json file = verified({write("first.cu", text), "--device", "simt", "--problem", "n2_c3h9w9_k4r3s3_p1"}, 0)[0];
  EXPECT_EQ(file["verdict"], "PASSED") << file;
}

TEST_F(KernelFiles, ATemplateReplacesNothing) {
  const std::string file = write("mine.cu", "precious");
  const ProgramRun run = run_program({"new", "own", "-o", file});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("already exists"));
  EXPECT_EQ(text_of(file), "precious");
}

TEST_F(KernelFiles, OfTheCpuKeepTheContract) {
  const std::string file =
      write("mine.cc",
            "void convolve(const float* x, const float* w, float* y, int B, int M, int C, int H, int W, "
            "int K) {\n"
            "  const int P = H - K + 1, Q = W - K + 1;\n"
            "  for (int i = 0; i < B * M * P * Q; ++i) {\n"
            "    const int q = i % Q, p = i / Q % P, m = i / Q / P % M, b = i / Q / P / M;\n"
            "    float sum = 0;\n"
            "    for (int c = 0; c < C; ++c)\n"
            "      for (int r = 0; r < K; ++r)\n"
            "        for (int s = 0; s < K; ++s)\n"
            "          sum += x[((b * C + c) * H + p + r) * W + q + s] * w[((m * C + c) * K + r) * K + s];\n"
            "    y[i] = sum;\n"
            "  }\n"
            "}\n");
  const Json right = verified({file, "--problem", "n2_c3h9w9_k4r3s3"}, 0);
  EXPECT_EQ(right[0]["verdict"], "PASSED");
  const std::string text = text_of(file);
  const Json wrong = verified({write("wrong.cc", text.substr(0, text.find("y[i]")) + "y[i] = sum + 1;\n  }\n}\n"),
                               "--problem", "n2_c3h9w9_k4r3s3"},
                              1);
  EXPECT_EQ(wrong[0]["verdict"], "FAILED");
  EXPECT_THAT(wrong[0]["cases"][0]["reason"].get<std::string>(), HasSubstr("outputs are wrong"));
}

TEST_F(KernelFiles, AFaultHasItsPlace) {
  const std::string file = changed("mxnet", "halo.cuh", "x[((b * C + c) * H + h + p) * W + v + q]",
                                   "x[((b * C + c) * H + h + p + H) * W + v + q]");
  const Json files = verified({file, "--device", "simt", "-n", "1"}, 1);
  const Json& fault = files[0]["cases"][0]["faults"][0];
  EXPECT_EQ(fault["array"], "x");
  EXPECT_EQ(fault["kernel"], "forward_kernel");
  EXPECT_THAT(fault["line"].get<std::string>(), HasSubstr("halo.cuh:"));
}

TEST_F(KernelFiles, AWrongElementHasItsWriter) {
  const auto reason = [&](const std::string& file) {
    const Json files = verified({file, "--device", "simt", "--problem", "n2_c3h9w9_k4r3s3"}, 1);
    return files[0]["cases"][0]["reason"].get<std::string>();
  };
  // One template writes its output to device memory; the other copies it to the host itself.
  for (const auto& [kind, name] : {std::pair("mxnet", "channel.cuh"), std::pair("minidnn", "channel.cu")}) {
    const std::string loop = std::string(kind) == "mxnet" ? "c < C;" : "c < Channel;";
    std::string less = loop;
    less.insert(less.size() - 1, " - 1");
    EXPECT_THAT(reason(changed(kind, name, loop, less)),
                AllOf(HasSubstr("the first sums image 0, channels 0..2, rows 0..2, columns 0..2 of x"),
                      ContainsRegex("thread \\(0,0,0\\) of block \\(0,0,0\\) writes the first wrong output .*, at " +
                                    std::string(name) + ":[0-9]+; help: possibly the last channel is left out")));
  }
  EXPECT_THAT(reason(changed("mxnet", "column.cuh", "v >= W_out", "v >= W_out - 1")),
              AllOf(HasSubstr(" outputs were never written"),
                    HasSubstr("no thread writes column 6; first: image 0, output channel "
                              "0, row 0, column 6: ")));
}

/// A kernel file's behavior, and the expected verdict.
struct Behaviour {
  std::string name, line;  ///< a line of C++ in the host code
  std::string verdict, reason;
};

const std::vector<Behaviour> kBehaviours{
    {"crash", "*reinterpret_cast<volatile int*>(8) = 1;", "FAILED", "SIGSEGV"},
    {"exit", R"(std::cerr << "no GPU\n"; exit(-1);)", "FAILED",
     "the file ended the program: exit(255) (the last line it printed: no GPU)"},
    {"exit_well", "exit(0);", "FAILED", "the file ended the program: exit(0)"},
    {"exit_at_once", "_exit(0);", "FAILED", "the file ended the program: exit(0)"},
    {"abort", "abort();", "FAILED", "SIGABRT"},
    {"throw", "throw 1;", "FAILED", "exception of unknown type"},
    {"divide", "volatile int zero = 0; volatile int q = 7 / zero; (void)q;", "FAILED", "SIGFPE"},
    {"loop", "for (volatile int i = 0;; ++i) {}", "TIMED_OUT", "the file made no progress for 2 s"},
    {"closes_ours", "close(3);", "FAILED", "the kernel file closed file descriptor 3"},
    {"deaf", "signal(SIGTERM, SIG_IGN); for (;;) pause();", "TIMED_OUT", "the file made no progress for 2 s"},
    {"stopped", "kill(getpid(), SIGSTOP);", "TIMED_OUT", "the file made no progress for 2 s"},
    {"hangs_at_exit", "atexit([] { for (;;) pause(); }); exit(2);", "TIMED_OUT", "the file made no progress for 2 s"},
    {"kills_its_group", "kill(0, SIGKILL);", "FAILED", "SIGKILL"},
    {"frees_the_harness", "free(y.dptr_);", "FAILED", "the file crashed"},
    {"writes_over_the_stack", "volatile char* p = nullptr; p = (char*)&p; for (int i = 0; i < 1 << 24; ++i) p[i] = 0;",
     "FAILED", "the file crashed"},
    {"closes_all", "for (int i = 0; i < 1024; ++i) close(i); exit(0);", "FAILED", "the file ended the program"},
    {"daemon",
     "if (fork() == 0) { setsid(); if (fork() == 0) execlp(\"sleep\", \"sleep\", \"1000\", nullptr); _exit(0); }",
     "PASSED", ""},
    {"child", "if (system(\"sleep 1000 &\")) {}", "PASSED", ""},
    {"many_children", "for (int i = 0; i < 20; ++i) if (fork() == 0) for (;;) pause(); abort();", "FAILED", "SIGABRT"},
    {"prints", "for (int i = 0; i < 100000; ++i) printf(\"a line that says nothing %d\\n\", i);", "PASSED", ""},
    {"writes", "fclose(fopen(\"left-behind\", \"w\"));", "PASSED", ""},
    {"lies", R"(dprintf(3, "{\"case\": 70}\nno JSON\n");)", "PASSED", ""},
    {"broken", "int 1;", "NOT_COMPILED", ""},
    {"undefined", "extern void nobody(); nobody();", "NOT_COMPILED", ""},
};

TEST_F(KernelFiles, MemoryThatIsNotFreedIsNoted) {
  const std::string problem = "n1_c1h9w9_k2r3s3";
  const Json leaks = verified(
      {changed("minidnn", "leak.cu", "  cudaFree(device_input);\n", ""), "--device", "simt", "--problem", problem}, 0);
  EXPECT_EQ(leaks[0]["verdict"], "PASSED");
  ASSERT_EQ(leaks[0]["notes"].size(), 1u);
  EXPECT_THAT(leaks[0]["notes"][0].get<std::string>(),
              ContainsRegex("324 bytes of device_input_ptr \\(cudaMalloc at leak.cu:[0-9]+\\)"));
  const Json right = verified({make("minidnn", "right.cu"), "--device", "simt", "--problem", problem}, 0);
  EXPECT_TRUE(right[0]["notes"].empty()) << right[0]["notes"];
}

TEST_F(KernelFiles, VariablesOfTheDeviceMayBeWritten) {
  std::string text =
      text_of(changed("mxnet", "mine.cuh", "  float sum = 0;\n", "  atomicAdd(&count, one);\n  float sum = 0;\n"));
  const std::string kernel = "// Each block computes", launch = "  forward_kernel<<<";
  ASSERT_NE(text.find(kernel), std::string::npos);
  text.insert(text.find(kernel), "__device__ int count;\n__constant__ int one;\n\n");
  text.insert(text.find(launch),
              "  const int numbers[2] = {0, 1};\n  cudaMemcpyToSymbol(count, numbers, sizeof(int));\n"
              "  cudaMemcpyToSymbol(one, numbers + 1, sizeof(int));\n");
  const auto judged = [&](const std::string& name, int status) {
    return verified({write(name, text), "--device", "simt", "--problem", "n1_c1h9w9_k2r3s3"}, status)[0];
  };
  EXPECT_EQ(judged("right.cuh", 0)["verdict"], "PASSED");
  text.replace(text.find("&count, one"), 11, "&one, count");
  EXPECT_THAT(judged("wrong.cuh", 1)["cases"][0]["reason"].get<std::string>(),
              HasSubstr("write to __constant__ variable 'one'"));
}

// Runs a line of device code before the kernel's first loop.
TEST_F(KernelFiles, AKernelMayTrapAssertAndPrint) {
  const auto judged = [&](const std::string& name, const std::string& line, int status) {
    const std::string file = changed("mxnet", name, "  float sum = 0;\n", "  float sum = 0;\n  " + line + "\n");
    return verified({file, "--device", "simt", "--problem", "n1_c1h9w9_k2r3s3"}, status)[0];
  };
  const auto reason = [](const Json& file) { return file["cases"][0]["reason"].get<std::string>(); };
  EXPECT_THAT(reason(judged("trap.cuh", "if (h == 2) asm volatile(\"trap;\");", 1)),
              ContainsRegex("^__trap\\(\\) ends the kernel: .*kernel forward_kernel, .*at trap.cuh:[0-9]+"));
  EXPECT_THAT(reason(judged("trap_too.cuh", "if (h == 2) __trap();", 1)), StartsWith("__trap() ends the kernel: "));
  EXPECT_THAT(
      reason(judged("assert.cuh", "assert(h < 5);", 1)),
      ContainsRegex("^assertion 'h < 5' failed: thread \\(0,5,0\\) \\(kernel forward_kernel, block \\(0,0,0\\); .*, at "
                    "assert.cuh:[0-9]+"));
  const Json prints = judged("print.cuh", R"(for (int i = 0; i < 9999; ++i) printf("FAILED: no %d", i);)", 0);
  EXPECT_EQ(prints["verdict"], "PASSED") << prints;
  EXPECT_EQ(prints["cases"].size(), 1u);
}

TEST_F(KernelFiles, MoreSharedMemoryThanUsualIsAskedFor) {
  const std::string launch = "forward_kernel<<<grid, block>>>";
  const auto reason = [&](const std::string& before, const std::string& bytes, int status) {
    const std::string file =
        changed("mxnet", "mine.cuh", launch, before + "forward_kernel<<<grid, block, " + bytes + ">>>");
    const Json all = verified({file, "--device", "simt", "--problem", "n1_c1h9w9_k2r3s3"}, status);
    return all[0]["cases"][0]["reason"].get<std::string>();
  };
  EXPECT_THAT(reason("", "60000", 1), HasSubstr("60000 bytes of dynamic shared memory; the limit is 49152 bytes"));
  const std::string ask =
      "cudaFuncSetAttribute(forward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);\n  ";
  EXPECT_EQ(reason(ask, "60000", 0), "");
  EXPECT_THAT(reason(ask, "60001", 1), HasSubstr("the limit is 60000 bytes, set by cudaFuncSetAttribute"));
}

TEST_F(KernelFiles, EachImageOfALargeBatchCounts) {
  const std::vector<std::string> problem{"--device", "simt", "--problem", "n70_c1h9w9_k2r3s3"};
  std::vector<std::string> arguments{make("mxnet", "right.cuh")};
  arguments.insert(arguments.end(), problem.begin(), problem.end());
  EXPECT_EQ(verified(arguments, 0)[0]["verdict"], "PASSED");
  arguments.front() = changed("mxnet", "wrong.cuh", "x[((b * C", "x[(((b < 69 ? b : 2) * C");
  EXPECT_THAT(verified(arguments, 1)[0]["cases"][0]["reason"].get<std::string>(),
              HasSubstr("only the outputs of image 69 are wrong"));
}

TEST_F(KernelFiles, WhateverTheyDoTheNextIsTried) {
  const std::string begin = "const int B = x.shape_[0]";
  const std::string text = text_of(make("mxnet", "template.cuh"));
  const size_t at = text.find(begin);
  ASSERT_NE(at, std::string::npos);
  std::vector<std::string> arguments;
  for (const Behaviour& each : kBehaviours) {
    std::string changed = "#include <signal.h>\n#include <unistd.h>\n" + text;
    changed.insert(changed.find(begin), each.line + "\n  ");
    arguments.push_back(write(each.name + ".cuh", changed));
  }
  arguments.push_back(write("none.cu", "int main() {}\n"));
  arguments.push_back(path("missing.cu"));
  arguments.push_back(path("template.cuh"));
  const size_t files = arguments.size();
  arguments.insert(arguments.end(), {"--device", "simt", "-n", "1", "--time-limit", "2", "--semester", "fa17"});
  const Json all = verified(arguments, 1);
  ASSERT_EQ(all.size(), files);
  for (size_t i = 0; i < kBehaviours.size(); ++i) {
    EXPECT_EQ(all[i]["verdict"], kBehaviours[i].verdict) << all[i];
    if (!all[i]["cases"].empty()) {
      EXPECT_THAT(all[i]["cases"][0]["reason"].get<std::string>(), HasSubstr(kBehaviours[i].reason));
    }
  }
  EXPECT_EQ(all[files - 3]["verdict"], "REFUSED");
  EXPECT_EQ(all[files - 2]["verdict"], "REFUSED");
  EXPECT_EQ(all[files - 1]["verdict"], "PASSED");
  EXPECT_FALSE(std::filesystem::exists("left-behind"));
  // Processes that the files started must be gone.
  EXPECT_NE(std::system("pgrep -f '[s]leep 1000' > /dev/null"), 0);
}

TEST_F(KernelFiles, CompileErrorsAreInTheFilesOwnLines) {
  const std::string file =
      changed("mxnet", "broken.cuh", "const int B = x.shape_[0]", "int 1;\n  const int B = x.shape_[0]");
  const Json all = verified({file, "--device", "simt"}, 2);
  EXPECT_THAT(all[0]["reason"].get<std::string>(), ContainsRegex("broken.cuh:[0-9]+:[0-9]+: error"));
}

TEST_F(KernelFiles, TheCacheSparesTheCompiler) {
  const std::string file = make("mxnet", "mine.cuh");
  const auto seconds = [&] {
    const auto begin = std::chrono::steady_clock::now();
    verified({file, "--device", "simt", "-n", "1", "--semester", "fa17"}, 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto entries = [&] {
    using std::filesystem::directory_iterator;
    return std::count_if(directory_iterator(path("cache")), directory_iterator(),
                         [](const auto& each) { return each.is_regular_file(); });
  };
  seconds();
  EXPECT_EQ(entries(), 1);
  seconds();
  EXPECT_EQ(entries(), 1);
  write("mine.cuh", text_of(file) + "// one more line\n");
  seconds();
  EXPECT_EQ(entries(), 2);
}

TEST_F(KernelFiles, RunInANetwork) {
  const std::string file = make("mxnet", "mine.cuh");
  const ProgramRun run = run_program({"run", "fa19", "-n", "2", "--kernel", file});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("Correctness: 1.0"));
  EXPECT_THAT(run.output, HasSubstr("mine.cuh"));
  const ProgramRun script = run_program({"m3.1", "2", "--device", "simt", "--kernel", file});
  EXPECT_EQ(script.status, 0) << script.complaint;
  EXPECT_THAT(script.output, HasSubstr("Correctness: 1.0 Model: ece408"));
}

TEST_F(KernelFiles, OfMinidnnRunInItsNetwork) {
  const std::string file = make("minidnn", "mine.cu");
  const auto labels = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-n", "3", "--json", path("run.json")});
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 0) << run.complaint;
    return Json::parse(text_of(path("run.json")))["labels"];
  };
  EXPECT_EQ(labels({"run", "sp25", "--kernel", file, "--device", "simt"}), labels({"run", "sp25", "--device", "cpu"}));
  const Json judged = verified({file, "--device", "simt", "-n", "1"}, 0)[0];
  EXPECT_EQ(judged["semester"], "sp25");
  EXPECT_EQ(verified({file, "--device", "simt", "-n", "1", "--semester", "sp25"}, 0)[0]["cases"][1]["problem"],
            judged["cases"][1]["problem"]);
}

TEST_F(KernelFiles, TheCallAloneIsTheOperator) {
  const std::string file =
      changed("minidnn", "mine.cu", "  const size_t input_bytes", "  usleep(300000);\n  const size_t input_bytes");
  write("mine.cu", "#include <unistd.h>\n" + text_of(file));
  const ProgramRun run = run_program({"m3.1", "1", "--device", "simt", "--semester", "sp18", "--kernel", file});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, ContainsRegex("Op Time: 0\\.[01].*\nOp Time: 0\\.[01]"));
  EXPECT_THAT(run.complaint, ContainsRegex("; prolog [3-9][0-9][0-9] ms"));
  const Json files = verified({file, "--device", "simt", "-n", "1"}, 0);
  EXPECT_GT(files[0]["cases"][0]["prolog_s"], 0.3);
  EXPECT_LT(files[0]["cases"][0]["call_s"], 0.2);
}

TEST_F(KernelFiles, WhatComputesInItsPrologIsTimedToTheEndOfItsEpilog) {
  const std::string streams = make("streams", "streams.cu"), plain = make("minidnn", "plain.cu");
  const Json files = verified({streams, plain, "--device", "simt", "-n", "2"}, 0);
  for (size_t i = 0; i < 2; ++i) {
    const Json& layer = files[i]["cases"][0];
    EXPECT_EQ(layer["computes_in_prolog"], i == 0) << layer;
    EXPECT_DOUBLE_EQ(layer["layer_s"].get<double>(),
                     layer["prolog_s"].get<double>() + layer["call_s"].get<double>() + layer["epilog_s"].get<double>());
  }
  EXPECT_GT(files[0]["cases"][0]["prolog_s"], files[0]["cases"][0]["call_s"]);

  const ProgramRun run =
      run_program({"run", "sp25", "-n", "2", "--device", "simt", "--kernel", streams, "--json", path("run.json")});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.complaint, ContainsRegex("streams.cu on n2_c1h86w86_k4r7s7: prolog to epilog .*: this file computes "
                                           "in its prolog, so its Op Time is not comparable"));
  const Json saved = Json::parse(text_of(path("run.json")));
  ASSERT_EQ(saved["file_phases"].size(), 2u);
  EXPECT_EQ(saved["file_phases"][1]["problem"], "n2_c4h40w40_k16r7s7");
  EXPECT_EQ(saved["file_phases"][1]["computes_in_prolog"], true);
  EXPECT_EQ(saved["layers"][0]["gflops"], 0);  // no operation count is known

  const std::vector<std::string> few{"--device", "simt", "--problem", "n2_c1h9w9_k2r3s3", "--seconds", "0.05"};
  const auto benched = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), few.begin(), few.end());
    arguments.insert(arguments.end(), {"--json", path("bench.json")});
    return run_program(arguments);
  };
  const ProgramRun compared = benched({streams, "--against", plain});
  EXPECT_EQ(compared.status, 0) << compared.complaint;
  const Json records = Json::parse(text_of(path("bench.json")));
  ASSERT_EQ(records.size(), 2u) << compared.output;
  EXPECT_EQ(records[0]["against"]["of"], "layer_ms");
  EXPECT_EQ(records[0]["computes_in_prolog"], true);
  EXPECT_EQ(records[1]["computes_in_prolog"], false);
  EXPECT_GT(records[0]["layer_ms"]["median"], records[0]["op_ms"]["median"]);
  EXPECT_THAT(benched({streams, "--against", "cuda.basic"}).output,
              HasSubstr("computes in its prolog; compare it only with files"));
  EXPECT_THAT(benched({streams}).output, ContainsRegex("prolog to epilog .*: this file computes in its prolog"));
}

TEST_F(KernelFiles, WhatTheyPrintIsNoResult) {
  const std::string file = changed("mxnet", "mine.cuh", "const int B = x.shape_[0]",
                                   "std::cout << \"hello\\n\";\n  const int B = x.shape_[0]");
  const ProgramRun run = run_program({"m3.1", "1", "--device", "simt", "--kernel", file});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, Not(HasSubstr("hello")));
  EXPECT_THAT(run.complaint, HasSubstr("hello"));
  const ProgramRun ended =
      run_program({"m3.1", "1", "--device", "simt", "--kernel",
                   changed("mxnet", "exit.cuh", "const int B = x", "exit(0);\n  const int B = x")});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.complaint, HasSubstr("the file ended the program: exit(0)"));
}

TEST_F(KernelFiles, CompareWithRegisteredKernels) {
  const std::string file = make("own", "mine.cu");
  const ProgramRun run = run_program({"bench", file, "--against", "cuda.basic", "--device", "simt", "--problem",
                                      "n1_c1h9w9_k1r3s3", "--seconds", "0.05"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("mine.cu"));
  EXPECT_THAT(run.output, HasSubstr("cuda.basic"));
}

TEST_F(KernelFiles, WithoutAGpuSayWhatToType) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  const ProgramRun run = run_program({"m3.1", "1", "--device", "cuda", "--kernel", make("mxnet", "mine.cuh")});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.complaint, HasSubstr("use --device simt"));
}

TEST_F(KernelFiles, ForAnotherDeviceAreRefused) {
  const ProgramRun run =
      run_program({"run", "fa19", "-n", "1", "--device", "cpu", "--kernel", make("mxnet", "mine.cuh")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("the file is for GPUs"));
}

}  // namespace
}  // namespace convlab
