#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "convlab/simt/ptx/ptx_program.h"

/// PTX's special registers, such as %laneid.
namespace convlab::simt::ptx {

/// Returns the register named without %.
std::optional<Special> special_named(std::string_view name);

/// Returns its value for the running thread.
uint64_t value_of(Special special) noexcept;

}  // namespace convlab::simt::ptx
