// Implements Python's convlab.Session on the C API: reads arguments, allocates outputs, and runs without the GIL.

#include "python_session.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "python_errors.h"

namespace convlab::python {

namespace nb = nanobind;

namespace {

void check(convlab_status status) {
  if (status != CONVLAB_OK) fail(status, api().last_error());
}

template <class Objects>
std::vector<nb::object> objects_of(const Objects& objects) {
  std::vector<nb::object> all;
  for (const nb::handle each : objects) all.push_back(nb::borrow(each));
  return all;
}

/// Returns the bytes of a model's name or path, a str or os.PathLike.
nb::bytes path_of(nb::handle model) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(model.ptr(), &bytes) == 0) {
    const nb::python_error error;
    fail(CONVLAB_BAD_INPUT, std::string("the model is no path: ") + nb::str(error.value()).c_str());
  }
  return nb::steal<nb::bytes>(bytes);
}

/// Returns 0 for "cuda:0"; -1 if the device is not a GPU.
int gpu_of(const char* device) {
  const char* number = std::strncmp(device, "cuda", 4) == 0 ? std::strchr(device, ':') : nullptr;
  return number == nullptr ? -1 : std::atoi(number + 1);
}

template <class Each>
std::string listed(const std::vector<Each>& names) {
  std::string text;
  for (const Each& each : names) text += (text.empty() ? "'" : ", '") + each.text + "'";
  return text;
}

void require_apart(const convlab_array& output, std::span<const convlab_array> others, const std::string& name) {
  for (const convlab_array& other : others) {
    if (!overlap(output, other)) continue;
    fail(CONVLAB_BAD_INPUT, "output '" + name + "' shares memory with another array of the same run");
  }
}

/// Returns the address of a new NumPy array, which nothing else references.
void* data_of(nb::handle array) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_SIMPLE | PyBUF_WRITABLE) != 0) nb::raise_python_error();
  void* const data = buffer.buf;
  PyBuffer_Release(&buffer);
  return data;
}

/// Returns the stream that the caller passed, as a number, or None.
nb::object stream_of(nb::handle stream) {
  return !stream.is_none() && nb::hasattr(stream, "cuda_stream") ? stream.attr("cuda_stream") : nb::borrow(stream);
}

/// Returns, as a number, the stream in which an array on a GPU is ready.
nb::object stream_of_array(nb::handle array, int gpu) {
  if (is_torch(array)) return nb::module_::import_("convlab.tensors").attr("current_stream")(gpu);
  return nb::int_(1);  // __dlpack__() has made CUDA's default stream wait for the array
}

void* address_of(const nb::object& stream) {
  uintptr_t address = 0;
  if (!nb::try_cast(stream, address)) {
    fail(CONVLAB_BAD_INPUT, "stream is neither a number nor an object with .cuda_stream");
  }
  // CUDA's default stream is 0 in PyTorch and 1 in convlab.
  return reinterpret_cast<void*>(std::max<uintptr_t>(address, 1));
}

}  // namespace

const convlab_api& api() {
  static const convlab_api* const table = convlab_get_api(CONVLAB_API_VERSION);
  if (table == nullptr) fail(CONVLAB_FAILED, "libconvlab is older than the header that this was compiled with");
  return *table;
}

void Session::Close::operator()(convlab_session* session) const {
  const nb::gil_scoped_release unlocked;
  api().close(session);
}

/// Calls open(&session) without the GIL and returns the session.
template <class Open>
Session::Handle Session::opened(Open open) {
  convlab_session* session = nullptr;
  convlab_status status;
  {
    const nb::gil_scoped_release unlocked;
    status = open(&session);
  }
  check(status);
  return Handle(session);
}

Session::Session(nb::handle model, const convlab_options& options)
    : Session(opened([&options, path = path_of(model)](convlab_session** session) {
        return api().open(path.c_str(), &options, session);
      })) {}

std::unique_ptr<Session> Session::clone(const convlab_options& options) const {
  return std::unique_ptr<Session>(
      new Session(opened([&](convlab_session** session) { return api().clone(session_.get(), &options, session); })));
}

Session::Session(Handle session) : session_(std::move(session)) {
  gpu_ = gpu_of(device_name());
  input_names_ = names_of(api().input_count(session_.get()), api().input);
  output_names_ = names_of(api().output_count(session_.get()), api().output);
  all_outputs_.resize(output_names_.size());
  std::iota(all_outputs_.begin(), all_outputs_.end(), size_t{0});
  const nb::module_ numpy = nb::module_::import_("numpy");
  numpy_empty_ = numpy.attr("empty");
  for (const size_t i : all_outputs_) {
    convlab_value value{};
    check(api().output(session_.get(), i, &value));
    output_types_.push_back(value.type);
    numpy_types_.push_back(numpy.attr("dtype")(type_name(value.type)));
  }
}

