// Tests what `verify` reports for wrong kernel files: the cause first, in CUDA's terms, with its line.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/temporary_kernel_files.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kProblem = "n2_c3h17w17_k4r3s3";
const std::string kFunctionLaunch = "convolve_kernel<<<(outputs + threads - 1) / threads, threads>>>";

class FileCauses : public KernelFiles {
 protected:
  /// Verifies the files and returns the first case of each, in order.
  std::vector<Json> first_cases(std::vector<std::string> files, int status) const {
    files.insert(files.end(), {"--device", "simt", "--problem", kProblem});
    std::vector<Json> cases;
    for (const Json& file : verified(files, status)) cases.push_back(file["cases"][0]);
    return cases;
  }
  std::string reason(const std::string& file) const { return first_cases({file}, 1)[0]["reason"]; }

  /// Returns the `function` template with another launch.
  std::string launched(const std::string& name, const std::string& launch) const {
    return changed("function", name, kFunctionLaunch, launch);
  }
  /// Inserts host code before the `function` template's launch.
  std::string before_launch(const std::string& name, const std::string& lines) const {
    return launched(name, lines + "\n  " + kFunctionLaunch);
  }
  /// Replaces the copy of the output to the host in `minidnn`'s epilogue.
  std::string copied_back(const std::string& name, const std::string& by) const {
    return changed("minidnn", name, "cudaMemcpy(host_output, device_output, output_bytes, cudaMemcpyDeviceToHost);",
                   by);
  }
};

TEST_F(FileCauses, ARefusedLaunchComesFirst) {
  const std::vector<Json> cases = first_cases(
      {launched("threads.cu", "convolve_kernel<<<1, 2048>>>"), launched("empty.cu", "convolve_kernel<<<0, threads>>>"),
       launched("shared.cu", "convolve_kernel<<<1, threads, 60000>>>"),
       changed("own", "own.cu", ".block = kThreads", ".block = 1280")},
      1);
  const auto text = [&](size_t i) { return cases[i]["reason"].get<std::string>(); };
  EXPECT_THAT(
      text(0),
      ContainsRegex("^kernel 'convolve_kernel' was not launched: cudaErrorInvalidConfiguration: block dimensions 2048 "
                    "x 1 x 1 exceed the limit of 1024 x 1024 x 64 .*CUDA's error: invalid configuration argument; as a "
                    "result, .* outputs were never written.*, at threads.cu:[0-9]+"));
  EXPECT_THAT(text(1), HasSubstr("grid dimensions 0 x 1 x 1 must be at least 1"));
  EXPECT_THAT(text(2),
              AllOf(StartsWith("kernel 'convolve_kernel' was not launched: cudaErrorInvalidValue: 60000 bytes of "
                               "dynamic shared memory; the limit is 49152 bytes"),
                    HasSubstr("help: call cudaFuncSetAttribute(convolve_kernel, ")));
  EXPECT_THAT(text(3), ContainsRegex("block dimensions 1280 x 1 x 1 .*, at own.cu:[0-9]+"));
  for (const Json& each : cases) {
    ASSERT_EQ(each["faults"].size(), 1u) << each;
    EXPECT_EQ(each["faults"][0]["kind"], "refused launch");
    EXPECT_THAT(each["faults"][0]["line"].get<std::string>(), ContainsRegex("\\.cu:[0-9]+$"));
  }
}

TEST_F(FileCauses, TheEndOfAProgramHidesNoFailedCall) {
  const std::string file = launched("exits.cu", "convolve_kernel<<<1, 2048>>>");
  std::string text = "#include <cstdlib>\n#include <cstdio>\n" + text_of(file);
  text.insert(text.rfind('}'), "  if (cudaGetLastError() != cudaSuccess) { printf(\"CUDA error\\n\"); exit(-1); }\n");
  write("exits.cu", text);
  const Json judged = first_cases({file}, 1)[0];
  EXPECT_THAT(
      judged["reason"].get<std::string>(),
      AllOf(StartsWith("kernel 'convolve_kernel' was not launched: "), HasSubstr("at exits.cu:"),
            EndsWith("after that, the file ended the program: exit(255) (the last line it printed: CUDA error)")));
  EXPECT_EQ(judged["faults"][0]["kind"], "refused launch");
}

