// Tests devices and streams of the CPU and, if present, of a GPU.

#include "convlab/device/device.h"
#include "convlab/device/devices.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <new>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/device/cuda.h"
#include "convlab/device/simt.h"
#include "convlab/device/thread_pool.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

TEST(CpuDevice, SaysWhatItIs) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 3});
  EXPECT_EQ(device->caps().kind, DeviceKind::cpu);
  EXPECT_EQ(device->caps().threads, 3);
  EXPECT_EQ(device->caps().memory_bytes, usable_memory_bytes());
  EXPECT_THAT(device->caps().description, HasSubstr("3 threads"));
  EXPECT_EQ(device->make_stream()->threads()->size(), 3);
  EXPECT_EQ(device->make_stream()->native(), nullptr);
}

TEST(CpuDevice, MemoryIsAlignedAndCopied) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  const std::unique_ptr<Stream> stream = device->make_stream();
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{1000}}) {
    const Buffer buffer = device->allocate(bytes);
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(buffer.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    std::vector<uint8_t> there(bytes), back(bytes);
    for (size_t i = 0; i < bytes; ++i) there[i] = static_cast<uint8_t>(i);
    stream->upload(buffer.data(), there.data(), bytes);
    stream->download(back.data(), buffer.data(), bytes);
    stream->synchronize();
    EXPECT_EQ(there, back);
    stream->fill(buffer.data(), 0xa5, bytes);
    stream->download(back.data(), buffer.data(), bytes);
    EXPECT_EQ(back, std::vector<uint8_t>(bytes, 0xa5));
  }
}

TEST(CpuDevice, WhatOnlyAGpuNeedsDoesNothing) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  const std::unique_ptr<Stream> stream = device->make_stream(), other = device->make_stream();
  device->make_current();
  stream->wait_for(*other);
  char memory[16];
  EXPECT_FALSE(device->page_lock(memory, sizeof memory));
  EXPECT_EQ(stream->record([] { FAIL() << "done, though it can only be recorded"; }), nullptr);
}

TEST(CudaDevice, RepeatsWhatAStreamRecorded) {
  if (!cuda_present()) GTEST_SKIP() << "there is no GPU";
  const std::unique_ptr<Device> device = open_device("cuda", {});
  const std::unique_ptr<Stream> stream = device->make_stream(), other = device->make_stream();
  const Buffer buffer = device->allocate(4);
  std::vector<uint8_t> back(4);
  const Buffer locked = device->page_lock(back.data(), back.size());
  EXPECT_TRUE(locked);
  stream->fill(buffer.data(), 1, 4);
  const std::unique_ptr<Replay> replay = stream->record([&] { stream->fill(buffer.data(), 7, 4); });
  ASSERT_NE(replay, nullptr);
  const auto content = [&] {
    other->wait_for(*stream);
    other->download(back.data(), buffer.data(), 4);
    other->synchronize();
    return back;
  };
  EXPECT_EQ(content(), std::vector<uint8_t>(4, 1)) << "recorded is not done";
  replay->run();
  EXPECT_EQ(content(), std::vector<uint8_t>(4, 7));
  EXPECT_EQ(stream->record([&] { stream->synchronize(); }), nullptr) << "waiting cannot be recorded";
  stream->fill(buffer.data(), 3, 4);
  EXPECT_EQ(content(), std::vector<uint8_t>(4, 3)) << "and the stream works on";
}

TEST(CudaDevice, WorkThatFailsWhileItIsRecordedLeavesTheStreamUsable) {
  if (!cuda_present()) GTEST_SKIP() << "there is no GPU";
  const std::unique_ptr<Device> device = open_device("cuda", {});
  const std::unique_ptr<Stream> stream = device->make_stream();
  const Buffer buffer = device->allocate(4);
  EXPECT_THROW(stream->record([&] {
    stream->fill(buffer.data(), 7, 4);
    throw std::bad_alloc();
  }),
               std::bad_alloc);
  EXPECT_EQ(stream->record([&] { throw unavailable("planted"); }), nullptr);
  std::vector<uint8_t> back(4);
  stream->fill(buffer.data(), 3, 4);
  stream->download(back.data(), buffer.data(), 4);
  stream->synchronize();
  EXPECT_EQ(back, std::vector<uint8_t>(4, 3));
  EXPECT_NE(stream->record([&] { stream->fill(buffer.data(), 5, 4); }), nullptr);
}

