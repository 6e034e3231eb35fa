// Prints the table of layers and their times.

#include "app/results/layer_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/text.h"

namespace convlab::app {

std::string short_name(const std::string& layer) {
  constexpr size_t kMost = 40;
  if (layer.size() <= kMost) return layer;
  const std::string first = text_before(layer, '+');
  return first.size() <= kMost ? first : printable("..." + first.substr(first.size() - kMost + 3));
}

void print_layers(Output& output, const std::vector<LayerResult>& layers, size_t devices,
                  const std::optional<Ceilings>& ceilings) {
  const auto parts = static_cast<double>(devices);
  size_t name_width = 5, op_width = 2, kernel_width = 6;
  for (const LayerResult& layer : layers) {
    name_width = std::max(name_width, short_name(layer.name).size());
    op_width = std::max(op_width, layer.op.size());
    kernel_width = std::max(kernel_width, layer.kernel.size());
  }
  output.print("\n{:<{}}  {:<{}}  {:<{}}  {:<6}  {:>10}  {:>8}  {:>8}\n", "layer", name_width, "op", op_width, "kernel",
               kernel_width, "math", "time (ms)", "GFLOP/s", "of bound");
  for (const LayerResult& layer : layers) {
    const bool timed = layer.rated();
    const std::string rate = timed && layer.flops > 0 ? fmt::format("{:.1f}", layer.flops / layer.seconds * 1e-9) : "-";
    const std::string share =
        timed && ceilings
            ? fmt::format(
                  "{:.0f} %",
                  100 * ceilings->bound(layer.flops / parts, layer.bytes / parts, layer.math).seconds / layer.seconds)
            : "-";
    output.print("{:<{}}  {:<{}}  {:<{}}  {:<6}  {:>10.3f}  {:>8}  {:>8}\n", short_name(layer.name), name_width,
                 layer.op, op_width, layer.kernel, kernel_width, name_of(layer.math), layer.seconds * 1e3, rate, share);
  }
  if (devices > 1) output.print("(times of the slowest GPU for each layer, rates of all GPUs together)\n");
}

}  // namespace convlab::app