std::vector<Session::Name> Session::names_of(size_t count, Get get) const {
  std::vector<Name> names;
  for (size_t i = 0; i < count; ++i) {
    convlab_value value{};
    check(get(session_.get(), i, &value));
    names.push_back({nb::str(value.name), value.name});
  }
  return names;
}

nb::list Session::values(const std::vector<Name>& names, Get get) const {
  const nb::object make = nb::module_::import_("convlab.values").attr("Value");
  nb::list all;
  for (size_t i = 0; i < names.size(); ++i) {
    convlab_value value{};
    check(get(session_.get(), i, &value));
    nb::object shape = nb::none();
    if (get == api().input) {
      nb::list sizes;
      for (int32_t k = 0; k < value.rank; ++k) {
        sizes.append(value.shape[k] < 0 ? nb::object(nb::none()) : nb::int_(value.shape[k]));
      }
      shape = sizes;
    }
    all.append(make(names[i].object, onnx_type_name(value.type), shape));
  }
  return all;
}

void Session::require_own_memory(const Array& array, const char* role, const std::string& name) const {
  if (array.gpu < 0 || array.gpu == gpu_) return;
  fail(CONVLAB_BAD_INPUT, std::string(role) + " '" + name + "' is in the memory of cuda:" + std::to_string(array.gpu) +
                              "; the session computes on " + device_name());
}

std::vector<Array> Session::arrays_of(const std::vector<nb::object>& inputs) const {
  if (inputs.size() != input_names_.size()) {
    fail(CONVLAB_BAD_INPUT, std::to_string(inputs.size()) + " inputs are given; the model takes " +
                                std::to_string(input_names_.size()) + ": " + listed(input_names_));
  }
  std::vector<Array> arrays;
  arrays.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    arrays.push_back(read_array(inputs[i], "input", input_names_[i].text));
    require_own_memory(arrays.back(), "input", input_names_[i].text);
  }
  return arrays;
}

std::shared_ptr<const Session::Outputs> Session::outputs_for(const std::vector<convlab_array>& inputs) {
  std::vector<int64_t> key;
  for (const convlab_array& each : inputs) {
    key.push_back(each.type);
    key.push_back(each.rank);
    key.insert(key.end(), each.shape, each.shape + each.rank);
  }
  if (const auto known = known_.find(key); known != known_.end()) return known->second;

  const auto outputs = std::make_shared<Outputs>();
  outputs->arrays.resize(output_names_.size());
  convlab_status status;
  {
    const nb::gil_scoped_release unlocked;
    status = api().output_shapes(session_.get(), inputs.data(), inputs.size(), outputs->arrays.data(),
                                 outputs->arrays.size());
  }
  check(status);
  for (const convlab_array& each : outputs->arrays) {
    nb::list sizes;
    for (int32_t k = 0; k < each.rank; ++k) sizes.append(each.shape[k]);
    outputs->shapes.push_back(nb::tuple(sizes));
  }
  constexpr size_t kMostKnown = 64;
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(std::move(key), outputs);
  return outputs;
}

/// `outputs`: arrays to write to; an invalid object means to allocate that output.
std::vector<nb::object> Session::compute(const std::vector<nb::object>& inputs, std::vector<nb::object> outputs,
                                         nb::handle stream) {
  const std::vector<Array> given = arrays_of(inputs);
  std::vector<convlab_array> x, y;
  nb::object work_stream = stream_of(stream);
  int gpu = -1;  // of the first input that is on a GPU
  for (size_t i = 0; i < given.size(); ++i) {
    x.push_back(given[i].array);
    if (given[i].gpu < 0 || gpu >= 0) continue;
    gpu = given[i].gpu;
    if (work_stream.is_none()) work_stream = stream_of_array(inputs[i], gpu);
  }
  void* const address = work_stream.is_none() ? nullptr : address_of(work_stream);

  std::vector<Array> written;  // keeps the outputs alive until the run completes
  std::vector<size_t> made;    // indices of the outputs that are new NumPy arrays
  std::shared_ptr<const Outputs> known;
  for (const size_t i : all_outputs_) {
    if (outputs[i].is_valid()) {
      const std::string& name = output_names_[i].text;
      written.push_back(written_array(outputs[i], "output", name));
      require_own_memory(written.back(), "output", name);
      y.push_back(written.back().array);
      require_apart(y.back(), x, name);
      require_apart(y.back(), std::span(y).first(y.size() - 1), name);
      continue;
    }
    if (known == nullptr) known = outputs_for(x);
    y.push_back(known->arrays[i]);
    if (gpu < 0) {
      outputs[i] = numpy_empty_(known->shapes[i], numpy_types_[i]);
      y.back().data = data_of(outputs[i]);
      y.back().memory = CONVLAB_HOST;
      made.push_back(i);
    } else {
      outputs[i] = nb::module_::import_("convlab.tensors")
                       .attr("empty")(known->shapes[i], type_name(output_types_[i]), gpu, work_stream);
      written.push_back(written_array(outputs[i], "output", output_names_[i].text));
      y.back() = written.back().array;
    }
  }

  convlab_status status;
  {
    const nb::gil_scoped_release unlocked;
    status = api().run(session_.get(), x.data(), x.size(), y.data(), y.size(), address);
  }
  check(status);
  if (!made.empty() && !inputs.empty() && is_torch(inputs.front())) {
    const nb::object from_numpy = nb::module_::import_("torch").attr("from_numpy");
    for (const size_t i : made) outputs[i] = from_numpy(outputs[i]);
  }
  return outputs;
}

