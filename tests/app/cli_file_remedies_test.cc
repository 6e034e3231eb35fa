// Tests what `verify` says to do about common mistakes in kernel files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/temporary_kernel_files.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kProblem = "n2_c3h17w19_k4r3s3";

class FileRemedies : public KernelFiles {
 protected:
  /// Verifies one file on one problem and returns its report.
  Json report(const std::string& file) const {
    return verified({file, "--device", "simt", "--problem", kProblem}, 1)[0];
  }
  /// Returns its first finding, and expects no other.
  Json only_finding(const std::string& file) const {
    const Json findings = report(file)["findings"];
    EXPECT_EQ(findings.size(), 1u) << findings;
    return findings[0];
  }
  /// Returns the first finding of a file that does not compile.
  Json compile_error(const std::string& file) const {
    return verified({file, "--device", "simt"}, 2)[0]["findings"][0];
  }
  /// Returns the file with one more replacement.
  std::string again(const std::string& file, const std::string& what, const std::string& by) const {
    std::string text = text_of(file);
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return write(std::filesystem::path(file).filename(), text.replace(at, what.size(), by));
  }
  /// Returns the `minidnn` template with the filter in a __constant__ array, which the host sets by `call`.
  std::string constant_filter(const std::string& name, const std::string& call, int floats) const {
    const std::string copy = "cudaMemcpy(*device_mask_ptr, host_mask, mask_bytes, cudaMemcpyHostToDevice);";
    const std::string file = again(changed("minidnn", name, copy, call), " * mask[", " * kmask[");
    return again(file, "__global__", "__constant__ float kmask[" + std::to_string(floats) + "];\n__global__");
  }
  static std::vector<std::string> texts_of(const Json& finding) {
    std::vector<std::string> texts;
    for (const Json& label : finding["labels"]) texts.push_back(label["text"]);
    return texts;
  }
};

TEST_F(FileRemedies, ImagesThatAreNotSquareFindSwappedStrides) {
  const std::string file =
      changed("minidnn", "stride.cu", "* Height + h + p) * Width + w", "* Height + h + p) * Height + w");
  const Json all = verified({file, "--device", "simt", "-n", "1"}, 0)[0];
  EXPECT_EQ(all["verdict"], "PASSED");  // the network's images are square
  EXPECT_THAT(all["findings"].dump(), HasSubstr("x's row stride is its height, not its width"));
}

TEST_F(FileRemedies, WhatAnInterfaceCannotPassIsSkipped) {
  const std::string mine = make("minidnn", "mine.cu");
  for (const std::string problem : {"n2_c3h17w19_k4r3s3_p1", "n2_c3h17w19_k4r3s3_st2", "n2_c3h17w19_k4r3s1"}) {
    const Json file = verified({mine, "--device", "simt", "--problem", problem}, 2)[0];
    EXPECT_EQ(file["cases"][0]["verdict"], "SKIPPED") << problem;
    EXPECT_THAT(file["cases"][0]["reason"].get<std::string>(), testing::ContainsRegex("not supported|must be square"));
  }
}

TEST_F(FileRemedies, DeviceVariablesAreSetBySymbol) {
  const Json copied = only_finding(
      constant_filter("copied.cu", "cudaMemcpy(kmask, host_mask, mask_bytes, cudaMemcpyHostToDevice);", 108));
  EXPECT_EQ(copied["text"], "cudaMemcpy failed: cudaErrorInvalidValue");
  EXPECT_EQ(copied["labels"][0]["text"], "'kmask' is a __constant__ variable: host code has no device pointer to it");
  EXPECT_EQ(copied["help"], "use cudaMemcpyToSymbol(kmask, source, bytes)");
  // The address that cudaGetSymbolAddress() returns is device memory.
  const std::string through = constant_filter(
      "address.cu",
      "void* a; cudaGetSymbolAddress(&a, kmask);\n  cudaMemcpy(a, host_mask, mask_bytes, cudaMemcpyHostToDevice);",
      108);
  EXPECT_EQ(verified({through, "--device", "simt", "--problem", kProblem}, 0)[0]["verdict"], "PASSED");
  const Json unset = only_finding(constant_filter("unset.cu", "", 108));
  EXPECT_EQ(unset["text"], "read of uninitialized __constant__ variable 'kmask'");
  EXPECT_THAT(unset["notes"].dump(), HasSubstr("as a result, "));
  const Json small = only_finding(constant_filter("small.cu", "cudaMemcpyToSymbol(kmask, host_mask, mask_bytes);", 20));
  EXPECT_EQ(small["help"], "declare kmask with at least 432 bytes, 108 floats");
}

