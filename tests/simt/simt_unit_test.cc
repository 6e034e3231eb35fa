// Unit tests of simt: arithmetic types, names, memory, launch limits and race detection.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/cuda/integers.h"
#include "convlab/simt/cuda/math.h"
#include "convlab/simt/cuda/rounded.h"
#include "convlab/simt/cuda/wmma.h"
#include "convlab/simt/element.h"
#include "convlab/simt/extents.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/parameters.h"
#include "convlab/simt/product.h"
#include "convlab/simt/progress.h"
#include "convlab/simt/ranges.h"
#include "convlab/simt/redundant.h"
#include "convlab/simt/settings.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt {
namespace {

using cuda::__half;
using cuda::__hfma;
using cuda::__ushort_as_half;

TEST(Half, IsSmallAndTrivial) {
  static_assert(sizeof(__half) == 2 && std::is_trivially_copyable_v<__half>);
  static_assert(std::is_trivially_default_constructible_v<__half>);
  static_assert(sizeof(cuda::__half2) == 4 && alignof(cuda::__half2) == 4);
}

TEST(Half, ArithmeticRoundsOnce) {
  const __half one = 1.0f, tiny = __ushort_as_half(1);
  EXPECT_EQ((one + tiny).bits, one.bits);
  EXPECT_EQ(static_cast<float>(__half(2049.0f)), 2048.0f);  // a tie rounds to even
  EXPECT_EQ(static_cast<float>(__half(2051.0f)), 2052.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(__half(65520.0f))));
  EXPECT_EQ(static_cast<float>(__half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isnan(static_cast<float>(__half(std::numeric_limits<float>::quiet_NaN()))));
}

// Checks against exact arithmetic: fp16 values are multiples of 2^-24 and products of 2^-48. The 64-bit significand of
// long double is exact whenever the operands are close enough to affect each other's rounding.
TEST(Half, FusedMultiplyAddRoundsOnce) {
  uint64_t state = 1;
  auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return __ushort_as_half(static_cast<uint16_t>((state >> 40) % 0x7c00u) | static_cast<uint16_t>(state >> 63 << 15));
  };
  for (int i = 0; i < 200000; ++i) {
    const __half a = next(), b = next(), c = next();
    const auto value = static_cast<long double>(static_cast<float>(a)) * static_cast<float>(b) + static_cast<float>(c);
    const __half got = __hfma(a, b, c);
    if (std::isinf(static_cast<float>(got))) {
      ASSERT_GE(std::fabs(value), 65520.0L);
      continue;
    }
    // Round to nearest: no neighbor is nearer, and a tie goes to the even one.
    const long double error = std::fabs(static_cast<long double>(static_cast<float>(got)) - value);
    for (const int step : {-1, 1}) {
      const __half neighbor = __ushort_as_half(static_cast<uint16_t>(got.bits + step));
      if (((neighbor.bits ^ got.bits) & 0x8000u) != 0 || !std::isfinite(static_cast<float>(neighbor))) continue;
      const long double other = std::fabs(static_cast<long double>(static_cast<float>(neighbor)) - value);
      ASSERT_TRUE(error < other || (error == other && got.bits % 2 == 0)) << i;
    }
  }
}

