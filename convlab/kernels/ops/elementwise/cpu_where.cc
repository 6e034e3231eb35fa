// cpu.where: selects elements of one array if a condition holds and of another otherwise, all three broadcast.
// Threads: a work item is a range of output rows; see cpu_broadcast.h.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <type_traits>

#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_where {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<WhereOp>(step.op)) return "only Where is supported";
  return std::nullopt;
}

/// Calls function(step), where step is a compile-time 0 or 1, so that loops over rows are vectorized.
template <class Function>
void with_step(bool moves, Function function) {
  if (moves) {
    function(std::integral_constant<int64_t, 1>{});
  } else {
    function(std::integral_constant<int64_t, 0>{});
  }
}

void launch(const Args& args, Stream& stream) {
  const BroadcastRows rows(shapes_of(args.step.inputs), args.step.outputs[0].shape);
  const auto choose = [&](auto condition_step, auto a_step, auto b_step) {
    stream.threads()->parallel_for(rows.count, rows.grain(), [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        const float* condition = args.input(0) + rows.offset(0, row);
        const float *a = args.input(1) + rows.offset(1, row), *b = args.input(2) + rows.offset(2, row);
        float* y = args.output() + row * rows.width;
        for (int64_t i = 0; i < rows.width; ++i) {
          const float yes = a[i * a_step], no = b[i * b_step];
          y[i] = condition[i * condition_step] != 0 ? yes : no;
        }
      }
    });
  };
  with_step(rows.moves[0], [&](auto condition_step) {
    with_step(rows.moves[1], [&](auto a_step) {
      with_step(rows.moves[2], [&](auto b_step) { choose(condition_step, a_step, b_step); });
    });
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.where",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "selects elements of two arrays by a condition, all three broadcast, without branches"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_where