/// Returns the caller's arrays `out`, each at its output's index; `indices`: the indices of these outputs.
std::vector<nb::object> Session::given_outputs(nb::handle out, const std::vector<size_t>& indices) const {
  std::vector<nb::object> outputs(output_names_.size());
  if (out.is_none()) return outputs;
  std::vector<nb::object> arrays;
  if (nb::isinstance<nb::list>(out) || nb::isinstance<nb::tuple>(out)) {
    arrays = objects_of(out);
  } else {
    arrays.push_back(nb::borrow(out));
  }
  if (arrays.size() != indices.size()) {
    fail(CONVLAB_BAD_INPUT,
         std::to_string(arrays.size()) + " arrays are given as out for " + std::to_string(indices.size()) + " outputs");
  }
  for (size_t i = 0; i < indices.size(); ++i) outputs[indices[i]] = arrays[i];
  return outputs;
}

nb::list Session::run(nb::handle names, const nb::dict& feed, nb::handle out, nb::handle stream) {
  std::vector<nb::object> inputs;
  for (const Name& name : input_names_) {
    PyObject* const array = PyDict_GetItemWithError(feed.ptr(), name.object.ptr());
    if (array == nullptr) {
      if (PyErr_Occurred() != nullptr) nb::raise_python_error();
      fail(CONVLAB_BAD_INPUT, "input '" + name.text + "' is not given; the model takes " + listed(input_names_));
    }
    inputs.push_back(nb::borrow(array));
  }
  if (feed.size() != inputs.size()) {
    for (const auto& [name, array] : feed) {
      const auto is_it = [&](const Name& each) { return each.object.equal(name); };
      if (std::any_of(input_names_.begin(), input_names_.end(), is_it)) continue;
      fail(CONVLAB_BAD_INPUT,
           std::string("the model has no input ") + nb::repr(name).c_str() + "; it takes " + listed(input_names_));
    }
  }
  std::vector<size_t> indices;
  if (names.is_none()) {
    indices = all_outputs_;
  } else {
    if (nb::isinstance<nb::str>(names)) fail(CONVLAB_BAD_INPUT, "the outputs' names are a list, and not one name");
    for (const nb::handle name : names) {
      size_t index = 0;
      while (index < output_names_.size() && !output_names_[index].object.equal(name)) ++index;
      if (index == output_names_.size()) {
        fail(CONVLAB_BAD_INPUT,
             std::string("the model has no output ") + nb::repr(name).c_str() + "; it gives " + listed(output_names_));
      }
      if (std::find(indices.begin(), indices.end(), index) != indices.end()) {
        fail(CONVLAB_BAD_INPUT, "output '" + output_names_[index].text + "' is asked for twice");
      }
      indices.push_back(index);
    }
  }
  const std::vector<nb::object> outputs = compute(inputs, given_outputs(out, indices), stream);
  nb::list wanted;
  for (const size_t index : indices) wanted.append(outputs[index]);
  return wanted;
}

nb::object Session::call(const nb::args& inputs, nb::handle out, nb::handle stream) {
  const std::vector<nb::object> outputs = compute(objects_of(inputs), given_outputs(out, all_outputs_), stream);
  if (outputs.size() == 1) return outputs.front();
  nb::list all;
  for (const nb::object& each : outputs) all.append(each);
  return nb::tuple(all);
}

template <class Ask>
nb::object Session::steps(const nb::args& inputs, Ask ask) const {
  const std::vector<Array> given = arrays_of(objects_of(inputs));
  std::vector<convlab_array> x;
  for (const Array& each : given) x.push_back(each.array);
  char* json = nullptr;
  convlab_status status;
  {
    const nb::gil_scoped_release unlocked;
    status = ask(x, &json);
  }
  check(status);
  const std::unique_ptr<char, void (*)(char*)> text(json, api().free_text);
  return nb::module_::import_("json").attr("loads")(text.get());
}

nb::object Session::plan(const nb::args& inputs) const {
  return steps(inputs, [&](const std::vector<convlab_array>& x, char** json) {
    return api().plan(session_.get(), x.data(), x.size(), json);
  });
}

nb::object Session::profile(const nb::args& inputs, int repeat) const {
  return steps(inputs, [&](const std::vector<convlab_array>& x, char** json) {
    return api().profile(session_.get(), x.data(), x.size(), repeat, json);
  });
}

}  // namespace convlab::python
