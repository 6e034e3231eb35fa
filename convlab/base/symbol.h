#pragma once

#include <string>
#include <string_view>

namespace convlab {

/// A mangled symbol as it is written in a program; any other text as it is.
std::string demangled(std::string_view symbol);

/// "tile" of "convlab::(anonymous namespace)::kernel<16>(float const*)::tile", mangled or not: the last name, without
/// namespaces, return type and parameters, with template arguments.
std::string short_symbol(std::string_view symbol);

}  // namespace convlab