TEST_F(FileCauses, FailedCallsOfRightFilesAreWarnings) {
  const std::vector<std::string> files{
      before_launch("twice.cu", "void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); cudaFree(p);"),
      before_launch("past.cu",
                    "float h[64] = {}, *p = nullptr; cudaMalloc(&p, 64);\n"
                    "cudaMemcpy(p, h, sizeof(h), cudaMemcpyHostToDevice); cudaFree(p);"),
      // A harmless failure must not hide another one.
      before_launch("both.cu",
                    "void* p = nullptr; cudaMalloc(&p, 64); cudaMemcpy(p, x, 64, cudaMemcpyHostToDevice);\n"
                    "cudaFree(p); cudaFree(p);")};
  const Json all = verified({files[0], files[1], files[2], "--device", "simt", "--problem", kProblem}, 0);
  for (const Json& file : all) {
    ASSERT_EQ(file["findings"].size(), 1u) << file;
    EXPECT_EQ(file["findings"][0]["severity"], "warning");
    EXPECT_TRUE(file["cases"][0]["faults"].empty());
  }
  EXPECT_EQ(all[0]["findings"][0]["text"], "cudaFree failed: cudaErrorInvalidValue");
  EXPECT_EQ(all[1]["findings"][0]["text"], "cudaMemcpy failed: cudaErrorInvalidValue");
  EXPECT_EQ(all[1]["findings"][0]["labels"][0]["text"],
            "it writes 256 bytes, past the end of the destination 'p' (64 bytes)");
  EXPECT_EQ(all[1]["findings"][0]["labels"][1]["text"], "cudaMalloc allocates p here, 64 bytes");
  EXPECT_EQ(all[1]["findings"][0]["help"], "possibly sizeof(float) is missing: allocate 256 bytes");
  EXPECT_EQ(all[0]["findings"][0]["labels"][0]["text"], "the array 'p' is already free");
  EXPECT_EQ(all[0]["findings"][0]["labels"][1]["text"], "cudaFree frees it here");
  EXPECT_EQ(all[2]["findings"][0]["text"], "cudaFree failed: cudaErrorInvalidValue");
}

TEST_F(FileCauses, OutputsThatNothingWroteHaveNoOtherCause) {
  EXPECT_THAT(reason(copied_back("no_copy.cu", "")),
              AllOf(HasSubstr(" outputs were never written"),
                    HasSubstr("help: the host output is unchanged: is the cudaMemcpy from the device missing?")));
  EXPECT_THAT(
      reason(copied_back("half.cu",
                         "cudaMemcpy(host_output, device_output, output_bytes / 2, "
                         "cudaMemcpyDeviceToHost);")),
      HasSubstr("help: the host output is unchanged in image 1: does the cudaMemcpy from the device copy too few "
                "bytes?"));
  // The whole output is zero, which must not be mistaken for small sums stored as integers.
  EXPECT_THAT(
      reason(changed("minidnn", "guard.cu", "if (h >= Height_out || w >= Width_out) return;", "if (h >= 0) return;")),
      AllOf(HasSubstr("(no thread writes the elements; first: "), Not(HasSubstr("integer"))));
}

TEST_F(FileCauses, ARefusedCopyIsNamedFirst) {
  EXPECT_THAT(reason(copied_back("direction.cu",
                                 "cudaMemcpy(host_output, device_output, output_bytes, "
                                 "cudaMemcpyHostToDevice);")),
              ContainsRegex("^cudaMemcpy failed: cudaErrorInvalidValue: it copies from device to host memory, but its "
                            "direction is cudaMemcpyHostToDevice, so nothing is copied .*, at direction.cu:[0-9]+"));
}

