// Raises convlab.Error in Python.

#include "python_errors.h"

#include <nanobind/nanobind.h>

namespace convlab::python {

namespace nb = nanobind;

void fail(convlab_status status, const std::string& text) {
  // An error may quote a file name, which need not be valid UTF-8.
  const nb::object words =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  if (!words.is_valid()) nb::raise_python_error();
  const nb::object error = nb::module_::import_("convlab.errors").attr("Error")(words, static_cast<int>(status));
  PyErr_SetObject(error.type().ptr(), error.ptr());
  nb::raise_python_error();
}

}  // namespace convlab::python
