// Writes, parses and compares launch lists.

#include "convlab/judge/launch_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/judge/list_check.h"
#include "convlab/measure/json_members.h"

namespace convlab::judge {
namespace {

using Kind = Operation::Kind;

constexpr std::array kKinds{Kind::allocate, Kind::release, Kind::upload,     Kind::download,
                            Kind::copy,     Kind::fill,    Kind::set_symbol, Kind::launch,
                            Kind::multiply, Kind::record,  Kind::wait,       Kind::synchronize};

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) / 16];
    text += kDigits[static_cast<uint8_t>(c) % 16];
  }
  return text;
}

std::string from_hex(const std::string& text, const std::string& place) {
  const auto digit = [&](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw bad_input("{}: expected hexadecimal digits", place);
  };
  if (text.size() % 2 != 0) throw bad_input("{}: odd number of hexadecimal digits", place);
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return bytes;
}

std::string_view name_of(HostBytes::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames{"x", "w", "download", "literal"};
  return kNames[static_cast<size_t>(kind)];
}

Json to_json(const HostBytes& source) {
  return {{"kind", name_of(source.kind)},
          {"download", source.download},
          {"offset", source.offset},
          {"literal", hex(source.literal)}};
}

HostBytes source_in(const JsonMembers& from) {
  HostBytes source;
  std::string kind, literal;
  from.read("kind", kind);
  for (const auto each :
       {HostBytes::Kind::x, HostBytes::Kind::w, HostBytes::Kind::download, HostBytes::Kind::literal}) {
    if (name_of(each) == kind) source.kind = each;
  }
  if (name_of(source.kind) != kind) throw bad_input("{}: unknown kind", from.place());
  from.read("download", source.download);
  from.read("offset", source.offset);
  from.read("literal", literal);
  source.literal = from_hex(literal, from.place());
  return source;
}

Json to_json(const simt::ProductMatrix& matrix, const MatrixPlace& place) {
  return {{"array", place.array},    {"offset", place.offset},          {"leading", matrix.leading},
          {"stride", matrix.stride}, {"transposed", matrix.transposed}, {"half", matrix.half}};
}

Json product_as_json(const Operation& op) {
  const simt::Product& p = op.product;
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"count", p.count},
          {"alpha", p.alpha},
          {"beta", p.beta},
          {"a", to_json(p.a, op.a)},
          {"b", to_json(p.b, op.b)},
          {"c", to_json(p.c, op.c)}};
}

float float_in(const JsonMembers& from, const char* name) {
  double value = 0;
  from.read(name, value);
  if (!(std::abs(value) <= std::numeric_limits<float>::max()))
    throw bad_input("{}: '{}' must be a finite float", from.place(), name);
  return static_cast<float>(value);
}

void read_matrix(const JsonMembers& from, simt::ProductMatrix& matrix, MatrixPlace& place) {
  from.read("array", place.array);
  from.read("offset", place.offset);
  from.read("leading", matrix.leading);
  from.read("stride", matrix.stride);
  from.read("transposed", matrix.transposed);
  from.read("half", matrix.half);
}

void read_product(const JsonMembers& from, Operation& op) {
  simt::Product& p = op.product;
  from.read("m", p.m);
  from.read("n", p.n);
  from.read("k", p.k);
  from.read("count", p.count);
  p.alpha = float_in(from, "alpha");
  p.beta = float_in(from, "beta");
  read_matrix(from.object("a"), p.a, op.a);
  read_matrix(from.object("b"), p.b, op.b);
  read_matrix(from.object("c"), p.c, op.c);
}