TEST(Tf32, RoundsToNearestTiesAway) {
  EXPECT_EQ(wmma::__float_to_tf32(1.0f), 1.0f);
  EXPECT_EQ(wmma::__float_to_tf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(wmma::__float_to_tf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_EQ(wmma::__float_to_tf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_TRUE(std::isinf(wmma::__float_to_tf32(std::numeric_limits<float>::infinity())));
  EXPECT_TRUE(std::isnan(wmma::__float_to_tf32(std::numeric_limits<float>::quiet_NaN())));
}

// double is exact for numbers with few bits, and nextafterf() then verifies the rounding.
TEST(Math, RoundsDown) {
  uint64_t state = 2;
  const auto next = [&](int bits) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto fraction = static_cast<float>(static_cast<int64_t>(state >> 20) % (int64_t{1} << bits));
    return std::ldexp(fraction, static_cast<int>(state >> 60) - 8 - bits);
  };
  int inexact = 0;
  for (int i = 0; i < 20000; ++i) {
    const float a = next(12), b = next(12) * (i % 2 == 0 ? 1 : -1), c = next(20);
    const double exact = static_cast<double>(a) * b + c;
    const float got = cuda::__fmaf_rd(a, b, c);
    ASSERT_LE(got, exact) << a << " * " << b << " + " << c;
    ASSERT_GT(std::nextafterf(got, INFINITY), exact) << a << " * " << b << " + " << c;
    inexact += got != exact;
  }
  EXPECT_GT(inexact, 1000);
  // Sums just below and just above 1, which double rounds to 1, and a product just above a float.
  const float tiny = std::ldexp(1.0F, -80);
  EXPECT_EQ(cuda::__fmaf_rd(tiny, -1, 1), std::nextafterf(1, 0));
  EXPECT_EQ(cuda::__fmaf_rd(tiny, 1, 1), 1);
  EXPECT_EQ(cuda::__fmul_rd(std::nextafterf(1, 0), std::nextafterf(1, 0)), 1 - std::ldexp(1.0F, -23));
  EXPECT_EQ(cuda::__fmul_rd(std::ldexp(3.0F, -149), 0.5F), std::ldexp(1.0F, -149));  // subnormal numbers
  EXPECT_EQ(cuda::__fmul_rd(std::numeric_limits<float>::max(), 2), std::numeric_limits<float>::max());
}

TEST(Math, PicksBytes) {
  EXPECT_EQ(cuda::__byte_perm(0x33221100u, 0x77665544u, 0x6420), 0x66442200u);
  EXPECT_EQ(cuda::__byte_perm(0x33221100u, 0x77665544u, 0x3571), 0x33557711u);
}

TEST(Names, OfSubscripts) {
  using internal::subscripted_name;
  const std::string line = "  y[0] = tile[a[1]][n] + z;";
  EXPECT_EQ(subscripted_name(line, 22), "tile");
  EXPECT_EQ(subscripted_name(line, 18), "a");
  EXPECT_EQ(subscripted_name(line, 6), "y");
  EXPECT_EQ(subscripted_name(line, 10), "tile");
  EXPECT_EQ(subscripted_name(line, 8), "");
  EXPECT_EQ(subscripted_name(line, 200), "");
  EXPECT_EQ(subscripted_name("]", 1), "");
  EXPECT_EQ(subscripted_name("", 1), "");
}

TEST(Memory, IsAlignedGuardedAndFilled) {
  auto* bytes = static_cast<unsigned char*>(allocate(100, "bytes"));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 256, 0u);
  for (int i = -256; i < 356; ++i) EXPECT_EQ(bytes[i], 0xff);
  fill_on_device(bytes, 3, 100);
  EXPECT_EQ(bytes[99], 3);
  EXPECT_EQ(bytes[100], 0xff);
  release(bytes);
  release(nullptr);
}

TEST(Memory, TooMuchIsAnError) {
  EXPECT_THROW(allocate(size_t{1} << 60, "huge"), Error);
  EXPECT_THROW(allocate(std::numeric_limits<size_t>::max(), "huge"), Error);
}

TEST(Memory, NearestRangeIsFound) {
  std::vector<char> memory(100);
  const RegisteredRange low(memory.data(), 10, "low"), high(memory.data() + 50, 10, "high");
  const auto ranges = internal::current_ranges();
  const auto name_at = [&](int offset) {
    return internal::nearest_range(*ranges, reinterpret_cast<uintptr_t>(memory.data() + offset))->name;
  };
  EXPECT_EQ(name_at(9), "low");
  EXPECT_EQ(name_at(12), "low");
  EXPECT_EQ(name_at(45), "high");
  EXPECT_EQ(name_at(50), "high");
  EXPECT_EQ(name_at(65), "high");
}

TEST(Memory, CopiesToASymbolStayInside) {
  static float symbol[4];
  const float values[4] = {1, 2, 3, 4};
  copy_to_symbol(symbol, sizeof(symbol), values, 8, 8);
  EXPECT_EQ(symbol[2], 1.0f);
  EXPECT_THROW(copy_to_symbol(symbol, sizeof(symbol), values, 16, 4), Error);
  EXPECT_THROW(copy_to_symbol(symbol, sizeof(symbol), values, 1, 17), Error);
}

TEST(Product, MultipliesWhatIsThere) {
  float* const memory = static_cast<float*>(allocate(10 * sizeof(float), "matrices"));
  const float values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 0.5f, 0.5f};
  copy_to_device(memory, values, sizeof(values));
  Product product{.m = 2, .n = 1, .k = 2, .alpha = 2, .beta = 4};
  product.a = {.data = memory, .leading = 2};
  product.b = {.data = memory + 4, .leading = 2};
  product.c = {.data = memory + 8, .leading = 2};
  multiply(product);
  EXPECT_EQ(memory[8], 2 * (1 * 5 + 3 * 6) + 4 * 0.5f);
  EXPECT_EQ(memory[9], 2 * (2 * 5 + 4 * 6) + 4 * 0.5f);
  product.a.transposed = true;
  product.beta = 0;
  multiply(product);
  EXPECT_EQ(memory[8], 2 * (1 * 5 + 2 * 6));
  product.c.data = memory + 9;
  EXPECT_THROW(multiply(product), Error);
  product.c.data = values;
  EXPECT_THROW(multiply(product), Error);
  narrow(memory, sizeof(values), "x", RangeAccess::read_only);
  product.c.data = memory + 8;
  EXPECT_THROW(multiply(product), Error);
  release(memory);
}