TEST_F(FileCauses, CopiesBeyondAnArrayOfTheHostAreFaults) {
  const std::string copy = "cudaMemcpy(h, y, sizeof(float) * outputs, cudaMemcpyDeviceToHost);";
  const std::vector<Json> cases = first_cases(
      {before_launch("malloc.cu", "float* h = (float*)malloc(outputs); " + copy + " free(h);"),
       before_launch("new.cu", "float* h = new float[outputs / 4]; " + copy + " delete[] h;"),
       before_launch("source.cu",
                     "float* h = (float*)malloc(outputs); float* d = nullptr;\n"
                     "cudaMalloc(&d, sizeof(float) * outputs); cudaMemcpy(d, h, sizeof(float) * outputs, "
                     "cudaMemcpyHostToDevice); cudaFree(d); free(h);"),
       before_launch("right.cu", "float* h = (float*)malloc(outputs * sizeof(float)); " + copy + " free(h);")},
      1);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(cases[i]["reason"].get<std::string>(),
                ContainsRegex("^cudaMemcpy writes 7200 bytes, but the host array ends after 1800.*, at "
                              "(malloc|new).cu:[0-9]+"));
    EXPECT_EQ(cases[i]["faults"][0]["kind"], "out of bounds of host memory");
  }
  EXPECT_THAT(cases[2]["reason"].get<std::string>(), StartsWith("cudaMemcpy reads 7200 bytes, but the host array"));
  EXPECT_EQ(cases[3]["verdict"], "PASSED") << cases[3];
}

TEST_F(FileCauses, CompilersWarningsAreShown) {
  const Json file = verified(
      {changed("function", "sum.cu", "float sum = 0;", "float sum;"), "--device", "simt", "--problem", kProblem}, 1)[0];
  const Json& last = file["findings"].back();
  EXPECT_EQ(last["severity"], "warning");
  EXPECT_THAT(last["text"].get<std::string>(), ContainsRegex("sum.* may be used uninitialized"));
  EXPECT_THAT(last["labels"][0]["file"].get<std::string>(), EndsWith("sum.cu"));
  EXPECT_GT(last["labels"][0]["line"], 0);
}

TEST_F(FileCauses, ElementsHaveCoordinatesAndArraysTheirNames) {
  EXPECT_THAT(reason(changed("function", "past.cu", "y[i] = sum;", "y[i] = sum + x[N * C * H * W];")),
              HasSubstr("reads x[1734], past the end (1734 elements)"));
  EXPECT_THAT(reason(changed("function", "race.cu", "y[i] = sum;", "y[i / 2 * 2] = sum;")),
              AllOf(HasSubstr("writes y[0]; "), HasSubstr("y[0] is image 0, output channel 0, row 0, column 0)")));
  EXPECT_THAT(
      reason(changed("minidnn", "race.cu", "output[((b * Map_out + m) * Height_out + h) * Width_out + w] = sum;",
                     "output[((b * Map_out + m) * Height_out + h) * Width_out + w / 2 * 2] = sum;")),
      AllOf(HasSubstr("is image 0, output channel 0, row 0, column 0 of y)"), Not(HasSubstr("the host passes"))));
  std::string text = text_of(changed("function", "macro.cu", "w[((k * C + c) * R + r) * S + s]", "w4d(k, c, r, s)"));
  text.insert(text.find("__global__"),
              "__constant__ float mask[20];\n#define w4d(k, c, r, s) mask[(((k) * C + (c)) * R + (r)) * S + (s)]\n");
  EXPECT_THAT(reason(write("macro.cu", text)), HasSubstr("index out of bounds of array 'mask'"));
}

/// Returns code in which only a part of the block waits between a store and a load of shared memory.
std::string barrier_in_branch(const std::string& barriers) {
  return "  __shared__ float all[128];\n  all[threadIdx.x] = sum;\n  " + barriers +
         "\n  sum += 0 * all[threadIdx.x ^ 64];\n";
}

