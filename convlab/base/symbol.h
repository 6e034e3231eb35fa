#pragma once

#include <string>
#include <string_view>

namespace convlab {

/// Returns a mangled symbol's name in source form; any other text unchanged.
std::string demangled(std::string_view symbol);

/// Returns the last name of a symbol, mangled or not, with template arguments but without namespaces, return type and
/// parameters: "tile" for "convlab::(anonymous namespace)::kernel<16>(float const*)::tile".
std::string short_symbol(std::string_view symbol);

}  // namespace convlab
