#pragma once

#include <convlab/convlab.h>
#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "python_arrays.h"

namespace convlab::python {

/// Returns the function table of the library that the extension was loaded with.
const convlab_api& api();

/// Python's convlab.Session. Its methods are called with the GIL held and release it while convlab computes.
class Session {
 public:
  Session(nanobind::handle model, const convlab_options& options);

  /// Returns a session of the same model that shares weights with this one.
  std::unique_ptr<Session> clone(const convlab_options& options) const;

  /// Returns the outputs in the order of `names`, or all outputs if `names` is None.
  nanobind::list run(nanobind::handle names, const nanobind::dict& feed, nanobind::handle out, nanobind::handle stream);

  /// Returns one array, or a tuple if the model has several outputs.
  nanobind::object call(const nanobind::args& inputs, nanobind::handle out, nanobind::handle stream);

  /// Return a list of dicts, one per step.
  nanobind::object plan(const nanobind::args& inputs) const;
  nanobind::object profile(const nanobind::args& inputs, int repeat) const;

  nanobind::list inputs() const { return values(input_names_, api().input); }
  nanobind::list outputs() const { return values(output_names_, api().output); }
  const char* device() const { return api().device(session_.get()); }
  const char* device_name() const { return api().device_name(session_.get()); }

 private:
  struct Close {
    void operator()(convlab_session* session) const;
  };
  struct Name {
    nanobind::str object;
    std::string text;
  };
  /// The outputs for inputs of certain shapes: as arrays for the C API without data, and their shapes as Python tuples.
  struct Outputs {
    std::vector<convlab_array> arrays;
    std::vector<nanobind::object> shapes;
  };
  using Get = convlab_status (*)(const convlab_session*, size_t, convlab_value*);
  using Handle = std::unique_ptr<convlab_session, Close>;

  explicit Session(Handle session);
  template <class Open>
  static Handle opened(Open open);
  std::vector<Name> names_of(size_t count, Get get) const;
  nanobind::list values(const std::vector<Name>& names, Get get) const;
  std::vector<Array> arrays_of(const std::vector<nanobind::object>& inputs) const;
  void require_own_memory(const Array& array, const char* role, const std::string& name) const;
  std::shared_ptr<const Outputs> outputs_for(const std::vector<convlab_array>& inputs);
  std::vector<nanobind::object> compute(const std::vector<nanobind::object>& inputs,
                                        std::vector<nanobind::object> outputs, nanobind::handle stream);
  std::vector<nanobind::object> given_outputs(nanobind::handle out, const std::vector<size_t>& indices) const;
  template <class Ask>
  nanobind::object steps(const nanobind::args& inputs, Ask ask) const;

  Handle session_;
  int gpu_ = -1;  ///< the index of the session's GPU; -1: it computes on the host
  std::vector<Name> input_names_, output_names_;
  std::vector<int32_t> output_types_;
  std::vector<size_t> all_outputs_;  ///< 0, 1, ...
  nanobind::object numpy_empty_;
  std::vector<nanobind::object> numpy_types_;                             ///< of the outputs
  std::map<std::vector<int64_t>, std::shared_ptr<const Outputs>> known_;  ///< by the inputs' types and shapes
};

}  // namespace convlab::python