TEST_F(FileCauses, ABarrierInABranchIsReportedWithoutItsRaces) {
  const std::string half = "if (threadIdx.x < 64) __syncthreads();";
  const std::vector<Json> cases =
      first_cases({changed("function", "two.cu", "  y[i] = sum;\n",
                           barrier_in_branch(half + " else __syncthreads();") + "  y[i] = sum;\n"),
                   changed("function", "later.cu", "  y[i] = sum;\n",
                           barrier_in_branch(half) + "  __syncthreads();\n  y[i] = sum;\n"),
                   changed("function", "never.cu", "  y[i] = sum;\n", barrier_in_branch(half) + "  y[i] = sum;\n")},
                  1);
  for (const Json& each : cases) {
    EXPECT_THAT(each["reason"].get<std::string>(),
                AllOf(StartsWith("__syncthreads() is not reached by all threads of the block: "),
                      Not(HasSubstr("more finding"))));
    EXPECT_EQ(each["faults"].size(), 1u) << each;
  }
}

TEST_F(FileCauses, ARaceAcrossABarrierInABranchNamesTheBarrier) {
  // With files of the course, threads that have exited do not count at a barrier.
  const std::string file = changed("minidnn", "half.cu", "  output[((b", barrier_in_branch("") + "  output[((b");
  std::string text = text_of(file);
  text.replace(text.find("all[128]"), 8, "all[256]");
  text.replace(text.find("all[threadIdx.x]"), 16, "all[threadIdx.y * 16 + threadIdx.x]");
  text.replace(text.find("all[threadIdx.x ^ 64]"), 21, "all[(threadIdx.y * 16 + threadIdx.x) ^ 128]");
  text.insert(text.find("  sum += 0"), "  if (threadIdx.y < 8) __syncthreads();\n");
  const Json fault = first_cases({write("half.cu", text)}, 1)[0]["faults"][0];
  EXPECT_EQ(fault["kind"], "race on shared memory");
  EXPECT_THAT(fault["related"][1]["text"].get<std::string>(), ContainsRegex("thread \\([0-9,]+\\) does not wait here"));
  EXPECT_THAT(fault["help"].get<std::string>(), StartsWith("move __syncthreads() out of the branch"));
}

TEST_F(FileCauses, AnElementThatNoThreadLoadsComesBeforeThreadsThatHaveExited) {
  const std::string file =
      changed("minidnn", "halo.cu", "  output[((b",
              "  __shared__ float all[257];\n  const int i = threadIdx.y * 16 + threadIdx.x;\n  all[i] = sum;\n"
              "  __syncthreads();\n  sum += 0 * all[i + 1];\n  output[((b");
  const Json faults = first_cases({file}, 1)[0]["faults"];
  ASSERT_EQ(faults.size(), 2u) << faults;
  EXPECT_EQ(faults[0]["kind"], "uninitialized shared memory");
  EXPECT_EQ(faults[1]["kind"], "barrier not reached by all threads");
}

TEST_F(FileCauses, ArraysHaveTheNamesOfTheKernelsParameters) {
  const std::string filter = "mask[((m * Channel + c) * K + p) * K + q]";
  const Json past = first_cases(
      {changed("minidnn", "past.cu", filter, "mask[((m * Channel + c) * K + p) * K + q + 99]")}, 1)[0]["faults"][0];
  EXPECT_EQ(past["array"], "mask");
  EXPECT_THAT(past["text"].get<std::string>(), HasSubstr("out-of-bounds read of global memory 'mask'"));
  EXPECT_THAT(past["related"][0]["text"].get<std::string>(),
              ContainsRegex("^cudaMalloc allocates device_mask_ptr here, 432 bytes, and this access needs [0-9]+$"));
  const Json misaligned =
      first_cases({changed("minidnn", "odd.cu", filter, "*(const float*)((const char*)mask + 2)")}, 1)[0];
  EXPECT_THAT(misaligned["reason"].get<std::string>(), HasSubstr("the host passes device_mask_ptr as 'mask'"));
}