/// Like a library's handle that still uses the CUDA stream in its destructor.
struct UsesItsStream {
  std::unique_ptr<Replay> work;
  bool* done = nullptr;
  ~UsesItsStream() {
    if (!work) return;
    work->run();
    *done = true;
  }
};

TEST(CudaDevice, WhatIsAttachedEndsBeforeTheStream) {
  if (!cuda_present()) GTEST_SKIP() << "there is no GPU";
  const std::unique_ptr<Device> device = open_device("cuda", {});
  std::unique_ptr<Stream> stream = device->make_stream();
  const Buffer buffer = device->allocate(4);
  stream->fill(buffer.data(), 1, 4);
  bool done = false;
  UsesItsStream& attached = stream->attached<UsesItsStream>();
  attached.work = stream->record([&] { stream->fill(buffer.data(), 1, 4); });
  attached.done = &done;
  ASSERT_NE(attached.work, nullptr);
  stream.reset();
  EXPECT_TRUE(done) << "the stream was gone";
}

TEST(CpuDevice, MoreMemoryThanThereIsIsRefused) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  for (size_t bytes : {static_cast<size_t>(usable_memory_bytes()) + 1, SIZE_MAX / 2, SIZE_MAX}) {
    EXPECT_THAT(error_message(ErrorKind::unavailable, [&] { device->allocate(bytes); }),
                AllOf(HasSubstr(std::to_string(bytes)), HasSubstr("use a smaller batch")));
  }
}

TEST(Devices, AutoIsAlwaysThere) { EXPECT_NE(open_device("auto", {.threads = 1}), nullptr); }

TEST(Devices, SeveralAreTheGpusThatThereAre) {
  const std::vector<std::unique_ptr<Device>> one = open_devices("cpu", {.threads = 1});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front()->caps().name, "cpu");
  EXPECT_THAT(bad_input_message([] { open_device(kAllGpus, {}); }), AllOf(HasSubstr("cuda:all"), HasSubstr("cuda:0")));
  if (!cuda_present()) {
    EXPECT_THAT(error_message(ErrorKind::unavailable, [] { open_devices(kAllGpus, {}); }), HasSubstr("CUDA"));
    GTEST_SKIP() << "there is no GPU";
  }
  const std::vector<std::unique_ptr<Device>> all = open_devices(kAllGpus, {});
  EXPECT_EQ(all.size(), list_cuda().size());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->caps().name, fmt::format("cuda:{}", i));
}

TEST(Devices, ABuildWithoutSimtSaysHowToGetIt) {
  if (simt_present()) {
    EXPECT_EQ(how_to_get_simt(), "");
    return;
  }
  EXPECT_THAT(error_message(ErrorKind::unavailable, [] { open_device("simt", {}); }),
              AllOf(HasSubstr("device simt: "), HasSubstr(how_to_get_simt()), HasSubstr("./run.sh")));
}

TEST(Devices, UnknownNamesAreBadUsage) {
  for (const char* name : {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:-1", "cuda:99999"}) {
    bad_input_message([&] { open_device(name, {}); });
  }
  EXPECT_THAT(bad_input_message([] { open_device("gpu", {}); }), AllOf(HasSubstr("gpu"), HasSubstr("cuda:N")));
}

TEST(Devices, ADeviceThatIsNotThereSaysWhy) {
  // No machine has a thousand GPUs, and a build without CUDA has none.
  EXPECT_THAT(error_message(ErrorKind::unavailable, [] { open_device("cuda:1000", {}); }),
              AnyOf(HasSubstr("no CUDA support"), HasSubstr("device cuda")));
}

TEST(Devices, TheListBeginsWithTheCpu) {
  const std::vector<DeviceListing> devices = list_devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.front().name, "cpu");
  for (const DeviceListing& device : devices) EXPECT_NE(device.description, "");
}

}  // namespace
}  // namespace convlab