void count_calls(int* calls) { __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED); }

TEST(Launch, RunsEachThreadOnce) {
  for (const int count : {1, 2, 5}) {
    set_workers(count);
    int calls = 0;
    launch_kernel(count_calls, {.grid = {3, 4, 5}, .block = {7, 3, 2}}, &calls);
    EXPECT_EQ(calls, 3 * 4 * 5 * 7 * 3 * 2);
  }
  set_workers(0);
  EXPECT_GE(workers(), 1);
}

TEST(Launch, IsNotStuckWhileThreadsEnd) {
  set_stuck_after(0.05);
  std::chrono::steady_clock::duration took{};
  for (int blocks = 20000; took < std::chrono::milliseconds(100); blocks *= 2) {  // long enough on any machine
    const auto begin = std::chrono::steady_clock::now();
    int calls = 0;
    launch_kernel(count_calls, {.grid = blocks, .block = 64}, &calls);
    EXPECT_EQ(calls, blocks * 64);
    took = std::chrono::steady_clock::now() - begin;
  }
  set_stuck_after(30);
}

// A processor trap in a kernel is reported as a fault. The rest of the program must still receive its own signals.
TEST(Launch, LeavesTheProgramsOwnSignalsAlone) {
  int calls = 0;
  launch_kernel(count_calls, {.grid = 2, .block = 32}, &calls);
  for (const int number : {SIGFPE, SIGSEGV, SIGBUS, SIGILL}) {
    EXPECT_EXIT(std::raise(number), testing::KilledBySignal(number), "");
  }
#ifdef __x86_64__
  EXPECT_EXIT(__builtin_trap(), testing::KilledBySignal(SIGILL), "");
#else
  EXPECT_EXIT(__builtin_trap(), testing::KilledBySignal(SIGTRAP), "");
#endif
}

TEST(StoresUnderWay, ThatWaitForEachOtherTakeTurns) {
  constexpr uintptr_t kAddress = 64;
  simt::internal::StoresUnderWay all;
  simt::internal::StoreUnderWay stores[3];
  for (auto& store : stores) {
    all.join(store);
    store.extend(kAddress, kAddress + 4);
  }
  int landed = 0;  // unsynchronized on purpose: ThreadSanitizer reports it unless threads take turns
  {
    std::vector<std::jthread> threads;
    for (auto& store : stores) {
      threads.emplace_back([&] {
        all.wait_for(kAddress, store);
        ++landed;
        store.landed();
      });
    }
  }
  EXPECT_EQ(landed, 3);
}