TEST_F(FileCauses, ATooSmallAllocationHasItsLineAndTheSizeThatIsNeeded) {
  const Json read = first_cases(
      {changed("minidnn", "all.cu", "input_bytes = sizeof(float) * Batch", "input_bytes = Batch")}, 1)[0]["faults"][0];
  EXPECT_EQ(read["related"][0]["text"], "cudaMalloc allocates device_input_ptr here, 1734 bytes");
  EXPECT_EQ(read["help"], "possibly sizeof(float) is missing: x has 1734 floats, 6936 bytes");
  // The copy that fails and the access have the same cause.
  const Json copied = first_cases({changed("minidnn", "copied.cu", "cudaMalloc(device_input_ptr, input_bytes)",
                                           "cudaMalloc(device_input_ptr, input_bytes / 4)")},
                                  1)[0];
  ASSERT_EQ(copied["faults"].size(), 1u) << copied;
  EXPECT_THAT(copied["reason"].get<std::string>(),
              AllOf(StartsWith("cudaMemcpy failed: cudaErrorInvalidValue: it writes 6936 bytes, past the end of the "
                               "destination 'device_input_ptr' (1734 bytes); cudaMalloc allocates device_input_ptr "),
                    HasSubstr("as a result, out-of-bounds read of global memory 'input'"),
                    EndsWith("help: possibly sizeof(float) is missing: allocate 6936 bytes")));
}

TEST_F(FileCauses, ACopyFromFreedMemoryNamesBothLines) {
  const Json fault = first_cases({copied_back("late.cu",
                                              "cudaFree(device_output);\n  cudaMemcpy(host_output, device_output, "
                                              "output_bytes, cudaMemcpyDeviceToHost);")},
                                 1)[0]["faults"][0];
  EXPECT_THAT(fault["text"].get<std::string>(), HasSubstr("the source 'device_output_ptr' is already free"));
  EXPECT_EQ(fault["related"][0]["text"], "cudaFree frees it here");
  EXPECT_THAT(fault["related"][1]["text"].get<std::string>(),
              StartsWith("cudaMalloc allocates device_output_ptr here"));
  EXPECT_EQ(fault["help"], "free it after its last use");
}

TEST_F(FileCauses, OutputsThatNoThreadWroteNameTheLaunch) {
  const std::string launch = "conv_forward_kernel<<<grid, block>>>";
  const Json small = first_cases({changed("minidnn", "small.cu", launch, "conv_forward_kernel<<<1, block>>>")}, 1)[0];
  EXPECT_THAT(
      small["reason"].get<std::string>(),
      AllOf(HasSubstr("1575 of 1800 outputs were never written: grid (1,1,1) x block (16,16,1) = 256 threads for "
                      "1800 outputs"),
            HasSubstr("at small.cu:"),
            EndsWith("help: launch a thread for each output: possibly round up the grid, (n + TILE - 1) / TILE")));
  EXPECT_THAT(reason(changed("minidnn", "none.cu", launch, "if (Batch < 0) " + launch)),
              AllOf(HasSubstr("1800 of 1800 outputs were never written: no kernel was launched"),
                    HasSubstr("help: launch a kernel that writes the output")));
  EXPECT_THAT(reason(changed("minidnn", "strict.cu", "w >= Width_out) return;", "w >= Width_out - 1) return;")),
              HasSubstr("help: possibly a bounds check is too strict"));
}

TEST_F(FileCauses, NaNThatAKernelWroteIsNotMissing) {
  const std::string written = reason(changed("minidnn", "nan.cu", "float sum = 0;", "float sum = __int_as_float(-1);"));
  EXPECT_THAT(written, AllOf(HasSubstr("1800 of 1800 outputs are wrong, 1800 of them NaN"), HasSubstr("got NaN"),
                             Not(HasSubstr("never written"))));
  EXPECT_THAT(reason(changed("minidnn", "root.cu", "float sum = 0;", "float sum = sqrtf(-1.0f * K);")),
              AllOf(HasSubstr("got NaN"), Not(HasSubstr("-nan"))));
}

