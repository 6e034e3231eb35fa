// Implements the C API (include/convlab/convlab.h): converts arrays and errors between C and convlab::Session.

#include <convlab/convlab.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/session/session.h"

struct convlab_session {
  convlab::Session session;
};

namespace convlab {
namespace {

thread_local std::string last_error;  // the message of this thread's last call that failed

/// Calls `work` and returns its status. If it throws, keeps the exception's text for last_error().
template <class Work>
convlab_status status_of(Work work) {
  try {
    work();
    return CONVLAB_OK;
  } catch (const Error& error) {
    last_error = error.what();
    return error.kind() == ErrorKind::unavailable ? CONVLAB_UNAVAILABLE : CONVLAB_BAD_INPUT;
  } catch (const std::bad_alloc&) {
    last_error = "not enough memory";
  } catch (...) {
    last_error = message_of_exception();
  }
  return CONVLAB_FAILED;
}

/// Throws Error(bad_input) if a required argument is NULL.
void require_given(bool given, const char* what) {
  if (!given) throw bad_input("argument '{}' is NULL", what);
}

/// The ElementType of each convlab_type, in the order of convlab_type.
constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::f64, ElementType::u8,
                                  ElementType::i8,  ElementType::i32, ElementType::i64};

ElementType type_of(const convlab_array& array) {
  if (array.type < 0 || array.type >= std::ssize(kTypes)) throw bad_input("unknown convlab_type {}", array.type);
  return kTypes[array.type];
}

int32_t type_of(ElementType type) { return static_cast<int32_t>(std::ranges::find(kTypes, type) - kTypes); }

bool is_on_device(const convlab_array& array) {
  if (array.memory != CONVLAB_HOST && array.memory != CONVLAB_DEVICE) {
    throw bad_input("unknown convlab_memory {}", array.memory);
  }
  return array.memory == CONVLAB_DEVICE;
}

Shape shape_of(const convlab_array& array) {
  if (array.rank < 0 || array.rank > CONVLAB_MAX_RANK) {
    throw bad_input("array rank must be between 0 and {}, got {}", CONVLAB_MAX_RANK, array.rank);
  }
  Shape shape(array.shape, array.shape + array.rank);
  element_count(shape);  // throws Error(bad_input) if the shape is invalid
  return shape;
}

template <class To>
void set_shape(const Shape& shape, To& to) {
  if (shape.size() > CONVLAB_MAX_RANK) {
    throw bad_input("array of rank {} is not supported; convlab_array holds at most {} dimensions", shape.size(),
                    CONVLAB_MAX_RANK);
  }
  to.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), to.shape);
}

template <class To>
std::vector<To> arrays_of(const convlab_array* arrays, size_t count, const char* what) {
  require_given(arrays != nullptr || count == 0, what);
  std::vector<To> all;
  for (size_t i = 0; i < count; ++i) {
    all.push_back({arrays[i].data, type_of(arrays[i]), shape_of(arrays[i]), is_on_device(arrays[i])});
  }
  return all;
}

const char* library_version() { return CONVLAB_VERSION; }

const char* error_text() { return last_error.c_str(); }

/// `otherwise`: the device, math and plan to use if the options do not set them.
SessionOptions options_of(const convlab_options* options, const SessionOptions& otherwise) {
  SessionOptions wanted{.device = otherwise.device, .math = otherwise.math, .plan = otherwise.plan};
  if (options == nullptr) return wanted;
  if (options->device != nullptr) wanted.device = options->device;
  if (options->math != nullptr) wanted.math = options->math;
  if (options->plan != nullptr) wanted.plan = options->plan;
  wanted.threads = options->threads;
  if (wanted.threads < 0) throw bad_input("threads must be at least 0, got {}", wanted.threads);
  wanted.batch_wait = std::chrono::microseconds(options->batch_wait_us);
  if (options->batch_images != 0) wanted.batch_images = options->batch_images;
  return wanted;
}

convlab_status open(const char* model, const convlab_options* options, convlab_session** session) {
  return status_of([&] {
    require_given(model != nullptr, "model");
    require_given(session != nullptr, "session");
    *session = new convlab_session{.session = Session(model, options_of(options, {}))};
  });
}

