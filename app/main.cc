// The program convlab: its table of commands.

#include <array>
#include <string_view>
#include <vector>

#include "app/class_program.h"
#include "app/guests/guest_kernels.h"
#include "app/program.h"

namespace convlab::app {
namespace {

constexpr std::array kCommands{
    Command{"list",
            "List kernels, shipped models and devices",
            {"convlab list kernels", "convlab list devices", "convlab list --json list.json"},
            declare_list},
    Command{"run",
            "Classify Fashion-MNIST and time each layer",
            {"convlab run fa19 -n 1000", "convlab run fa19 --kernel new-forward.cuh -n 10",
             "convlab run fa19 -n 1000 --plan layers --repeat 3 --json run.json"},
            declare_run},
    Command{"m1.1",
            "Course script: a library's convolution on the CPU",
            {"convlab m1.1 1000", "convlab m1.1 1000 --semester sp25"},
            declare_m11},
    Command{"m1.2",
            "Course script: a library's convolution on the GPU",
            {"convlab m1.2 1000", "convlab m1.2 1000 --semester sp25"},
            declare_m12},
    Command{"m2.1",
            "Course script: convlab's own convolution on the CPU",
            {"convlab m2.1 1000", "convlab m2.1 1000 --semester sp25", "convlab m2.1 1000 --kernel cpu.im2col_gemm"},
            declare_m21},
    Command{"m3.1",
            "Course script: the basic CUDA kernel on the GPU",
            {"convlab m3.1 10 --device simt", "convlab m3.1 --kernel new-forward.cuh 10 --device simt",
             "convlab m3.1 10000 --device cuda"},
            declare_m31},
    Command{"m4.1",
            "Course script: the fastest fp32 kernel of the ladder on the GPU",
            {"convlab m4.1 10 --device simt", "convlab m4.1 10000 --device cuda"},
            declare_m41},
    Command{"final",
            "Course script: the best kernel for each layer on the GPU",
            {"convlab final 10 --device simt", "convlab final 10000 --device cuda"},
            declare_final},
    Command{
        "infer",
        "Run a model on arrays or images",
        {"convlab infer model.onnx --input x.npy --output y.npy", "convlab infer model.onnx --input x.npy --repeat 3",
         "convlab infer model.onnx --image photo.jpg --channels gray --resize 28x28 --labels labels.txt"},
        declare_infer},
    Command{"merge",
            "Merge the results of all shares of a run",
            {"convlab merge result.0-of-2.json result.1-of-2.json",
             "convlab merge result.0-of-2.json result.1-of-2.json --json result.json"},
            declare_merge},
    Command{
        "explain",
        "Show a network's steps, their kernels and why, and time bounds",
        {"convlab explain model.onnx", "convlab explain fa19 -o fa19.svg", "convlab explain fa19 -n 100 --plan folded"},
        declare_explain},
    Command{"compare",
            "Compare two networks layer by layer and find the first wrong layer",
            {"convlab compare model.onnx model.onnx --input x.npy --math fp32,bf16",
             "convlab compare model.onnx model.onnx --input x.npy --kernel cpu.reference,auto"},
            declare_compare},
    Command{"tune",
            "Measure the fastest kernels: for a network, to write a plan file, or for a problem",
            {"convlab tune model.onnx -o plan.txt --input x.npy", "convlab tune fa19 -o fa19.txt -n 100 --bytes",
             "convlab tune --kernel 'cpu.*' --problem matmul_m512n512k512"},
            declare_tune},
    Command{"new",
            "Write a kernel file to start from",
            {"convlab new mxnet -o new-forward.cuh", "convlab new function"},
            declare_new},
    Command{"verify",
            "Check kernels or kernel files against reference results",
            {"convlab verify new-forward.cuh --device simt",
             "convlab verify new-forward.cuh --problem n2_c3h9w11_k4r3s3 --format gcc",
             "convlab verify --kernel 'cpu.*' --problem n2_c3h9w11_k4r3s3_p1"},
            declare_verify},
    Command{"bench",
            "Time kernels and compare them with a library and the roofline",
            {"convlab bench --kernel 'cpu.*' --model fa19 -n 100,1000",
             "convlab bench --kernel cpu.direct --problem n10_c12h33w33_k24r5s5",
             "convlab bench new-forward.cuh --against cuda.basic --device simt --problem n1_c6h22w22_k16r5s5"},
            declare_bench},
    Command{"cuda",
            "Run a whole CUDA program without a GPU, and check its kernels",
            {"convlab cuda run vecadd.cu", "convlab cuda run main.cu kernels.cu -I include -- input.txt"},
            declare_cuda},
    Command{"ablate",
            "Measure what each of several optimizations gains, alone and combined",
            {"convlab ablate bench/cpu_techniques.cc --problem n4_c6h22w22_k16r5s5 -o ablation.svg",
             "convlab ablate cpu.reference cpu.im2col_gemm cpu.direct --problem n4_c3h12w12_k4r5s5"},
            declare_ablate},
    Command{"predict",
            "Predict a CUDA kernel's time on a GPU, or its speedup over another kernel",
            {"convlab predict new-forward.cuh --from cuda.basic",
             "convlab predict cuda.shared_tile --from cuda.basic --device simt",
             "convlab predict cuda.softmax --problem softmax_r64c1024 --device simt"},
            declare_predict},
    Command{"profile",
            "Show where the time of a run goes, as nvprof does",
            {"convlab profile fa19 -n 1000", "convlab profile fa19 -n 1000 --trace trace.json",
             "convlab profile new-forward.cuh --device simt --counters -n 2"},
            declare_profile},
    Command{"report",
            "Write the course's report as an HTML page",
            {"convlab report --kernel new-forward.cuh -o report.html", "convlab report -o report.html"},
            declare_report},
    Command{"convert",
            "Convert a model to ONNX",
            {"convlab convert ece408-0001.params -o ece408.onnx", "convlab convert fa19 -o fa19.onnx"},
            declare_convert},
    Command{
        kClassCommand, "Run a class: submissions, verdicts, ranking, grades", {"convlab class --help"}, declare_class},
    Command{"judge-file", "", {}, declare_judge_file},              // started by 'convlab verify FILE'
    Command{"prove-file", "", {}, declare_prove_file},              // started by 'convlab verify FILE --prove'
    Command{"measure-variants", "", {}, declare_measure_variants},  // started by 'convlab ablate'
};

const ProgramInfo kProgram{"convlab",
                           "A CNN inference engine with a laboratory of convolution kernels",
                           {"convlab run fa19 -n 1000", "convlab verify new-forward.cuh --device simt",
                            "convlab infer model.onnx --input x.npy --output y.npy"},
                           [](int argc, char** argv) {
                             if (argc > 1 && argv[1] == kClassCommand) start_class_program(argv + 2);
                             begin_program(argc, argv);
                           }};

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  using namespace convlab::app;
  // convlab-nvcc, for Makefiles, is this program under another name.
  std::vector<char*> words(argv, argv + argc);
  static char cuda[] = "cuda", build[] = "build";
  if (argc > 0 && std::string_view(argv[0]).ends_with("convlab-nvcc")) words.insert(words.begin() + 1, {cuda, build});
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  const int status = run_program(kProgram, kCommands, count, words.data());
  end_program(status);
  return status;
}