Json to_json(const Operation& op) {
  Json json = {{"kind", name_of(op.kind)}};
  const auto add = [&](const char* name, auto value, auto usual) {
    if (value != usual) json[name] = value;
  };
  add("stream", op.stream, 0);
  add("event", op.event, 0);
  add("array", op.array, -1);
  add("from_array", op.from_array, -1);
  add("offset", op.offset, int64_t{0});
  add("from_offset", op.from_offset, int64_t{0});
  add("bytes", op.bytes, int64_t{0});
  add("byte", op.byte, 0);
  add("symbol", op.symbol, std::string());
  add("constant", op.constant, true);
  if (op.kind == Kind::upload || op.kind == Kind::set_symbol) json["source"] = to_json(op.source);
  if (op.kind == Kind::multiply) json["product"] = product_as_json(op);
  if (op.kind != Kind::launch) return json;
  json["invoke"] = op.invoke;
  json["grid"] = op.grid;
  json["block"] = op.block;
  json["shared_bytes"] = op.shared_bytes;
  json["argument_bytes"] = op.argument_bytes;
  json["arguments"] = Json::array();
  for (const LaunchArgument& argument : op.arguments) {
    Json pointers = Json::array();
    for (const PointerInArgument& each : argument.pointers) {
      pointers.push_back(
          {{"at", each.at}, {"array", each.array}, {"variable", each.variable}, {"offset", each.offset}});
    }
    json["arguments"].push_back(
        {{"place", argument.place}, {"bytes", hex(argument.bytes)}, {"pointers", std::move(pointers)}});
  }
  return json;
}

void read_extent(const Json& json, const char* name, std::array<int64_t, 3>& extent) {
  const auto at = json.find(name);
  if (at == json.end() || !at->is_array() || at->size() != 3)
    throw bad_input("launch {}: expected an array of three numbers", name);
  for (size_t i = 0; i < 3; ++i) {
    if (!(*at)[i].is_number_integer()) throw bad_input("launch {}: expected an array of three integers", name);
    extent[i] = (*at)[i].get<int64_t>();
  }
}

Operation operation_in(const JsonMembers& from, const Json& json) {
  Operation op;
  op.kind = from.choice(
      "kind", {Kind::allocate, Kind::release, Kind::upload, Kind::download, Kind::copy, Kind::fill, Kind::set_symbol,
               Kind::launch, Kind::multiply, Kind::record, Kind::wait, Kind::synchronize});
  from.read_if_there("stream", op.stream);
  from.read_if_there("event", op.event);
  from.read_if_there("array", op.array);
  from.read_if_there("from_array", op.from_array);
  from.read_if_there("offset", op.offset);
  from.read_if_there("from_offset", op.from_offset);
  from.read_if_there("bytes", op.bytes);
  from.read_if_there("byte", op.byte);
  from.read_if_there("symbol", op.symbol);
  from.read_if_there("constant", op.constant);
  if (op.kind == Kind::upload || op.kind == Kind::set_symbol) op.source = source_in(from.object("source"));
  if (op.kind == Kind::multiply) read_product(from.object("product"), op);
  if (op.kind != Kind::launch) return op;
  from.read("invoke", op.invoke);
  from.read("shared_bytes", op.shared_bytes);
  from.read("argument_bytes", op.argument_bytes);
  read_extent(json, "grid", op.grid);
  read_extent(json, "block", op.block);
  from.objects("arguments", [&](const JsonMembers& each) {
    LaunchArgument& argument = op.arguments.emplace_back();
    std::string bytes;
    each.read("place", argument.place);
    each.read("bytes", bytes);
    argument.bytes = from_hex(bytes, each.place());
    each.objects("pointers", [&](const JsonMembers& one) {
      PointerInArgument& pointer = argument.pointers.emplace_back();
      one.read("at", pointer.at);
      one.read("array", pointer.array);
      one.read("variable", pointer.variable);
      one.read("offset", pointer.offset);
    });
  });
  return op;
}

/// Returns an array as JSON text. Holds only one element at a time as JSON in memory.
template <class T, class AsJson>
std::string array_text(const std::vector<T>& all, AsJson as_json) {
  std::string text = "[";
  for (const T& each : all) {
    if (text.size() > 1) text += ',';
    text += json_text(as_json(each), -1);
  }
  return text + "]";
}

std::string in_words(const Operation& op) {
  switch (op.kind) {
    case Kind::launch:
      return fmt::format("a launch of {}", printable(short_symbol(op.symbol)));
    case Kind::multiply:
      return "a cuBLAS matrix product";
    case Kind::allocate:
      return "a cudaMalloc";
    case Kind::release:
      return "a cudaFree";
    case Kind::upload:
      return "a copy to the device";
    case Kind::download:
      return "a copy to the host";
    case Kind::copy:
      return "a copy on the device";
    case Kind::fill:
      return "a cudaMemset";
    case Kind::set_symbol:
      return "a copy to a device variable";
    case Kind::record:
    case Kind::wait:
    case Kind::synchronize:
      return "a stream or an event";
  }
  return "?";
}

