// Pairs of small kernels: simt must report each race that was planted, with both threads and both lines, and nothing of
// the right ones, whatever the number of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "convlab/simt/fault.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "tests/simt_kernels/race_pairs.h"
#include "tests/source_tree.h"

namespace convlab {

void PrintTo(const RacePair& pair, std::ostream* out) { *out << pair.name; }

namespace {

using simt::Fault;
using simt::FaultKind;

/// An array of the device, named as in RaceData.
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

std::vector<Fault> faults_of(void (*kernel)(RaceData), const RacePair& pair) {
  constexpr int kNodes = 64, kNeighbours = 4;
  std::vector<int> x(256), row(kNodes + 1), col(kNodes * kNeighbours);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 37 % 101 % 64);
  for (int node = 0; node <= kNodes; ++node) row[node] = kNeighbours * node;
  for (int node = 0; node < kNodes; ++node) {
    const int neighbours[kNeighbours] = {node + 1, node + 5, node + 61, node * 7 + 2};
    for (int i = 0; i < kNeighbours; ++i) col[kNeighbours * node + i] = neighbours[i] % kNodes;
  }
  const std::vector<int> zeros(256);
  const DeviceInts dx(x, "x"), drow(row, "row"), dcol(col, "col"), dy(zeros, "y"), dw(zeros, "w");
  const RaceData data{dx.data(), drow.data(), dcol.data(), dy.data(), dw.data()};
  try {
    launch(kernel, {.grid = pair.blocks, .block = pair.threads, .shared_bytes = 1024}, nullptr, data);
  } catch (const simt::FaultError& error) {
    return error.faults();
  }
  return {};
}

/// Whether "race_pairs_shared.cu:31" is a line of the kernel.
bool is_in_kernel(const std::string& where, const std::string& name) {
  const size_t colon = where.find(':');
  if (colon == std::string::npos) return false;
  const std::string text =
      text_of(std::filesystem::path(CONVLAB_SOURCE_DIR) / "tests/simt_kernels" / where.substr(0, colon));
  const size_t begin = text.find(" void " + name + "(RaceData"), end = text.find("\n}\n", begin);
  const auto line_at = [&](size_t at) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
  };
  const long line = std::atol(where.c_str() + colon + 1);
  return begin != std::string::npos && line >= line_at(begin) && line <= line_at(end);
}

class Races : public testing::TestWithParam<RacePair> {
 protected:
  void TearDown() override { simt::set_workers(0); }
};

TEST_P(Races, AreReportedWhereThereAreAny) {
  const RacePair& pair = GetParam();
  for (const int workers : {1, 2, 2, 2}) {
    simt::set_workers(workers);
    const std::vector<Fault> right = faults_of(pair.right, pair);
    EXPECT_TRUE(right.empty()) << right[0].message;
    const std::vector<Fault> wrong = faults_of(pair.wrong, pair);
    ASSERT_FALSE(wrong.empty()) << workers << " workers";
    for (const Fault& fault : wrong) {
      SCOPED_TRACE(fault.message);
      EXPECT_TRUE(fault.kind == FaultKind::race_shared || fault.kind == FaultKind::race_global);
      EXPECT_EQ(fault.kernel, std::string(pair.name) + "<false>");
      EXPECT_TRUE(is_in_kernel(fault.where, pair.name)) << fault.where;
      // Of several blocks that read an element the first is remembered; if that writes, the others are not known.
      if (fault.message.find("what another block read") != std::string::npos) {
        EXPECT_EQ(fault.kind, FaultKind::race_global);
        continue;
      }
      EXPECT_TRUE(fault.other_thread);
      EXPECT_TRUE(is_in_kernel(fault.other_where, pair.name)) << fault.other_where;
      EXPECT_THAT(fault.message, testing::HasSubstr(fault.other_where));
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

TEST(RacePairs, AreManyAndNamedApart) {
  std::vector<std::string> names;
  for (const RacePair& pair : all_pairs()) names.emplace_back(pair.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GE(names.size(), 50u);
}

}  // namespace
}  // namespace convlab
