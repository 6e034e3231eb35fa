#pragma once

#include <string>

#include "app/option_parsers.h"

namespace convlab::app {

/// Adds --semester. An unknown semester is an error that names the nearest ones.
CLI::Option* add_semester(CLI::App& options, std::string& value, const std::string& help);

}  // namespace convlab::app