TEST(Elements, AreNamedByTheirArraysShape) {
  using internal::element_text;
  using internal::meaning_text;
  const std::array<std::string, 4> axes{"image", "channel", "row", "column"};
  set_array_shapes({{"x", axes, {2, 3, 4, 5}}, {"y", axes, {2, 1, 3, 3}}, {"z", axes, {1, 2, 3, 3}}});
  EXPECT_EQ(meaning_text("x", 480, 4 * (60 + 20 + 5 + 2), 4), "image 1, channel 1, row 1, column 2");
  EXPECT_EQ(meaning_text("device_x", 480, 8, 4), "image 0, channel 0, row 0, column 2 of x");
  EXPECT_EQ(meaning_text("x", 400, 8, 4), "") << "a part of it has other coordinates";
  EXPECT_EQ(meaning_text("device_y", 72, 8, 4), "") << "two arrays have this size";
  EXPECT_EQ(meaning_text("x", 480, 480, 4), "");
  EXPECT_EQ(meaning_text("x", 480, -1, 4), "");
  EXPECT_EQ(meaning_text("x", 480, 16, 8), "");
  EXPECT_EQ(meaning_text("x", 480, 16, 16), "image 0, channel 0, row 0, column 4") << "a vector of floats";
  set_array_shapes({});
  EXPECT_EQ(meaning_text("x", 480, 8, 4), "");
  EXPECT_EQ(element_text("x", 480, 4), "x[120]");
  EXPECT_EQ(element_text("x", -1, 4), "x[-1]");
  EXPECT_EQ(element_text("x", 16, 8), "x[2]");
  EXPECT_EQ(element_text("dynamic shared memory", 8, 4), "element 2 of dynamic shared memory");
}

TEST(Simt, ParameterNamesComeFromTheDefinition) {
  using internal::parameters_in_source;
  using testing::ElementsAre;
  const std::string source =
      "__global__ void conv(float* a, int);\n"
      "void call() { conv(y, 1); }\n"
      "template <int N>\n"
      "__global__ void __launch_bounds__(64) conv(float* __restrict__ y /* out, (NCHW) */, const Pair<int, 4> sizes,\n"
      "                                           float (&z)[4], int n = f(1, 2)) {\n"
      "}\n"
      "__global__ void nothing() {}\n"
      "__global__ void declared(const float*, int count);\n";
  EXPECT_THAT(parameters_in_source(source, "conv"), ElementsAre("y", "sizes", "z", "n"));
  EXPECT_THAT(parameters_in_source(source, "declared"), ElementsAre("", "count"));
  EXPECT_TRUE(parameters_in_source(source, "nothing").empty());
  EXPECT_TRUE(parameters_in_source(source, "call").empty());
  EXPECT_TRUE(parameters_in_source(source, "missing").empty());
}

TEST(Elements, OfSharedArraysHaveTheSourcesIndices) {
  using internal::extents_in_source;
  using testing::ElementsAre;
  using testing::IsEmpty;
  const std::string source =
      "#define TILE 16  // threads\n#define WIDE (2 * TILE)\nconstexpr int kRows = 4, kColumns = kRows + 2;\n"
      "enum { kDepth = 3 };\ntemplate <int N> __global__ void kernel(const float* tile) {\n"
      "  __shared__ float tile[TILE][TILE + 1], line[WIDE];\n  __shared__ float cube[kDepth][kRows][kColumns];\n"
      "  __shared__ float square[N][N], mixed[N][M], none[unknown(3)];\n  float own[7][9];\n"
      "  tile[1][2] = line[3];\n}\n__global__ void other() {\n  __shared__ int twice[2][8];\n}\n"
      "__global__ void third() {\n  __shared__ int twice[8][2];\n}\n";
  EXPECT_THAT(extents_in_source(source, "tile", 272), ElementsAre(16, 17));
  EXPECT_THAT(extents_in_source(source, "line", 32), ElementsAre(32));
  EXPECT_THAT(extents_in_source(source, "cube", 72), ElementsAre(3, 4, 6));
  EXPECT_THAT(extents_in_source(source, "square", 64), ElementsAre(8, 8)) << "one unknown number";
  EXPECT_THAT(extents_in_source(source, "square", 65), IsEmpty());
  EXPECT_THAT(extents_in_source(source, "mixed", 64), IsEmpty()) << "two unknown numbers";
  EXPECT_THAT(extents_in_source(source, "none", 5), ElementsAre(5));
  EXPECT_THAT(extents_in_source(source, "tile", 100), IsEmpty()) << "not what is declared";
  EXPECT_THAT(extents_in_source(source, "own", 63), IsEmpty()) << "not shared";
  EXPECT_THAT(extents_in_source(source, "twice", 16), IsEmpty()) << "which of the two?";
  EXPECT_THAT(extents_in_source(source, "", 16), IsEmpty());
  EXPECT_THAT(extents_in_source("#define A B\n#define B A\n__shared__ int a[A][2];", "a", 6), ElementsAre(3, 2));
  EXPECT_THAT(extents_in_source("__shared__ int a[1 / 0][2", "a", 6), ElementsAre(6)) << "does not end";
  EXPECT_EQ(internal::subscripts({16, 17}, 21), "[1][4]");
  EXPECT_EQ(internal::subscripts({16, 17}, 16 * 17), "[16][0]") << "past the end";
  EXPECT_EQ(internal::subscripts({4}, 3), "[3]");
}