TEST_F(FileCauses, ManyShapesTakeFewLines) {
  const std::string file = changed("function", "wrong.cu", "c < C;", "c < C - 1;");
  const std::vector<std::string> arguments{"verify", file, "--device", "simt", "--json", path("result.json")};
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 1);
  EXPECT_LE(std::ranges::count(run.output, '\n'), 25);
  EXPECT_THAT(
      run.output,
      AllOf(ContainsRegex("[0-9]+ shapes +FAILED +smallest: "),
            ContainsRegex("[0-9]+ shapes +SKIPPED +padding is not supported \\([0-9]+\\), "),
            ContainsRegex("wrong.cu:[0-9]+:[0-9]+: error: [0-9]+ of [0-9]+ outputs are wrong\n"),
            HasSubstr("help: possibly the last channel is left out"),
            ContainsRegex("1 file: FAILED \\(1 finding\\). Try: convlab verify .*wrong.cu --device simt --problem ")));
  const Json cases = Json::parse(text_of(path("result.json")))["files"][0]["cases"];
  EXPECT_GT(cases.size(), 100u);
  const ProgramRun all = run_program({"verify", file, "--device", "simt", "-v"});
  EXPECT_GT(std::ranges::count(all.output, '\n'), std::ssize(cases));
}

TEST_F(FileCauses, WhatCannotBeVerifiedHasNoVerdictInTheText) {
  const std::string program = write("program.cu", "int main() {}\n");
  const ProgramRun run = run_program({"verify", path("missing.cu"), program, "--device", "simt"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.output, AllOf(HasSubstr("No such file or directory"), HasSubstr("no entry point found"),
                                HasSubstr("2 files: 2 not verified\n")));
  const ProgramRun device = run_program({"verify", make("function", "mine.cu"), "--device", "cuda:99"});
  EXPECT_EQ(device.status, 3);
  EXPECT_THAT(device.output, HasSubstr("1 file: not verified\n"));
}

TEST_F(FileCauses, ShapesAreCountedOnce) {
  const std::string file = changed("function", "race.cu", "  if (i >= N * K * P * Q) return;",
                                   "  __shared__ float t[128];\n"
                                   "  t[threadIdx.x] = x[0]; const float other = t[127 - threadIdx.x];\n"
                                   "  if (i >= N * K * P * Q || other > 1e30f) return;");
  const Json report = verified({file, "--device", "simt", "--all"}, 1)[0];
  const auto failed =
      std::ranges::count_if(report["cases"], [](const Json& each) { return each["verdict"] == "FAILED"; });
  EXPECT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["notes"][0], fmt::format("in {} shapes", failed));
}

TEST_F(FileCauses, AnEndlessLoopHasItsLine) {
  const std::string kernel =
      changed("minidnn", "loop.cu", "float sum = 0;", "float sum = 0; for (volatile int i = 0;; ++i) {}");
  const auto begin = std::chrono::steady_clock::now();
  const Json cases = verified({kernel, "--device", "simt", "-n", "1", "--stuck-after", "0.5"}, 1)[0]["cases"];
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_THAT(cases[0]["reason"].get<std::string>(), ContainsRegex("^no progress for 0.5 s: .*at loop.cu:[0-9]+"));
  EXPECT_EQ(cases[1]["reason"], "not run: the file hung before");

  // --time-limit stops it by wall-clock time, in a kernel and on the host.
  const std::vector<std::string> clock{"--device", "simt", "--problem", kProblem, "--time-limit", "1"};
  std::vector<std::string> arguments{kernel, before_launch("host.cu", "for (volatile int i = 0;; ++i) {}")};
  arguments.insert(arguments.end(), clock.begin(), clock.end());
  const Json files = verified(arguments, 1);
  EXPECT_THAT(files[0]["cases"][0]["reason"].get<std::string>(), ContainsRegex("at loop.cu:[0-9]+"));
  EXPECT_THAT(files[1]["cases"][0]["reason"].get<std::string>(),
              ContainsRegex("^the file made no progress for 1 s, at host.cu:[0-9]+"));
}

