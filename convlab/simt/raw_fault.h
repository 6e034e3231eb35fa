#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convlab/simt/fault.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/where.h"

namespace convlab::simt::internal {

/// What the compiler passes for an index out of bounds, in the layout of -fsanitize=bounds.
struct SubscriptSite {
  const char* file;
  uint32_t line, column;
  const struct ArrayType {
    uint16_t kind, info;
    char name[1];  // "'float [16][17]'", null-terminated
  } * array_type;
  const void* index_type;
};

/// A fault as a worker detects it. Names are resolved after the launch.
struct RawFault {
  enum class Space : uint8_t { none, static_shared, dynamic_shared, global };

  FaultKind kind{};
  int thread = 0;  ///< linear index in the block
  int other_thread = -1;
  const void* other_code = nullptr;  ///< race in a block: code address of the other access, if known
  bool other_wrote = false;          ///< race in a block: the other access is a write
  bool before_barriers = false;      ///< race in a block: the block has not passed any barrier yet
  bool unawaited_copy = false;       ///< the other access is an asynchronous copy that its thread has not waited for
  std::optional<OtherAccess> other_block;  ///< race between blocks; a block that does not reach the barrier of the grid
  Space space = Space::none;
  uintptr_t address = 0;  ///< global memory: the address; otherwise the offset in the region, which may be negative
  int access_bytes = 0;
  bool is_write = false;
  const void* code = nullptr;                       ///< return address of the access
  Where location{};                                 ///< of an intrinsic, if `code` is nullptr
  const struct SubscriptSite* subscript = nullptr;  ///< of an array index out of bounds
  int64_t index = 0;
  int waiting = 1;         ///< number of threads at a barrier that others do not reach
  bool of_grid = false;    ///< the barrier is that of a cooperative launch; no thread waits if the launch is not one
  Where other_location{};  ///< where the other thread waits instead, if it waits
  std::string detail;      ///< text that only the code that detects the fault can provide
  std::string headline;    ///< likewise, out of bounds or stuck: what happened
  int writers = 0;         ///< redundant write in a block: number of threads that store the value
  bool by_warps = false;   ///< redundant write in a block: `writers` counts whole warps, by wmma
  int64_t times = 1;
};

}  // namespace convlab::simt::internal