std::string difference(const Operation& a, const Operation& b) {
  if (a.kind != b.kind) return fmt::format("one has {}, the other has {}", in_words(a), in_words(b));
  if (a.source != b.source) {
    return "the host copies values to the device that it computed from x, w or addresses";
  }
  if (a.kind == Kind::launch) {
    if (a.symbol != b.symbol) return "they launch different kernels";
    if (a.grid != b.grid || a.block != b.block || a.shared_bytes != b.shared_bytes) {
      return fmt::format("{} has a different grid, block or shared memory size", in_words(a));
    }
    return fmt::format("an argument of {} depends on the data, on a host address or on uninitialized memory",
                       in_words(a));
  }
  return fmt::format("{} is different", in_words(a));
}

}  // namespace

std::string_view name_of(Operation::Kind kind) {
  constexpr std::array<std::string_view, kKinds.size()> kNames{"allocate", "release", "upload",     "download",
                                                               "copy",     "fill",    "set_symbol", "launch",
                                                               "multiply", "record",  "wait",       "synchronize"};
  return kNames[static_cast<size_t>(kind)];
}

std::string list_text(const LaunchList& list) {
  const auto as_json = [](const OutputPiece& piece) -> Json {
    return {{"download", piece.download}, {"offset", piece.offset}, {"bytes", piece.bytes}};
  };
  return fmt::format(R"({{"on_device":{},"operations":{},"output":{}}})", list.on_device,
                     array_text(list.operations, [](const Operation& op) { return to_json(op); }),
                     array_text(list.output, as_json));
}

LaunchList read_list(std::string_view text, const ConvProblem& problem, int64_t memory_bytes) {
  LaunchList list;
  const auto require_room = [](size_t count) {
    if (count >= kMostOperations) throw bad_input("more than {} device operations", kMostOperations);
  };
  const Json json =
      parse_foreign_json(text, "list", {}, {"operations", "output"}, [&](std::string_view name, const Json& element) {
        const JsonMembers from(element, fmt::format("list.{}", name));
        if (name == "operations") {
          require_room(list.operations.size());
          list.operations.push_back(operation_in(from, element));
        } else {
          require_room(list.output.size());
          OutputPiece& piece = list.output.emplace_back();
          from.read("download", piece.download);
          from.read("offset", piece.offset);
          from.read("bytes", piece.bytes);
        }
      });
  const JsonMembers from(json, "list");
  from.read("on_device", list.on_device);
  if (!from.has("operations")) throw bad_input("list: member 'operations' is missing");
  check_list(list, problem, memory_bytes);
  return list;
}

std::optional<Finding> missing_work(const LaunchList& list) {
  const auto computes = [](const Operation& op) {
    return op.kind == Operation::Kind::launch || op.kind == Operation::Kind::multiply;
  };
  if (std::ranges::none_of(list.operations, computes)) {
    return Finding{.kind = "no launch",
                   .text = "no kernel was launched",
                   .help = "launch a kernel that writes the output: kernel<<<grid, block>>>(arguments)"};
  }
  const auto written = [](const OutputPiece& piece) { return piece.download >= 0; };
  if (!list.on_device && std::ranges::none_of(list.output, written)) {
    return Finding{.kind = "no copy",
                   .text = "the output was not copied to the host",
                   .help = "copy it: cudaMemcpy(host pointer, device pointer, bytes, cudaMemcpyDeviceToHost)"};
  }
  return std::nullopt;
}

std::string difference(const LaunchList& a, const LaunchList& b) {
  for (size_t i = 0; i < std::min(a.operations.size(), b.operations.size()); ++i) {
    if (a.operations[i] != b.operations[i]) return difference(a.operations[i], b.operations[i]);
  }
  if (a.operations.size() != b.operations.size()) return "they have different numbers of operations";
  if (a.output != b.output) return "what the host writes to y depends on the data";
  return a == b ? "" : "other members are different";
}

}  // namespace convlab::judge
