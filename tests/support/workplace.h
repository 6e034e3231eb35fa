#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/tensor/npy.h"
#include "convlab/tensor/npz.h"
#include "tests/support/mxnet_checkpoint.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/shown_commands.h"
#include "tests/support/temporary_folder.h"

namespace convlab {

/// A temporary folder with the files that documented commands name: ./run.sh, convlab on PATH and under build, models
/// and inputs.
class Workplace {
 public:
  Workplace() {
    namespace fs = std::filesystem;
    const fs::path here = folder_.path(), root = source_folder();
    fs::create_directories(here / "build/cpu/bin");
    for (const char* name : {"convlab", "convlab-nvcc"}) {
      fs::create_symlink(convlab_program(), here / "build/cpu/bin" / name);
    }
    write_file(here / "run.sh", "#!/bin/sh\nexec build/cpu/bin/convlab run \"$@\"\n");
    fs::permissions(here / "run.sh", fs::perms::owner_all);
    fs::create_directory_symlink(root / "shapes", here / "shapes");
    fs::create_directory_symlink(root / "models", here / "models");
    fs::create_directory_symlink(root / "bench", here / "bench");
    fs::create_directory_symlink(root / "examples", here / "examples");
    for (const char* name : {"my-net.onnx", "model.onnx"}) fs::copy_file(root / "models/fa17-low.onnx", here / name);
    fs::copy_file(root / "convlab/kernel_file/templates/mxnet.cuh", here / "new-forward.cuh");
    fs::copy_file(root / "convlab/kernel_file/templates/minidnn.cu", here / "new-forward.cu");
    fs::copy_file(root / "convlab/kernel_file/templates/streams.cu", here / "streams.cu");
    write_programs(here);
    constexpr int64_t kSide = 28;
    Tensor x(ElementType::f32, {1, 1, kSide, kSide});
    std::ranges::fill(x.values<float>(), 0.5f);
    write_file(here / "x.npy", to_npy(x));
    fs::create_directory(here / "pictures");
    for (const std::string kind : {".jpg", ".png"}) {
      fs::copy_file(root / ("fuzz/corpus/image/rgb" + kind), here / ("photo" + kind));
      fs::copy_file(here / ("photo" + kind), here / "pictures" / ("photo" + kind));
    }
    std::vector<uint8_t> idx = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, kSide, 0, 0, 0, kSide};
    idx.resize(idx.size() + 2 * kSide * kSide);
    write_file(here / "images-idx3-ubyte", idx);
    write_file(here / "labels.txt", "T-shirt\ntrousers\npullover\ndress\ncoat\nsandal\nshirt\nsneaker\nbag\nboot\n");
    const NamedTensor arrays[] = {{"arr_0", std::move(x)}};
    write_file(here / "x.npz", to_npz(arrays));
    write_checkpoint(here);
  }

  /// Prepares the folder for one command, whatever ran before: commands of a class need the class to exist, `convlab
  /// class new` and `convlab new` need it not to, and `convlab merge` needs the results of all shards.
  void prepare(const std::string& command) const {
    if (command.starts_with("convlab new ")) std::filesystem::remove(folder_.path() / "made.cuh");
    if (command.starts_with("convlab merge")) {
      for (const std::string share : {"0", "1"}) {
        run(fmt::format("convlab run fa19 -n 1000 --shard {0}/2 --json result.{0}-of-2.json", share));
      }
    }
    const std::filesystem::path place = folder_.path() / "myclass";
    if (command.starts_with("convlab class new myclass")) std::filesystem::remove_all(place);
    const std::vector<std::string> words = words_of(command);
    const bool wants = words.size() > 3 && words[1] == "class" && words[2] != "new";
    if (!wants || std::filesystem::exists(place / "files/1")) return;
    std::filesystem::remove_all(place);
    run("convlab class new myclass --assignment fa19 sp25");
    run("convlab class submit myclass new-forward.cuh --assignment fa19");
  }

  struct Result {
    int status = -1;
    double seconds = 0;
    std::string output, complaint;
  };

  /// Runs a command in a shell, in this folder.
  Result run(const std::string& command) const {
    const std::string complaint = (folder_.path() / "complaint").string();
    const std::string line = fmt::format("cd '{0}' && PATH='{0}/build/cpu/bin':$PATH && {{ {1}; }} >output 2>'{2}'",
                                         folder_.path().string(), command, complaint);
    const auto begin = std::chrono::steady_clock::now();
    const int status = std::system(line.c_str());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, took.count(), text_of(folder_.path() / "output"),
            text_of(complaint)};
  }

 private:
  /// Writes CUDA programs: vecadd.cu, and main.cu with kernels.cu, host.cpp, include/size.h and input.txt.
  static void write_programs(const std::filesystem::path& folder) {
    write_file(folder / "vecadd.cu", "__global__ void add() {}\nint main() { add<<<1, 32>>>(); }\n");
    write_file(folder / "kernels.cu", "__global__ void wait() {}\nvoid launch(int n) { wait<<<1, n>>>(); }\n");
    write_file(folder / "host.cpp", "int expected_arguments() { return 2; }\n");
    write_file(folder / "main.cu", R"(#include "include/size.h"
#ifndef N
#define N kSize
#endif
void launch(int n);
int main(int argc, char**) {
  launch(N);
  return argc == 2 && cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
)");
    std::filesystem::create_directory(folder / "include");
    write_file(folder / "include/size.h", "constexpr int kSize = 256;\n");
    write_file(folder / "input.txt", "1 2 3\n");
  }

  /// Writes ece408-0001.params and ece408-symbol.json.
  static void write_checkpoint(const std::filesystem::path& folder) {
    MxnetSymbolText symbol;
    const int data = symbol.variable("data"), w = symbol.variable("new0_weight");
    const int conv = symbol.add("New", "new0", {data, w}, "kernel=(5, 5); num_filter=1");
    const int flat = symbol.add("Flatten", "flatten0", {conv}), v = symbol.variable("fc_weight");
    symbol.add("FullyConnected", "fc", {flat, v}, "num_hidden=10; no_bias=True");
    write_file(folder / "ece408-symbol.json", symbol.text());
    constexpr int64_t kPixels = 24 * 24;
    const MxnetParams params =
        MxnetParams(MxnetFormat::v2).fill("arg:new0_weight", {1, 1, 5, 5}, 1).fill("arg:fc_weight", {10, kPixels}, 1);
    write_file(folder / "ece408-0001.params", params.bytes());
  }

  TemporaryFolder folder_;
};

}  // namespace convlab