TEST(Elements, OfMacrosHaveTheArraysName) {
  using internal::array_of_macro;
  const std::string source =
      "#define x4d(n, c, h, w) x[(n) * 5 + (w)]\n"
      "#  define w4d(m, c) \\\n  (mask [(m) * 3])\n"
      "#define twice(m) (w4d(m, 0) + w4d(m, 1))\n"
      "#define A(i) B(i)\n#define B(i) A(i)\n#define kSize 4\nfloat a = x4d(1, 2, 3, 4);\n";
  EXPECT_EQ(array_of_macro(source, "x4d"), "x");
  EXPECT_EQ(array_of_macro(source, "w4d"), "mask");
  EXPECT_EQ(array_of_macro(source, "twice"), "mask");
  for (const char* other : {"A", "kSize", "x4", "tile"}) EXPECT_EQ(array_of_macro(source, other), "") << other;
}

TEST(Launch, RefusesWhatNoDeviceTakes) {
  int calls = 0;
  for (const LaunchShape& shape :
       {LaunchShape{.grid = 0, .block = 1}, LaunchShape{.grid = {1, 65536}, .block = 1},
        LaunchShape{.grid = int64_t{1} << 31, .block = 1}, LaunchShape{.grid = 1, .block = 1025},
        LaunchShape{.grid = 1, .block = {32, 33}}, LaunchShape{.grid = 1, .block = {1, 1, 65}},
        LaunchShape{.grid = 1, .block = -1}, LaunchShape{.grid = 1, .block = 1, .shared_bytes = 227 * 1024 + 1}}) {
    EXPECT_THROW(launch_kernel(count_calls, shape, &calls), Error);
  }
  EXPECT_EQ(calls, 0);
  launch_kernel(count_calls, {.grid = 1, .block = 1, .shared_bytes = 227 * 1024}, &calls);
  EXPECT_EQ(calls, 1);
}

// allocate() fills an array, and race records grow as it is used, so allocation must fail if memory for both is
// missing.
TEST(SimtDevice, RefusesWhatTheProcessCannotHold) {
  const std::unique_ptr<Device> device = open_simt({});
  const auto there = static_cast<size_t>(device->caps().memory_bytes);
  for (const size_t bytes : {there / 4, there - 1, there + 1, size_t{1} << 62}) {
    try {
      device->allocate(bytes);
      FAIL() << bytes << " of " << there;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
      EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(bytes) + " bytes needs "));
    }
  }
  for (int repeat = 0; repeat < 1000; ++repeat) device->allocate(1 << 16);
}

/// Blocks 0 and 1 of a launch, which access one word of memory.
struct TwoBlocks {
  using Kind = internal::AccessKind;
  internal::GlobalRaces races;
  internal::GlobalCell cell;
  internal::GlobalAccessor blocks[2];

  TwoBlocks() {
    races.begin(internal::take_block_serials(2), 2);
    for (int64_t block = 0; block < 2; ++block) blocks[block] = races.accessor_of(block);
  }
  bool race(int block, Kind kind, unsigned mask = 0xf) {
    return races.touch(cell, 64, mask, kind, 0, 0, blocks[block]).has_value();
  }
  void fenced_atomic(int block) {
    blocks[block].fenced = true;
    races.synchronize(blocks[block]);
  }
};

