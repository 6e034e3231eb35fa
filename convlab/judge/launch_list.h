#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/judge/judgement.h"
#include "convlab/simt/product.h"

/// What a submission asks of the device for one problem, as a list that a process without its host code can replay.
/// Lists come from a process that the submission may have taken over, so read_list() trusts nothing in them.
namespace convlab::judge {

inline constexpr size_t kMostOperations = 200'000;            ///< per list
inline constexpr int64_t kMostListBytes = int64_t{64} << 20;  ///< of its text
inline constexpr int64_t kMostOwnBytes = int64_t{64} << 10;   ///< nonzero literal bytes that it copies to the device

/// Device arrays are numbers. x, w and y exist before the list begins if the file expects them on the device. Arrays
/// that the list allocates are numbered from kFirstArray.
inline constexpr int kArrayX = 0, kArrayW = 1, kArrayY = 2, kFirstArray = 3;

/// Bytes in host memory.
struct HostBytes {
  enum class Kind : uint8_t { x, w, download, literal };
  Kind kind = Kind::literal;
  int download = 0;    ///< the number of a download in this list, from 0
  int64_t offset = 0;  ///< in x, w or the download
  std::string literal;

  bool operator==(const HostBytes&) const = default;
};

/// An address in an argument: of a device array, or of a variable of the file.
struct PointerInArgument {
  int64_t at = 0;  ///< offset in the argument
  int array = -1;
  std::string variable;  ///< its symbol, if array is -1
  int64_t offset = 0;

  bool operator==(const PointerInArgument&) const = default;
};

struct LaunchArgument {
  int64_t place = 0;  ///< offset in simt's argument block
  std::string bytes;  ///< zeros in place of pointers
  std::vector<PointerInArgument> pointers;

  bool operator==(const LaunchArgument&) const = default;
};

/// The start of a matrix.
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
    download,     ///< from array; downloads are numbered
    copy,         ///< from_array to array
    fill,         ///< byte to array
    set_symbol,   ///< source, or from_array if it is not -1, to the variable `symbol`
    launch,       ///< the kernel `symbol`
    multiply,     ///< `product`, by cuBLAS
    record,       ///< event on stream
    wait,         ///< stream waits for event
    synchronize,  ///< the host waits for everything
  };
  Kind kind{};
  int stream = 0;  ///< 0: the default stream
  int event = 0;
  int array = -1, from_array = -1;
  int64_t offset = 0, from_offset = 0, bytes = 0;
  int byte = 0;
  HostBytes source;
  std::string symbol;  ///< of a kernel or variable; for an allocation, the name of its pointer

  std::string invoke;  ///< the symbol of the function that unpacks simt's arguments
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  int64_t shared_bytes = 0, argument_bytes = 0;
  std::vector<LaunchArgument> arguments;

  bool constant = true;  ///< set_symbol: read-only for kernels

  simt::Product product;  ///< without addresses
  MatrixPlace a, b, c;    ///< of the product's matrices

  bool operator==(const Operation&) const = default;
};
std::string_view name_of(Operation::Kind kind);

/// A part of the host's y after the file has returned.
struct OutputPiece {
  int download = -1;  ///< -1: never written
  int64_t offset = 0, bytes = 0;

  bool operator==(const OutputPiece&) const = default;
};

struct LaunchList {
  bool on_device = false;  ///< x, w and y are in device memory
  std::vector<Operation> operations;
  std::vector<OutputPiece> output;  ///< if not on_device: all of y, in order

  bool operator==(const LaunchList&) const = default;
};

/// Returns the list as JSON: {"on_device", "operations", "output"}.
std::string list_text(const LaunchList& list);

/// Parses such a text for this problem. Holds only one operation at a time as JSON in memory. Throws Error(bad_input)
/// with the reason for a malformed text, an unknown array, event or download number, an address outside its array, an
/// invalid launch or product, more than kMostOperations, more own bytes than kMostOwnBytes, or more memory than
/// `memory_bytes`.
LaunchList read_list(std::string_view text, const ConvProblem& problem, int64_t memory_bytes);

/// Returns why a list without a launch, or without a copy to the host's y, cannot compute y; nullopt if it has both.
std::optional<Finding> missing_work(const LaunchList& list);

/// Returns the difference between two recordings of one problem, or "" if they agree.
std::string difference(const LaunchList& a, const LaunchList& b);

}  // namespace convlab::judge