TEST_F(FileRemedies, CopiesSayHowToCorrectThem) {
  const std::string copy = "cudaMemcpy(*device_mask_ptr, host_mask, mask_bytes, cudaMemcpyHostToDevice);";
  const Json address =
      only_finding(changed("minidnn", "address.cu", copy, "cudaMemcpy(device_mask_ptr" + copy.substr(27)));
  EXPECT_EQ(address["labels"][0]["text"], "the destination is the address of a device pointer, not the pointer");
  EXPECT_EQ(address["help"], "write *p if p is a float**, or p instead of &p");
  const Json direction = only_finding(changed(
      "minidnn", "up.cu", copy, "cudaMemcpy(*device_mask_ptr, host_mask, mask_bytes, cudaMemcpyDeviceToHost);"));
  EXPECT_EQ(direction["help"], "use cudaMemcpyHostToDevice, or swap the pointers: the destination comes first");
  const Json missing = only_finding(changed("minidnn", "missing.cu", copy, ""));
  EXPECT_THAT(missing["labels"][0]["text"].get<std::string>(), EndsWith("; nothing has been copied to the array"));
  EXPECT_THAT(missing["help"].get<std::string>(), StartsWith("copy the data before the launch: cudaMemcpy("));
}

TEST_F(FileRemedies, AccessesOutOfBoundsSayWhichSizeIsWrong) {
  const Json small = report(changed("minidnn", "small.cu", "output_bytes = sizeof(float) * Batch *",
                                    "output_bytes = sizeof(float) *"))["findings"];
  ASSERT_EQ(small.size(), 1u) << small;
  EXPECT_EQ(small[0]["help"], "possibly the size is wrong: y has 2040 floats, 8160 bytes");
  const Json grid =
      only_finding(changed("minidnn", "grid.cu", "grid(Map_out, tiles, Batch)", "grid(Batch, tiles, Map_out)"));
  EXPECT_THAT(texts_of(grid), testing::Contains("grid (2,2,4) x block (16,16,1): blockIdx goes up to (1,1,3)"));
  EXPECT_THAT(grid["help"].get<std::string>(), HasSubstr("dimensions of the grid, arguments of the launch"));
  const Json guard = report(changed("function", "guard.cu", "if (i >= N * K * P * Q) return;", ""))["findings"][0];
  EXPECT_EQ(guard["help"],
            "the grid has 2048 threads for 2040 outputs: let threads whose index is 2040 or more return");
  const Json before = report(changed("function", "before.cu", "x[((n", "x[-1 + ((n"))["findings"][0];
  EXPECT_THAT(before["labels"][0]["text"].get<std::string>(), EndsWith("reads x[-1], before the start"));
}

/// Returns the kernel of `minidnn` with the tile in dynamic shared memory.
constexpr const char* kTiled = R"(  extern __shared__ float tile[];
  const int X = TILE_WIDTH + K - 1, h0 = h - threadIdx.y, w0 = w - threadIdx.x;
  float sum = 0;
  for (int c = 0; c < Channel; ++c) {
    for (int i = threadIdx.y; i < X; i += TILE_WIDTH)
      for (int j = threadIdx.x; j < X; j += TILE_WIDTH)
        tile[i * X + j] = h0 + i < Height && w0 + j < Width
            ? input[((b * Channel + c) * Height + h0 + i) * Width + w0 + j] : 0;
    __syncthreads();
    for (int p = 0; p < K; ++p)
      for (int q = 0; q < K; ++q)
        sum += tile[(threadIdx.y + p) * X + threadIdx.x + q] * mask[((m * Channel + c) * K + p) * K + q];
    __syncthreads();
  }
  if (h < Height_out && w < Width_out) output)";