TEST_F(FileCauses, PrintsOfRightFilesAreShown) {
  const std::string file =
      changed("function", "prints.cu", "  y[i] = sum;\n", "  if (i < 30) printf(\"sum %d\\n\", i);\n  y[i] = sum;\n");
  const ProgramRun run = run_program({"verify", file, "--device", "simt", "--problem", "n1_c1h9w9_k2r3s3"});
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(ContainsRegex("  the file printed [0-9]+ lines:\n    sum 0\n    sum 1\n    sum 2\n"),
                                Not(HasSubstr("sum 3\n")), ContainsRegex("\\.\\.\\. and [0-9]+ more")));
}

TEST_F(FileCauses, BlocksWhoseRegistersMayNotFitAreNoted) {
  const auto notes = [&](const std::string& file) {
    return verified({file, "--device", "simt", "--problem", kProblem}, 0)[0]["notes"].dump();
  };
  const std::string launch = "convolve_kernel<<<(outputs + 959) / 960, 960>>>";
  const std::string note = notes(launched("large.cu", launch));
  // With nvcc, the registers are measured, and they fit.
  EXPECT_TRUE(note == "[]" || note.find("uses more than 64 registers per thread") != std::string::npos) << note;
  std::string text = text_of(path("large.cu"));
  text.replace(text.find("__global__ void"), 15, "__global__ void __launch_bounds__(960)");
  EXPECT_EQ(notes(write("bounded.cu", text)), "[]");
}

TEST_F(FileCauses, HintsAreForNamesThatTheFileLacks) {
  const auto why = [&](const std::string& name, const std::string& line) {
    return verified({before_launch(name, line), "--device", "simt"}, 2)[0]["reason"].get<std::string>();
  };
  EXPECT_THAT(why("other.cu", "int n = 2 * TILE_OF_ANOTHER_FILE;"),
              HasSubstr("the file does not declare 'TILE_OF_ANOTHER_FILE'"));
  EXPECT_THAT(why("cuda.cu", "cudaGraphicsMapResources(0, 0);"),
              HasSubstr("simt does not support 'cudaGraphicsMapResources'"));
  const std::string missing = why("semicolon.cu", "int first = 1\n  int second = first;\n  first = second;");
  EXPECT_THAT(missing,
              AllOf(HasSubstr("expected"), Not(HasSubstr("convlab compiles")), Not(HasSubstr("simt does not"))));
}

TEST_F(FileCauses, AMissingBraceIsTheOnlyFinding) {
  for (const std::string kind : {"function", "minidnn", "mxnet"}) {
    const std::string file = changed(kind, kind + ".cu", "      }\n    }\n  }\n", "      }\n    }\n");
    const Json report = verified({file, "--device", "simt"}, 2)[0];
    ASSERT_EQ(report["findings"].size(), 1u) << report;
    EXPECT_THAT(report["findings"][0]["text"].get<std::string>(), ContainsRegex("^'.' at line [0-9]+ has no matching"));
    EXPECT_THAT(report["reason"].get<std::string>(), HasSubstr("for (int c = 0;"));
  }
  // An error before the brace has its own cause.
  std::string text = text_of(path("function.cu"));
  text.insert(text.find("__global__"), "int two = \"2\" * 2;\n");
  const Json findings = verified({write("two.cu", text), "--device", "simt"}, 2)[0]["findings"];
  ASSERT_EQ(findings.size(), 2u) << findings;
  EXPECT_THAT(findings[0]["text"].get<std::string>(), HasSubstr("has no matching"));
  EXPECT_THAT(findings[1]["text"].get<std::string>(), HasSubstr("invalid operands"));
}

