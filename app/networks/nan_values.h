#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// Returns the number of values that are NaN.
int64_t count_nan(const Tensor& tensor);

/// Returns "3 of 784 values are NaN"; "" if none is.
std::string nan_text(const Tensor& tensor);

/// Prints a note for each output with NaN. `nan_input`: the file of an input that has NaN; "" if none has.
void note_nan(const std::vector<std::string>& names, const std::vector<Tensor>& outputs, const std::string& nan_input);

}  // namespace convlab::app
