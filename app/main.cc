// convlab: its table of commands.

#include <array>

#include "app/class_program.h"
#include "app/guests/kernel_files.h"
#include "app/program.h"

namespace convlab::app {
namespace {

constexpr std::array kCommands{
    Command{"list", "Show every kernel, shipped model and device", "convlab list kernels", declare_list},
    Command{"run", "Classify Fashion-MNIST: the main job", "convlab run fa19 -n 1000", declare_run},
    Command{"m1.1", "The course's script: the library's convolution on the CPU", "convlab m1.1 1000", declare_m11},
    Command{"m1.2", "The course's script: the library's convolution on the GPU", "convlab m1.2 1000", declare_m12},
    Command{"m2.1", "The course's script: a convolution of the project's own on the CPU", "convlab m2.1 1000",
            declare_m21},
    Command{"m3.1", "The course's script: the plain CUDA kernel on the GPU", "convlab m3.1 10 --device simt",
            declare_m31},
    Command{"m4.1", "The course's script: the fastest rung of the ladder on the GPU", "convlab m4.1 10 --device simt",
            declare_m41},
    Command{"final", "The course's script: the best kernel for each layer on the GPU", "convlab final 10 --device simt",
            declare_final},
    Command{"infer", "Run a model on any input", "convlab infer model.onnx --input x.npy --output y.npy",
            declare_infer},
    Command{"merge", "Put the results of all shares of a run together",
            "convlab merge result.0-of-2.json result.1-of-2.json", declare_merge},
    Command{"explain", "Show what a network is made of, which kernel computes what and why, and what bounds it",
            "convlab explain fa19 -o fa19.svg", declare_explain},
    Command{"compare", "Find the first layer of a network that is wrong, beside another or a framework's values",
            "convlab compare model.onnx model.onnx --input x.npy --math fp32,bf16", declare_compare},
    Command{"tune", "Measure which kernel computes each layer fastest here, and write a plan that runs replay",
            "convlab tune model.onnx -o plan.txt --input x.npy", declare_tune},
    Command{"new", "Write a kernel file to begin with", "convlab new mxnet -o new-forward.cuh", declare_new},
    Command{"verify", "Check kernels, or kernel files, against the definition, element by element",
            "convlab verify new-forward.cuh --device simt", declare_verify},
    Command{"bench", "Time kernels, beside the library's and what the machine could do",
            "convlab bench --kernel 'cpu.*' --model fa19 -n 100,1000", declare_bench},
    Command{"ablate", "Tell which of several optimizations gains what, alone and among the others",
            "convlab ablate bench/cpu_techniques.cc --problem n4_c6h22w22_k16r5s5 -o ablation.svg", declare_ablate},
    Command{"predict", "Say what a step from one CUDA kernel to another should do on a GPU, before it is measured",
            "convlab predict new-forward.cuh --from cuda.basic", declare_predict},
    Command{"profile", "Show where a run's time goes: nvprof's tables, by layer, and the bill of the start-up",
            "convlab profile fa19 -n 1000", declare_profile},
    Command{"report", "Write the course's report with its evidence, one page",
            "convlab report --kernel new-forward.cuh -o report.html", declare_report},
    Command{"convert", "Write any model that loads as clean ONNX", "convlab convert ece408-0001.params -o ece408.onnx",
            declare_convert},
    Command{kClassCommand, "A class of students: submissions, verdicts, a ranking", "convlab class --help",
            declare_class},
    Command{"judge-file", "", "", declare_judge_file},              // started by 'convlab verify FILE'
    Command{"measure-variants", "", "", declare_measure_variants},  // started by 'convlab ablate'
};

const ProgramInfo kProgram{"convlab", "A CNN inference engine with a laboratory of convolution kernels inside",
                           "convlab run fa19 -n 1000", [](int argc, char** argv) {
                             if (argc > 1 && argv[1] == kClassCommand) start_class_program(argv + 2);
                             begin_program(argc, argv);
                           }};

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  using namespace convlab::app;
  const int status = run_program(kProgram, kCommands, argc, argv);
  end_program(status);
  return status;
}