TEST_F(FileCauses, TheSemesterThatFitsBestIsTaken) {
  // Written for sp19's second layer, with a mistake. For fa19's layers the constant array of filters is too small.
  std::string text = text_of(changed("mxnet", "guess.cuh", "float sum = 0;", "float sum = 1;"));
  const std::string filter = "w[((m * C + c) * K + p) * K + q]";
  ASSERT_NE(text.find(filter), std::string::npos);
  text.replace(text.find(filter), filter.size(), "mask[((m * C + c) * K + p) * K + q]");
  text.insert(text.find("__global__"), "__constant__ float mask[16 * 6 * 5 * 5];\n");
  const std::string launch = "  forward_kernel<<<";
  text.insert(text.find(launch), "  cudaMemcpyToSymbol(mask, w.dptr_, sizeof(float) * M * C * K * K);\n");
  const Json file = verified({write("guess.cuh", text), "--device", "simt", "-n", "1"}, 1)[0];
  EXPECT_EQ(file["semester"], "sp19") << file;
  EXPECT_THAT(file["notes"].dump(), HasSubstr("verified with the layers of sp19, with which it has the fewest errors"));
}

TEST_F(FileCauses, ScriptsTakeTheFilesDeviceAndNetwork) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  const ProgramRun run = run_program({"m3.1", "1", "--kernel", make("minidnn", "mine.cu"), "--json", path("run.json")});
  EXPECT_EQ(run.status, 0) << run.complaint;
  const Json saved = Json::parse(text_of(path("run.json")));
  EXPECT_EQ(saved["device"], "simt");
  EXPECT_EQ(saved["model"], "sp25");
  const ProgramRun cpu = run_program({"m2.1", "1", "--kernel", path("mine.cu")});
  EXPECT_EQ(cpu.status, 2);
  EXPECT_THAT(cpu.complaint, AllOf(HasSubstr("file is for GPUs, but m2.1 runs on the CPU; use 'convlab m3.1 --kernel"),
                                   Not(HasSubstr("--device"))));
}

TEST_F(FileCauses, TimesOnSimtAreNotAGpus) {
  const ProgramRun run = run_program({"bench", make("function", "mine.cu"), "--against", "cuda.basic", "--device",
                                      "simt", "--problem", "n1_c1h9w9_k1r3s3", "--seconds", "0.05"});
  EXPECT_THAT(run.output, ContainsRegex("against cuda.basic: .*simt's times are not GPU times"));
}

TEST_F(FileCauses, PredictionsKnowTheArraysThatAFileAllocates) {
  const auto ms = [&](const std::string& file) {
    const ProgramRun run = run_program(
        {"predict", file, "--from", "cuda.basic", "--problem", "n5000_c1h86w86_k4r7s7", "--device", "simt", "--machine",
         (source_folder() / "results/nvidia-h200/fa19.json").string(), "--counted", "1", "--json", "-"});
    EXPECT_EQ(run.status, 0) << run.complaint;
    return Json::parse(run.output)["predictions"][0]["ms"].get<double>();
  };
  const double own = ms(make("minidnn", "own_arrays.cu"));
  // The same loop and blocks, with arrays allocated by the caller.
  std::string text = text_of(path("own_arrays.cu"));
  text = text.substr(text.find("#define TILE_WIDTH"), text.find("__host__ void GPUInterface") - text.find("#define"));
  text.replace(text.find("conv_forward_kernel"), 19, "kernel");
  text +=
      "void convolve(const float* x, const float* w, float* y, int B, int M, int C, int H, int W, int K) {\n"
      "  const int P = H - K + 1, Q = W - K + 1;\n"
      "  const int tiles = ((P + TILE_WIDTH - 1) / TILE_WIDTH) * ((Q + TILE_WIDTH - 1) / TILE_WIDTH);\n"
      "  const dim3 grid(M, tiles, B), block(TILE_WIDTH, TILE_WIDTH);\n"
      "  kernel<<<grid, block>>>(y, x, w, B, M, C, H, W, K);\n}\n";
  const double given = ms(write("given_arrays.cu", text));
  EXPECT_LT(own, 1.3 * given);
  EXPECT_GT(1.3 * own, given);
}

}  // namespace
}  // namespace convlab
