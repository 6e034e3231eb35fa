// The extension under the package: the class Session, and where the library is.

#include <convlab/convlab.h>
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <string>

#include "session.h"

namespace nb = nanobind;
using namespace nb::literals;
using convlab::python::Session;

namespace {

using Text = std::optional<std::string>;

/// NULL for None.
const char* given(const Text& text) { return text ? text->c_str() : nullptr; }

const char* library_path() {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(&convlab_get_api), &info) != 0;
  return found && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

NB_MODULE(_convlab, module) {
  module.doc() = "Models in ONNX's format, run on CPUs and GPUs: what the package convlab stands on.";
  module.attr("library_version") = convlab::python::api().library_version();
  module.def("library_path", library_path, "The file of libconvlab that was loaded.");

  nb::class_<Session>(module, "Session",
                      R"(A model on a device. Any thread may use it at any time; runs of several threads take turns.

Arrays are anything with __dlpack__ or a buffer: NumPy's and PyTorch's, array.array, memoryview; float32, or uint8
pixels, which are taken as they lie, or float16, float64, int8, int32 and int64, which are converted to float32. Images
come first: an input of shape [N, C, H, W] has N images of C channels. Strided arrays on the host are copied. Outputs
are new NumPy arrays, or PyTorch's where the first input is PyTorch's.

What is wrong is a convlab.Error; the session serves on.)")
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

model: an .onnx file, an MXNet .params file with its symbol beside it, or a shipped model's name, such as "sp25".
device: "auto", a GPU where there is one; "cpu", "cuda", "cuda:1".
math: of convolutions, never less precise than "fp32", "tf32", "bf16x2", "bf16" or "fp16".
plan: "fused", "layers" (each operator by itself) or "folded" (chains of linear operators become one, too).
threads: of the processor; 0: as many as this process may use.
batch_wait_us: above 0, calls of few images that come from several threads are computed together, and each waits at
    most so many microseconds for others to come.
batch_images: the most that are computed together; 0: 64.)")
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
          R"(A session of the same model, which shares with this one what both have in memory of its weights.

Runs of the two do not take turns: with a session a thread, each of one thread, threads compute side by side. Arguments
as Session's; device, math and plan are this session's where they are None.)")
      .def("run", &Session::run, "output_names"_a.none(), "input_feed"_a, nb::kw_only(), "out"_a = nb::none(),
           "stream"_a = nb::none(),
           nb::sig("def run(self, output_names: collections.abc.Sequence[str] | None, input_feed: dict[str, "
                   "typing.Any], *, out: typing.Any = None, "
                   "stream: typing.Any = None) -> list[typing.Any]"),
           R"(The outputs of these names in their order, or all where output_names is None.

input_feed: an array for each input's name.
out: dense arrays of the outputs' shapes and types to write into, in the order of the names; they are what is returned.
stream: for arrays on a GPU, a cudaStream_t as a number, or an object with .cuda_stream. The work begins when what that
    stream was given before is done, and run() may return before the work is. None: PyTorch's current stream for its
    tensors.)")
      .def("__call__", &Session::call, "inputs"_a, nb::kw_only(), "out"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def __call__(self, *inputs: typing.Any, out: typing.Any = None, stream: typing.Any = None) -> "
                   "typing.Any"),
           "The output for inputs in the model's order; a tuple where the model has several. out and stream as in "
           "run().")
      .def("get_inputs", &Session::inputs, nb::sig("def get_inputs(self) -> list[Value]"),
           "The model's inputs, in its order.")
      .def("get_outputs", &Session::outputs, nb::sig("def get_outputs(self) -> list[Value]"),
           "The model's outputs, in its order.")
      .def("plan", &Session::plan, "inputs"_a,
           nb::sig("def plan(self, *inputs: typing.Any) -> list[dict[str, typing.Any]]"),
           R"(How inputs of these shapes are computed: a dict a step, with "name" (nodes of the model), "op", "kernel",
"flops" of a run, and "seconds", which are 0.)")
      .def("profile", &Session::profile, "inputs"_a, nb::kw_only(), "repeat"_a = 10,
           nb::sig("def profile(self, *inputs: typing.Any, repeat: int = 10) -> list[dict[str, typing.Any]]"),
           R"(The same with "seconds": medians of `repeat` runs, after one that warms up.)")
      .def_prop_ro("device", &Session::device, "Where it computes, in words.")
      .def_prop_ro("device_name", &Session::device_name,
                   R"(The same as Session takes it, with a GPU's number: "cpu", "cuda:0".)");
}