TEST(GlobalRaces, OfPlainAndAtomicAccesses) {
  using enum internal::AccessKind;
  const auto second_races = [](internal::AccessKind first, internal::AccessKind second) {
    TwoBlocks two;
    EXPECT_FALSE(two.race(0, first));
    EXPECT_FALSE(two.race(0, first)) << "a block with itself";
    return two.race(1, second) || !two.races.candidates().empty();
  };
  for (const auto& [first, second, races] : {std::tuple{read, read, false},
                                             {read, write, true},
                                             {write, read, true},
                                             {write, write, true},
                                             {write, atomic_update, true},
                                             {atomic_update, write, true},
                                             {atomic_update, atomic_write, false},
                                             {atomic_update, read, true},
                                             {read, atomic_update, true},
                                             {volatile_write, volatile_read, false},
                                             {write, volatile_read, true},
                                             {volatile_write, atomic_update, false}}) {
    EXPECT_EQ(second_races(first, second), races) << static_cast<int>(first) << ", " << static_cast<int>(second);
  }
}

TEST(GlobalRaces, FenceAndAtomicOfBothOrderWhatIsBeforeAndAfter) {
  using enum internal::AccessKind;
  TwoBlocks two;
  EXPECT_FALSE(two.race(0, write));
  two.fenced_atomic(0);
  two.races.synchronize(two.blocks[1]);
  EXPECT_FALSE(two.race(1, read));
  EXPECT_FALSE(two.race(1, write));

  TwoBlocks late;  // written after fence and atomic
  late.fenced_atomic(0);
  EXPECT_FALSE(late.race(0, write));
  late.races.synchronize(late.blocks[1]);
  EXPECT_TRUE(late.race(1, read));

  TwoBlocks deaf;  // the reader has no atomic
  EXPECT_FALSE(deaf.race(0, write));
  deaf.fenced_atomic(0);
  EXPECT_TRUE(deaf.race(1, read));
}

TEST(GlobalRaces, BytesOfAWordAreApart) {
  using enum internal::AccessKind;
  TwoBlocks two;
  EXPECT_FALSE(two.race(0, write, 0b0011));
  EXPECT_FALSE(two.race(1, write, 0b1100));
  EXPECT_FALSE(two.race(0, read, 0b0001));
  EXPECT_FALSE(two.race(1, read, 0b1000));
  EXPECT_TRUE(two.race(1, read, 0b0010));
  EXPECT_TRUE(two.race(0, write, 0b1111));
}

// Block serials have 28 bits. When they wrap around, memory must not hold records of reused serials.
TEST(GlobalRaces, NumbersOfBlocksComeAgain) {
  int* const calls = static_cast<int*>(allocate(2 * sizeof(int), "calls"));
  const auto ranges = internal::current_ranges();
  internal::GlobalCell* const cells = internal::nearest_range(*ranges, reinterpret_cast<uintptr_t>(calls))->cells.get();
  const auto use_up = [] { internal::take_block_serials((1 << internal::record::kSerialBits) - 1); };
  use_up();
  internal::GlobalRaces first;
  first.begin(internal::take_block_serials(2), 2);
  internal::GlobalAccessor block = first.accessor_of(1);
  EXPECT_FALSE(first.touch(cells[0], 64, 0xf, internal::AccessKind::write, 0, 0, block));
  use_up();
  internal::GlobalRaces second;
  second.begin(internal::take_block_serials(2), 2);
  EXPECT_EQ(second.accessor_of(0).floor, first.accessor_of(0).floor);
  block = second.accessor_of(0);
  EXPECT_FALSE(second.touch(cells[0], 64, 0xf, internal::AccessKind::write, 0, 0, block));
  release(calls);
}

TEST(WarpClock, OrdersLanesThroughOthers) {
  auto clock = std::make_unique<internal::WarpClock>();
  internal::AccessRecord by_lane_0{1, clock->stamp, 1u << 0, 0, 0, 0, 0};
  EXPECT_FALSE(clock->ordered(by_lane_0, 1u << 2));
  EXPECT_TRUE(clock->ordered(by_lane_0, 1u << 0));
  clock->synchronize(0b011, UINT32_MAX);
  EXPECT_TRUE(clock->ordered(by_lane_0, 1u << 1));
  EXPECT_FALSE(clock->ordered(by_lane_0, 1u << 2));
  clock->synchronize(0b110, UINT32_MAX);
  EXPECT_TRUE(clock->ordered(by_lane_0, 1u << 2));
  EXPECT_FALSE(clock->ordered(by_lane_0, 1u << 3));
  clock->synchronize(UINT32_MAX, UINT32_MAX);
  EXPECT_TRUE(clock->ordered(by_lane_0, 1u << 3));
}

}  // namespace
}  // namespace convlab::simt
