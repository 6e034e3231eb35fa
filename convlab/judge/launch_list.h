#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/judge/judgement.h"
#include "convlab/simt/product.h"

/// What a submission asks of the device for one problem, as a list that a process without its host code can carry out.
/// Lists come from a process that the submission may have taken over: read_list() trusts nothing in them.
namespace convlab::judge {

inline constexpr size_t kMostOperations = 200'000;            ///< of a list
inline constexpr int64_t kMostListBytes = int64_t{64} << 20;  ///< of its text
inline constexpr int64_t kMostOwnBytes = int64_t{64}
                                         << 10;  ///< that it copies to the device, and that are neither data nor zeros

/// Arrays of the device are numbers: x, w and y lie there before the list begins if the file takes them there; those
/// that the list allocates count from kFirstArray.
inline constexpr int kArrayX = 0, kArrayW = 1, kArrayY = 2, kFirstArray = 3;

/// Bytes of the host's.
struct HostBytes {
  enum class Kind : uint8_t { x, w, download, literal };
  Kind kind = Kind::literal;
  int download = 0;    ///< the number of a download of this list, from 0
  int64_t offset = 0;  ///< in x, w or the download
  std::string literal;

  bool operator==(const HostBytes&) const = default;
};

/// An address in an argument: of an array of the device, or of a variable of the file.
struct PointerInArgument {
  int64_t at = 0;  ///< offset in the argument
  int array = -1;
  std::string variable;  ///< its symbol, where array is -1
  int64_t offset = 0;

  bool operator==(const PointerInArgument&) const = default;
};

struct LaunchArgument {
  int64_t place = 0;  ///< in the memory of all of simt's arguments
  std::string bytes;  ///< zeros where there are pointers
  std::vector<PointerInArgument> pointers;

  bool operator==(const LaunchArgument&) const = default;
};

/// Where a matrix begins.
struct MatrixPlace {
  int array = -1;
  int64_t offset = 0;

  bool operator==(const MatrixPlace&) const = default;
};

struct Operation {
  enum class Kind : uint8_t {
    allocate,     ///< array, bytes
    release,      ///< array
    upload,       ///< source to array
    download,     ///< of array; downloads are numbered
    copy,         ///< from_array to array
    fill,         ///< byte to array
    set_symbol,   ///< source, or from_array if it is one, to the variable `symbol`
    launch,       ///< the kernel `symbol`
    multiply,     ///< `product`, of cuBLAS
    record,       ///< event on stream
    wait,         ///< of stream for event
    synchronize,  ///< of the host for everything
  };
  Kind kind{};
  int stream = 0;  ///< 0: the default one
  int event = 0;
  int array = -1, from_array = -1;
  int64_t offset = 0, from_offset = 0, bytes = 0;
  int byte = 0;
  HostBytes source;
  std::string symbol;  ///< of a kernel or variable; of an allocation the name of its pointer

  std::string invoke;  ///< the symbol of the function that passes simt's arguments on
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  int64_t shared_bytes = 0, argument_bytes = 0;
  std::vector<LaunchArgument> arguments;

  bool constant = true;  ///< set_symbol: kernels may not write to it

  simt::Product product;  ///< without addresses
  MatrixPlace a, b, c;    ///< of the product's matrices

  bool operator==(const Operation&) const = default;
};
std::string_view name_of(Operation::Kind kind);

/// A part of the host's y when the file has returned.
struct OutputPiece {
  int download = -1;  ///< -1: nobody has written it
  int64_t offset = 0, bytes = 0;

  bool operator==(const OutputPiece&) const = default;
};

struct LaunchList {
  bool on_device = false;  ///< x, w and y lie on the device
  std::vector<Operation> operations;
  std::vector<OutputPiece> output;  ///< not on_device: all of y, in order

  bool operator==(const LaunchList&) const = default;
};

/// As JSON: {"on_device", "operations", "output"}.
std::string list_text(const LaunchList& list);

/// The list of such a text, for this problem. Never is more of it in memory as JSON than one operation.
/// Error(bad_input) with what is wrong: another form, a number that is none of an array, event or download, an address
/// beyond its array, a launch that no device takes, a product that is none, more than kMostOperations, more bytes of
/// its own than kMostOwnBytes, or more memory than `memory_bytes`.
LaunchList read_list(std::string_view text, const ConvProblem& problem, int64_t memory_bytes);

/// What two recordings of one problem differ in, in words; "" if they agree.
std::string difference(const LaunchList& a, const LaunchList& b);

}  // namespace convlab::judge
