// Tests race detection on pairs of small kernels: simt must report each planted race with both threads and both lines,
// and nothing in the correct kernels, whatever the number of workers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/fault.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/settings.h"
#include "tests/simt_kernels/race_pairs.h"
#include "tests/support/paths.h"
#include "tests/support/source_tree.h"

namespace convlab {

void PrintTo(const RacePair& pair, std::ostream* out) { *out << pair.name; }
void PrintTo(const SameValue& kernel, std::ostream* out) { *out << kernel.name; }

namespace {

using simt::Fault;
using simt::FaultKind;

/// A device array of ints; names are those of RaceData's members.
class DeviceInts {
 public:
  DeviceInts(const std::vector<int>& values, const char* name)
      : data_(static_cast<int*>(simt::allocate(values.size() * sizeof(int), name))) {
    simt::copy_to_device(data_, values.data(), values.size() * sizeof(int));
  }
  ~DeviceInts() { simt::release(data_); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;

  int* data() const { return data_; }

 private:
  int* data_;
};

std::vector<Fault> faults_of(void (*kernel)(RaceData), int blocks, int threads) {
  constexpr int kNodes = 64, kNeighbors = 4;
  std::vector<int> x(256), row(kNodes + 1), col(kNodes * kNeighbors);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 37 % 101 % 64);
  for (int node = 0; node <= kNodes; ++node) row[node] = kNeighbors * node;
  for (int node = 0; node < kNodes; ++node) {
    const int neighbors[kNeighbors] = {node + 1, node + 5, node + 61, node * 7 + 2};
    for (int i = 0; i < kNeighbors; ++i) col[kNeighbors * node + i] = neighbors[i] % kNodes;
  }
  const std::vector<int> zeros(256);
  const DeviceInts dx(x, "x"), drow(row, "row"), dcol(col, "col"), dy(zeros, "y"), dw(zeros, "w");
  const RaceData data{dx.data(), drow.data(), dcol.data(), dy.data(), dw.data()};
  try {
    launch(kernel, {.grid = blocks, .block = threads, .shared_bytes = 1024}, nullptr, data);
  } catch (const simt::FaultError& error) {
    return error.faults();
  }
  return {};
}

std::vector<Fault> faults_of(void (*kernel)(RaceData), const RacePair& pair) {
  return faults_of(kernel, pair.blocks, pair.threads);
}

/// Whether a location such as "race_pairs_shared.cu:31" is inside the kernel.
bool is_in_kernel(const std::string& where, const std::string& name) {
  const size_t colon = where.find(':');
  if (colon == std::string::npos) return false;
  const std::string text = text_of(source_folder() / "tests/simt_kernels" / where.substr(0, colon));
  const size_t begin = text.find(" void " + name + "(RaceData"), end = text.find("\n}\n", begin);
  const auto line_at = [&](size_t at) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
  };
  const long line = std::atol(where.c_str() + colon + 1);
  return begin != std::string::npos && line >= line_at(begin) && line <= line_at(end);
}

/// Whether all races of the pair's wrong kernel only store the same value more than once.
bool is_redundant(const RacePair& pair) {
  constexpr std::string_view kNames[] = {"flag_set_by_many",    "something_has_changed", "flag_of_the_device",
                                         "array_of_the_device", "pieces_that_overlap",   "strides_of_a_grid"};
  return std::ranges::find(kNames, pair.name) != std::end(kNames);
}

class Races : public testing::TestWithParam<RacePair> {
 protected:
  void TearDown() override {
    simt::set_workers(0);
    simt::set_strictness(simt::Strictness::strict);
    simt::take_notes();
  }
};

TEST_P(Races, AreReportedWhereThereAreAny) {
  const RacePair& pair = GetParam();
  for (const int workers : {1, 2, 2, 2}) {
    simt::set_workers(workers);
    const std::vector<Fault> right = faults_of(pair.right, pair);
    EXPECT_TRUE(right.empty()) << in_one_line(right[0].finding);
    const std::vector<Fault> wrong = faults_of(pair.wrong, pair);
    ASSERT_FALSE(wrong.empty()) << workers << " workers";
    const auto is_race = [](const Fault& fault) { return fault.kind != FaultKind::redundant_write; };
    EXPECT_EQ(std::ranges::any_of(wrong, is_race), !is_redundant(pair));
    for (const Fault& fault : wrong) {
      SCOPED_TRACE(in_one_line(fault.finding));
      if (is_race(fault)) {
        EXPECT_TRUE(fault.kind == FaultKind::race_shared || fault.kind == FaultKind::race_global);
      }
      EXPECT_EQ(fault.kernel, std::string(pair.name) + "<false>");
      EXPECT_TRUE(is_in_kernel(where(fault), pair.name)) << where(fault);
      ASSERT_GE(fault.finding.labels.size(), 2u);  // the third one is a barrier that does not order them
      const Label& other = fault.finding.labels[1];
      // If several blocks read an element, only the first is remembered. If that block also writes, the other readers
      // are unknown.
      if (other.text.starts_with("another block reads ")) {
        EXPECT_EQ(fault.kind, FaultKind::race_global);
        continue;
      }
      EXPECT_TRUE(fault.other_thread);
      EXPECT_TRUE(is_in_kernel(short_text(other.place), pair.name)) << other.text;
    }
  }
}

TEST_P(Races, ThatChangeNothingAreUsuallyNotes) {
  const RacePair& pair = GetParam();
  simt::set_strictness(simt::Strictness::usual);
  for (const int workers : {1, 2}) {
    simt::set_workers(workers);
    EXPECT_TRUE(faults_of(pair.right, pair).empty());
    EXPECT_TRUE(simt::take_notes().empty());
    EXPECT_EQ(faults_of(pair.wrong, pair).empty(), is_redundant(pair));
    const std::vector<Fault> notes = simt::take_notes();
    if (is_redundant(pair)) {
      ASSERT_FALSE(notes.empty());
      EXPECT_EQ(notes[0].kind, FaultKind::redundant_write);
      EXPECT_THAT(notes[0].finding.text, testing::HasSubstr("store the same value in "));
      EXPECT_EQ(notes[0].finding.severity, Severity::warning);
    }
  }
}

std::vector<RacePair> all_pairs() {
  std::vector<RacePair> all;
  for (const auto& pairs : {race_pairs_in_shared_memory(), race_pairs_in_global_memory(), race_pairs_of_blocks()}) {
    all.insert(all.end(), pairs.begin(), pairs.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Races, testing::ValuesIn(all_pairs()),
                         [](const auto& info) { return std::string(info.param.name); });

class SameValues : public testing::TestWithParam<SameValue> {
 protected:
  void TearDown() override {
    simt::set_workers(0);
    simt::set_strictness(simt::Strictness::strict);
    simt::take_notes();
  }
};

TEST_P(SameValues, AreRacesWhereTheyMayChangeSomething) {
  const SameValue& each = GetParam();
  for (const int workers : {1, 2, 2, 2}) {
    simt::set_workers(workers);
    simt::set_strictness(simt::Strictness::strict);
    const std::vector<Fault> strictly = faults_of(each.kernel, each.blocks, each.threads);
    EXPECT_FALSE(strictly.empty());
    EXPECT_TRUE(simt::take_notes().empty());
    simt::set_strictness(simt::Strictness::usual);
    const std::vector<Fault> usually = faults_of(each.kernel, each.blocks, each.threads);
    EXPECT_EQ(usually.empty(), each.usually != SameValue::race);
    for (const Fault& fault : usually) EXPECT_NE(fault.kind, FaultKind::redundant_write) << fault.finding.text;
    const std::vector<Fault> notes = simt::take_notes();
    if (each.usually != SameValue::race) {
      EXPECT_EQ(notes.empty(), each.usually == SameValue::right);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SameValues, testing::ValuesIn(same_values().begin(), same_values().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RedundantWrites, SayHowManyStoreTheSame) {
  simt::set_strictness(simt::Strictness::usual);
  for (const auto& [number, text] :
       {std::pair{0, "redundant write: 4 blocks store the same value in global memory 'y'"},
        std::pair{1, "redundant write: 4 threads of a block store the same value in shared memory 'tile'"},
        std::pair{2, "redundant write: 2 warps of a block store the same value in shared memory 'tile'"}}) {
    const SameValue& each = same_values()[static_cast<size_t>(number)];
    EXPECT_TRUE(faults_of(each.kernel, each.blocks, each.threads).empty());
    const std::vector<Fault> notes = simt::take_notes();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].finding.text, text);
    EXPECT_THAT(
        in_one_line(notes[0].finding),
        testing::ContainsRegex("thread .* writes .*(y|tile)\\[[0-9]+\\].*; thread .* writes .*, the same value at "
                               "redundant_writes.cu:[0-9]+ .*, at redundant_writes.cu:[0-9]+$"));
  }
  simt::set_strictness(simt::Strictness::strict);
}

TEST(RacePairs, AreManyAndNamedApart) {
  std::vector<std::string> names;
  for (const RacePair& pair : all_pairs()) names.emplace_back(pair.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GE(names.size(), 50u);
}

}  // namespace
}  // namespace convlab
