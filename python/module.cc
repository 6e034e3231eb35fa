// Defines the extension module convlab._convlab: the class Session and the library's path.

#include <convlab/convlab.h>
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <string>

#include "python_session.h"

namespace nb = nanobind;
using namespace nb::literals;
using convlab::python::Session;

namespace {

using Text = std::optional<std::string>;

/// Returns NULL for None.
const char* given(const Text& text) { return text ? text->c_str() : nullptr; }

const char* library_path() {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(&convlab_get_api), &info) != 0;
  return found && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

NB_MODULE(_convlab, module) {
  module.doc() = "The extension module of the package convlab: runs ONNX models on CPUs and GPUs.";
  module.attr("library_version") = convlab::python::api().library_version();
  module.def("library_path", library_path, "Returns the path of the libconvlab that was loaded.");

  nb::class_<Session>(module, "Session",
                      R"(A model on a device. Thread-safe; runs from several threads are serialized and release the GIL.

Inputs are any objects that support __dlpack__ or the buffer protocol: NumPy arrays, PyTorch tensors, array.array,
memoryview. float32 arrays and uint8 pixels are used as they are; float16, float64, int8, int32 and int64 are converted
to float32. The batch size comes first: an input of shape [N, C, H, W] has N images of C channels. Strided arrays on the
host are copied. Outputs are new NumPy arrays, or PyTorch tensors if the first input is a PyTorch tensor.

Methods raise convlab.Error if an argument is wrong or the device is not available; the session stays usable. A child
process created by fork() cannot use its parent's sessions.)")
      .def(
          "__init__",
          [](Session* session, nb::handle model, const char* device, const char* math, const char* plan, int threads,
             int batch_wait_us, int batch_images) {
            new (session) Session(model, convlab_options{device, math, plan, threads, batch_wait_us, batch_images});
          },
          "model"_a, nb::kw_only(), "device"_a = "auto", "math"_a = "fp32", "plan"_a = "fused", "threads"_a = 0,
          "batch_wait_us"_a = 0, "batch_images"_a = 0,
          nb::sig("def __init__(self, model: str | os.PathLike[str], *, device: str = 'auto', math: str = 'fp32', "
                  "plan: str = 'fused', threads: int = 0, batch_wait_us: int = 0, batch_images: int = 0) -> None"),
          R"(Loads a model.

model: an .onnx file, an MXNet .params file with its -symbol.json file in the same folder, or the name of a shipped
    model such as "sp25".
device: "auto" (a GPU if there is one, otherwise the CPU), "cpu", "cuda", "cuda:1".
math: the minimum precision of convolutions: "fp32", "tf32", "bf16x2", "bf16" or "fp16".
plan: "fused" (one step for a convolution with its bias, pooling and activation), "layers" (one step per operator) or
    "folded" (as fused, and chains of linear operators are folded into one operator).
threads: CPU threads; 0: all that this process may use.
batch_wait_us: if above 0, calls with few images from several threads are batched, and each waits at most this many
    microseconds for others.
batch_images: the maximum number of images in such a batch; 0: 64.)")
      .def(
          "clone",
          [](const Session& session, const Text& device, const Text& math, const Text& plan, int threads,
             int batch_wait_us, int batch_images) {
            return session.clone({given(device), given(math), given(plan), threads, batch_wait_us, batch_images});
          },
          nb::kw_only(), "device"_a = nb::none(), "math"_a = nb::none(), "plan"_a = nb::none(), "threads"_a = 0,
          "batch_wait_us"_a = 0, "batch_images"_a = 0,
          nb::sig("def clone(self, *, device: str | None = None, math: str | None = None, plan: str | None = None, "
                  "threads: int = 0, batch_wait_us: int = 0, batch_images: int = 0) -> Session"),
          R"(Returns another session of the same model. Weights that both use in the same form are in memory once.

Runs of the two sessions are not serialized with each other: with one single-threaded session per thread, all threads
compute concurrently. Arguments are the same as Session's; device, math and plan are this session's if they are None.)")
      .def("run", &Session::run, "output_names"_a.none(), "input_feed"_a, nb::kw_only(), "out"_a = nb::none(),
           "stream"_a = nb::none(),
           nb::sig("def run(self, output_names: collections.abc.Sequence[str] | None, input_feed: dict[str, "
                   "typing.Any], *, out: typing.Any = None, "
                   "stream: typing.Any = None) -> list[typing.Any]"),
           R"(Returns the outputs with these names in this order, or all outputs if output_names is None.

input_feed: maps each input's name to its array.
out: dense arrays to write to, of the outputs' shapes and types, in the order of the names; run() returns these arrays.
stream: for arrays on a GPU, a cudaStream_t as a number, or an object with .cuda_stream. The run is enqueued in this
    stream after its earlier work, and run() may return before it completes. None: PyTorch's current stream if the
    arrays are PyTorch tensors.)")
      .def("__call__", &Session::call, "inputs"_a, nb::kw_only(), "out"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def __call__(self, *inputs: typing.Any, out: typing.Any = None, stream: typing.Any = None) -> "
                   "typing.Any"),
           "Returns the output for inputs in the model's order; a tuple if the model has several outputs. out and "
           "stream are the same as in run().")
      .def("get_inputs", &Session::inputs, nb::sig("def get_inputs(self) -> list[Value]"),
           "Returns the model's inputs, in the model's order.")
      .def("get_outputs", &Session::outputs, nb::sig("def get_outputs(self) -> list[Value]"),
           "Returns the model's outputs, in the model's order.")
      .def("plan", &Session::plan, "inputs"_a,
           nb::sig("def plan(self, *inputs: typing.Any) -> list[dict[str, typing.Any]]"),
           R"(Returns the plan for inputs of these shapes: a dict per step, with "name" (the model's nodes), "op",
"kernel", "flops" (floating-point operations per run) and "seconds" (0).)")
      .def("profile", &Session::profile, "inputs"_a, nb::kw_only(), "repeat"_a = 10,
           nb::sig("def profile(self, *inputs: typing.Any, repeat: int = 10) -> list[dict[str, typing.Any]]"),
           R"(Same as plan(), with measured "seconds": the median of `repeat` runs after one warm-up run.

Inputs must be in host memory; repeat must be at least 1.)")
      .def_prop_ro("device", &Session::device, "A description of the session's device.")
      .def_prop_ro("device_name", &Session::device_name,
                   R"(The device name as Session() accepts it, with the GPU's index: "cpu", "cuda:0".)");
}
