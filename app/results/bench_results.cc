// Collects the Records of `convlab bench` and writes them as JSON.

#include "app/results/bench_results.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace convlab::app {

BenchResults::BenchResults(Output& output)
    : output_(output), records_(std::make_unique<Json>(Json::array())), on_interrupt_([this] {
        const std::lock_guard lock(mutex_);
        output_.json(*records_);
        const size_t count = records_->size();
        fmt::print(messages_stream(), "convlab: interrupted; {} Record{} kept\n", count, count == 1 ? " is" : "s are");
      }) {}

BenchResults::~BenchResults() = default;

size_t BenchResults::add(const Record& record) {
  Json json = to_json(record);
  const std::lock_guard lock(mutex_);
  records_->push_back(std::move(json));
  output_.json_so_far(*records_);
  return records_->size() - 1;
}

void BenchResults::compared(size_t number, const Kernel& other, const Comparison& comparison) {
  Json against{{"kernel", other.info.name}, {"decision", name_of(comparison.decision)}, {"ratio", comparison.ratio}};
  if (comparison.layers) against["of"] = "layer_ms";
  if (std::isfinite(comparison.interval.high)) {
    against["low"] = comparison.interval.low;
    against["high"] = comparison.interval.high;
  }
  if (!comparison.doubt.empty()) against["doubt"] = comparison.doubt;
  const std::lock_guard lock(mutex_);
  (*records_)[number]["against"] = std::move(against);
  output_.json_so_far(*records_);
}

void BenchResults::finish() {
  const std::lock_guard lock(mutex_);
  output_.json(*records_);
}

}  // namespace convlab::app
