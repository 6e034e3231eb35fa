// Writes, parses and validates launch lists.

#include "convlab/judge/launch_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/measure/json_members.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/symbols.h"

namespace convlab::judge {
namespace {

using Kind = Operation::Kind;

constexpr int64_t kMostLiteralBytes = int64_t{16} << 20;  // total, including zeros
constexpr int64_t kMostArgumentBytes = 4096;              // of one launch, as in CUDA
constexpr size_t kMostSymbol = 4096;
constexpr int kMostStreams = 1024;

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

bool has_target(Kind kind) {
  return kind == Kind::upload || kind == Kind::download || kind == Kind::copy || kind == Kind::fill;
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

/// Validates a list operation by operation, and throws at the first invalid one.
class Checker {
 public:
  Checker(const ConvProblem& problem, bool on_device, int64_t memory_bytes)
      : bytes_x_(problem.input_count() * 4),
        bytes_w_(problem.filter_count() * 4),
        bytes_y_(problem.output_count() * 4),
        left_(memory_bytes) {
    if (!on_device) return;
    arrays_ = {{kArrayX, bytes_x_}, {kArrayW, bytes_w_}, {kArrayY, bytes_y_}};
  }

  void check(const Operation& op) {
    require(op.stream >= 0 && op.stream < kMostStreams, "stream number must be between 0 and 1023");
    require(op.event >= 0 && op.symbol.size() <= kMostSymbol, "event number or symbol length is out of range");
    if (has_target(op.kind)) require_inside(op.array, op.offset, op.bytes);
    if (op.kind == Kind::upload || op.kind == Kind::copy || op.kind == Kind::fill) require_no_input(op.array);
    switch (op.kind) {
      case Kind::allocate:
        require(op.array == next_array_++, "arrays are not numbered consecutively");
        require(op.bytes >= 0 && op.bytes <= left_, "the submission allocates more memory than its limit");
        left_ -= op.bytes;
        arrays_[op.array] = op.bytes;
        break;
      case Kind::release:
        require(op.array >= kFirstArray && arrays_.contains(op.array),
                "cudaFree of memory that the submission did not allocate");
        left_ += arrays_[op.array];
        arrays_.erase(op.array);
        break;
      case Kind::upload:
        check_source(op);
        break;
      case Kind::download:
        downloads_.push_back(op.bytes);
        break;
      case Kind::copy:
        require_inside(op.from_array, op.from_offset, op.bytes);
        break;
      case Kind::fill:
        require(op.byte >= 0 && op.byte <= 255, "fill value must be between 0 and 255");
        break;
      case Kind::set_symbol:
        require(op.offset >= 0 && op.bytes >= 0, "copy to a variable has a negative offset or size");
        if (op.from_array >= 0) {
          require_inside(op.from_array, op.from_offset, op.bytes);
        } else {
          check_source(op);
        }
        break;
      case Kind::launch:
        check_launch_of(op);
        break;
      case Kind::multiply:
        check_product_of(op);
        break;
      case Kind::record:
      case Kind::wait:
      case Kind::synchronize:
        break;
    }
  }

  void check_output(const std::vector<OutputPiece>& output) const {
    int64_t sum = 0;
    for (const OutputPiece& piece : output) {
      require(piece.bytes > 0 && piece.bytes <= bytes_y_ - sum, "the output pieces do not cover all of y");
      sum += piece.bytes;
      if (piece.download >= 0) require_in_download(piece.download, piece.offset, piece.bytes);
    }
    require(sum == bytes_y_, "the output pieces do not cover all of y");
  }

 private:
  static void require(bool condition, const char* what) {
    if (!condition) throw bad_input("{}", what);
  }

  static bool inside(int64_t offset, int64_t bytes, int64_t all) {
    return offset >= 0 && bytes >= 0 && bytes <= all && offset <= all - bytes;
  }

  static void require_no_input(int array) {
    require(array != kArrayX, "the submission writes to its input x");
    require(array != kArrayW, "the submission writes to its input w");
  }

  void require_inside(int array, int64_t offset, int64_t bytes) const {
    const auto found = arrays_.find(array);
    require(found != arrays_.end(), "array does not exist or was freed");
    require(inside(offset, bytes, found->second), "access past the end of an array");
  }

  void require_in_download(int download, int64_t offset, int64_t bytes) const {
    require(download >= 0 && static_cast<size_t>(download) < downloads_.size(),
            "use of data that was never copied to the host");
    require(inside(offset, bytes, downloads_[static_cast<size_t>(download)]),
            "access past the end of data copied to the host");
  }

  void check_source(const Operation& op) {
    const HostBytes& source = op.source;
    switch (source.kind) {
      case HostBytes::Kind::x:
        return require(inside(source.offset, op.bytes, bytes_x_), "access past the end of x");
      case HostBytes::Kind::w:
        return require(inside(source.offset, op.bytes, bytes_w_), "access past the end of w");
      case HostBytes::Kind::download:
        return require_in_download(source.download, source.offset, op.bytes);
      case HostBytes::Kind::literal:
        require(std::ssize(source.literal) == op.bytes, "host data has the wrong length");
        literal_bytes_ += op.bytes;
        require(literal_bytes_ <= kMostLiteralBytes,
                "the submission copies more than 16 MiB of its own data to the device");
        // Zeros are free: many files clear y with a copy of zeros instead of cudaMemset.
        own_bytes_ += std::ranges::count_if(source.literal, [](char byte) { return byte != 0; });
        require(own_bytes_ <= kMostOwnBytes,
                "the submission copies more than 64 KiB of its own data to the device (not from x, w or a kernel); "
                "kernels must compute y");
    }
  }

  void check_launch_of(const Operation& op) const {
    require(!op.symbol.empty() && !op.invoke.empty() && op.invoke.size() <= kMostSymbol, "launch without a kernel");
    simt::check_launch({.grid = {op.grid[0], op.grid[1], op.grid[2]},
                        .block = {op.block[0], op.block[1], op.block[2]},
                        .shared_bytes = op.shared_bytes < 0 ? SIZE_MAX : static_cast<size_t>(op.shared_bytes),
                        .where = {}});
    require(op.argument_bytes >= 0 && op.argument_bytes <= kMostArgumentBytes,
            "launch has more than 4096 bytes of arguments");
    for (const LaunchArgument& argument : op.arguments) {
      const int64_t bytes = std::ssize(argument.bytes);
      require(bytes > 0 && inside(argument.place, bytes, op.argument_bytes),
              "launch argument is outside the argument block");
      for (const PointerInArgument& pointer : argument.pointers) {
        require(inside(pointer.at, sizeof(void*), bytes), "pointer is outside its argument");
        require(pointer.variable.size() <= kMostSymbol, "variable name is too long");
        if (pointer.array == -1) {
          require(!pointer.variable.empty() && pointer.offset >= 0, "pointer has no target");
        } else {
          require_inside(pointer.array, pointer.offset, 0);
        }
      }
    }
  }

  void check_product_of(const Operation& op) const {
    const simt::ProductBytes bytes = simt::bytes_of(op.product);
    simt::flops_of(op.product);
    const auto check_matrix = [&](const simt::ProductMatrix& matrix, const MatrixPlace& place, int64_t bytes) {
      require_inside(place.array, place.offset, bytes);
      require(place.offset % matrix.element_bytes() == 0, "cuBLAS matrix is not aligned to its element size");
    };
    check_matrix(op.product.a, op.a, bytes.a);
    check_matrix(op.product.b, op.b, bytes.b);
    check_matrix(op.product.c, op.c, bytes.c);
    require_no_input(op.c.array);
  }

  int64_t bytes_x_, bytes_w_, bytes_y_, left_, literal_bytes_ = 0, own_bytes_ = 0;
  std::map<int, int64_t> arrays_;
  std::vector<int64_t> downloads_;
  int next_array_ = kFirstArray;
};

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
  Checker checker(problem, list.on_device, memory_bytes);
  for (const Operation& each : list.operations) checker.check(each);
  if (!list.on_device) checker.check_output(list.output);
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
