// The table of commands, and the one place where a failure becomes a message and an exit status: 0 done and right, 1 a
// wrong result, 2 bad usage or input, 3 something asked for is not there.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "app/command.h"
#include "app/command_line.h"
#include "app/guests/kernel_files.h"
#include "app/results/streams.h"
#include "app/usage.h"
#include "convlab/base/error.h"

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
    Command{"convert", "Write an MXNet checkpoint as ONNX", "convlab convert ece408-0001.params -o ece408.onnx",
            declare_convert},
    Command{"judge-file", "", "", declare_judge_file},              // started by 'convlab verify FILE'
    Command{"measure-variants", "", "", declare_measure_variants},  // started by 'convlab ablate'
};

/// A closed standard stream would pass its number to the first opened file, and messages would end up in that file.
void open_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != descriptor) std::abort();
  }
}

int complain(const char* message, int status) {
  std::fflush(results_stream());
  std::fprintf(messages_stream(), "convlab: %s\n", message);
  return status;
}

/// The exit status.
int run_program(int argc, char** argv) {
  constexpr int kBadInput = static_cast<int>(ErrorKind::bad_input);
  try {
    begin_program(argc, argv);
    run_command_line(kCommands, argc, argv);
    return 0;
  } catch (const GuestStatus& guest) {
    return guest.status;
  } catch (const Error& error) {
    return complain(error.what(), static_cast<int>(error.kind()));
  } catch (const std::bad_alloc&) {
    return complain("out of memory; give a smaller --batch, fewer images or a smaller model", kBadInput);
  } catch (const std::exception& error) {
    return complain(error.what(), kBadInput);
  }
}

}  // namespace
}  // namespace convlab::app

int main(int argc, char** argv) {
  convlab::app::start_usage_clock();
  convlab::app::open_standard_streams();
  const int status = convlab::app::run_program(argc, argv);
  convlab::app::end_program(status);
  return status;
}