convlab_status clone(const convlab_session* other, const convlab_options* options, convlab_session** session) {
  return status_of([&] {
    require_given(other != nullptr, "other");
    require_given(session != nullptr, "session");
    *session = new convlab_session{.session = other->session.clone(options_of(options, other->session.options()))};
  });
}

/// Does nothing in a forked child: it cannot destroy the session's threads and GPU state, which belong to the parent.
void close(convlab_session* session) {
  if (session != nullptr && !session->session.is_forked_child()) delete session;
}

const char* device(const convlab_session* session) { return session->session.device().description.c_str(); }

const char* device_name(const convlab_session* session) { return session->session.device().name.c_str(); }

size_t input_count(const convlab_session* session) { return session->session.inputs().size(); }

size_t output_count(const convlab_session* session) { return session->session.outputs().size(); }

convlab_status value_of(const std::vector<Session::Value>& values, size_t index, convlab_value* to) {
  return status_of([&] {
    require_given(to != nullptr, "value");
    if (index >= values.size()) throw bad_input("index must be less than {}, got {}", values.size(), index);
    convlab_value value{};
    value.name = values[index].name.c_str();
    value.type = type_of(values[index].type);
    set_shape(values[index].shape, value);
    *to = value;
  });
}

convlab_status input(const convlab_session* session, size_t index, convlab_value* value) {
  return value_of(session->session.inputs(), index, value);
}

convlab_status output(const convlab_session* session, size_t index, convlab_value* value) {
  return value_of(session->session.outputs(), index, value);
}

convlab_status output_shapes(convlab_session* session, const convlab_array* inputs, size_t inputs_given,
                             convlab_array* outputs, size_t outputs_wanted) {
  return status_of([&] {
    const std::vector<Shape> shapes =
        session->session.output_shapes(arrays_of<ConstArray>(inputs, inputs_given, "inputs"));
    if (outputs_wanted != shapes.size()) {
      throw bad_input("wrong number of outputs: expected {}, got {}", shapes.size(), outputs_wanted);
    }
    require_given(outputs != nullptr, "outputs");
    for (size_t i = 0; i < shapes.size(); ++i) {
      set_shape(shapes[i], outputs[i]);
      outputs[i].type = type_of(session->session.outputs()[i].type);
      outputs[i].memory = inputs_given > 0 ? inputs[0].memory : CONVLAB_HOST;
    }
  });
}

convlab_status run(convlab_session* session, const convlab_array* inputs, size_t inputs_given,
                   const convlab_array* outputs, size_t outputs_given, void* stream) {
  return status_of([&] {
    session->session.run(arrays_of<ConstArray>(inputs, inputs_given, "inputs"),
                         arrays_of<Array>(outputs, outputs_given, "outputs"), stream);
  });
}

/// Returns a copy that free_text() frees.
char* text_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

convlab_status plan(convlab_session* session, const convlab_array* inputs, size_t inputs_given, char** json) {
  return status_of([&] {
    require_given(json != nullptr, "json");
    *json = text_of(to_json(session->session.plan(arrays_of<ConstArray>(inputs, inputs_given, "inputs"))));
  });
}

convlab_status profile(convlab_session* session, const convlab_array* inputs, size_t inputs_given, int32_t repeat,
                       char** json) {
  return status_of([&] {
    require_given(json != nullptr, "json");
    *json = text_of(to_json(session->session.profile(arrays_of<ConstArray>(inputs, inputs_given, "inputs"), repeat)));
  });
}

void free_text(char* text) { std::free(text); }

constexpr convlab_api kTable{.version = CONVLAB_API_VERSION,
                             .library_version = library_version,
                             .last_error = error_text,
                             .open = open,
                             .close = close,
                             .device = device,
                             .device_name = device_name,
                             .input_count = input_count,
                             .output_count = output_count,
                             .input = input,
                             .output = output,
                             .output_shapes = output_shapes,
                             .run = run,
                             .plan = plan,
                             .profile = profile,
                             .free_text = free_text,
                             .clone = clone};

}  // namespace
}  // namespace convlab

extern "C" const convlab_api* convlab_get_api(int32_t version) {
  return version >= 1 && version <= CONVLAB_API_VERSION ? &convlab::kTable : nullptr;
}