class TiledFiles : public FileRemedies {
 protected:
  std::string tiled(const std::string& name, const std::string& bytes, const std::string& kernel = kTiled) const {
    std::string text = text_of(make("minidnn", "template"));
    std::filesystem::remove(path("template"));
    const size_t begin = text.find("  if (h >= Height_out"), end = text.find("  output[((b");
    text.replace(begin, end + 8 - begin, kernel);
    text.replace(text.find("<<<grid, block>>>"), 17, "<<<grid, block" + bytes + ">>>");
    return write(name, text);
  }
};

TEST_F(TiledFiles, DynamicSharedMemoryHasItsNameAndTheLaunchItsBytes) {
  const std::string right = tiled("right.cu", ", 18 * 18 * sizeof(float)");
  EXPECT_EQ(verified({right, "--device", "simt", "--problem", kProblem}, 0)[0]["verdict"], "PASSED");
  const Json none = report(tiled("none.cu", ""))["findings"][0];
  EXPECT_EQ(none["text"], "out-of-bounds write of dynamic shared memory 'tile'");
  EXPECT_THAT(none["labels"][1]["text"].get<std::string>(),
              StartsWith("launched with 0 bytes of dynamic shared memory; this access needs "));
  EXPECT_THAT(none["help"].get<std::string>(), HasSubstr("third launch argument"));
}

TEST_F(TiledFiles, OneMissingBarrierIsOneFindingWithItsPlace) {
  std::string kernel = kTiled;
  const size_t second = kernel.rfind("    __syncthreads();\n");
  kernel.erase(second, std::string("    __syncthreads();\n").size());
  const Json race = only_finding(tiled("second.cu", ", 18 * 18 * sizeof(float)", kernel));
  EXPECT_THAT(race["text"].get<std::string>(), EndsWith("dynamic shared memory 'tile'"));
  EXPECT_THAT(race["help"].get<std::string>(),
              testing::ContainsRegex("^add __syncthreads\\(\\) at the end of the body of the loop at line [0-9]+, "
                                     "before its '}' at line [0-9]+$"));
}

TEST_F(FileRemedies, CompilerErrorsSayWhatToWrite) {
  const auto help = [&](const std::string& name, const std::string& what, const std::string& by) {
    return compile_error(changed("minidnn", name, what, by))["help"].get<std::string>();
  };
  EXPECT_EQ(help("include.cu", "gpu-new-forward.h", "gpu-new-foward.h"), "did you mean 'gpu-new-forward.h'?");
  EXPECT_EQ(help("global.cu", "__global__", "__global"), "did you mean '__global__'?");
  EXPECT_THAT(help("semicolon.cu", "float sum = 0;", "float sum = 0"),
              testing::MatchesRegex("add ';' at the end of line [0-9]+"));
  EXPECT_EQ(help("shift.cu", "<<<grid, block>>>", "<<grid, block>>"),
            "write kernel<<<grid, block>>>(arguments): three '<' and three '>'");
  const Json call = compile_error(changed("minidnn", "call.cu", "<<<grid, block>>>", ""));
  EXPECT_EQ(call["text"], "kernel 'conv_forward_kernel' is called without <<<grid, block>>>");
  EXPECT_EQ(call["help"], "write conv_forward_kernel<<<grid, block>>>(arguments)");
  const Json few = compile_error(changed("minidnn", "few.cu", "device_mask, Batch, Map_out, Channel, Height, Width,",
                                         "device_mask, Batch, Map_out, Channel, Height,"));
  EXPECT_EQ(few["help"], "pass an argument for 'Width'");
}

TEST_F(FileRemedies, AWarningExplainsAWrongSum) {
  const Json findings = report(changed("minidnn", "sum.cu", "float sum = 0;", "float sum;"))["findings"];
  ASSERT_EQ(findings.size(), 2u) << findings;
  EXPECT_EQ(findings[0]["help"], "possibly 'sum' has no initial value: see the warning below");
  EXPECT_EQ(findings[1]["help"], "initialize 'sum' where it is declared, for example with = 0");
}

}  // namespace
}  // namespace convlab
