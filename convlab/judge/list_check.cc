// Validates launch lists, which may come from a process that a submission has taken over.

#include "convlab/judge/list_check.h"

#include <algorithm>
#include <map>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/product.h"

namespace convlab::judge {
namespace {

using Kind = Operation::Kind;

constexpr int64_t kMostLiteralBytes = int64_t{16} << 20;  // total, including zeros
constexpr int64_t kMostArgumentBytes = 4096;              // of one launch, as in CUDA
constexpr size_t kMostSymbol = 4096;
constexpr int kMostStreams = 1024;

bool has_target(Kind kind) {
  return kind == Kind::upload || kind == Kind::download || kind == Kind::copy || kind == Kind::fill;
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

}  // namespace

void check_list(const LaunchList& list, const ConvProblem& problem, int64_t memory_bytes) {
  Checker checker(problem, list.on_device, memory_bytes);
  for (const Operation& each : list.operations) checker.check(each);
  if (!list.on_device) checker.check_output(list.output);
}

}  // namespace convlab::judge
