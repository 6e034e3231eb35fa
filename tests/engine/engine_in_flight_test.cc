// Tests runs that fail: when the error is thrown, no copy to or from the caller's memory may still be in flight.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "convlab/base/limits.h"
#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/kernels/registry.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

/// A device that claims to be a GPU. It works synchronously, but counts copies as in flight until their stream is
/// synchronized. Its streams' calls can be made to fail.
class SlowDevice final : public Device {
 public:
  static constexpr int kNever = 1 << 30;

  SlowDevice() : host_(open_cpu({.threads = 1})) {
    caps_ = host_->caps();
    caps_.kind = DeviceKind::cuda;
  }
  const DeviceCaps& caps() const override { return caps_; }
  Buffer allocate(size_t bytes) override { return host_->allocate(bytes); }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<SlowStream>(*this); }

  int copies_under_way() const {
    int sum = 0;
    for (const auto& [stream, copies] : copies_) sum += copies.given - copies.done;
    return sum;
  }

  int calls_until_failure = kNever;

 private:
  class SlowStream final : public Stream {
   public:
    explicit SlowStream(SlowDevice& device) : device_(device), host_(device.host_->make_stream()) {}
    ~SlowStream() override { device_.copies_.erase(this); }
    const DeviceCaps& caps() const override { return device_.caps(); }
    void upload(void* to, const void* from, size_t bytes) override {
      device_.count_call();
      ++device_.copies_[this].given;
      host_->upload(to, from, bytes);
    }
    void download(void* to, const void* from, size_t bytes) override {
      device_.count_call();
      ++device_.copies_[this].given;
      host_->download(to, from, bytes);
    }
    void fill(void* memory, int byte, size_t bytes) override { host_->fill(memory, byte, bytes); }
    void synchronize() override {
      device_.copies_[this].done = device_.copies_[this].given;
      for (const auto& [other, given] : waits_for_) {
        int& done = device_.copies_[other].done;
        done = std::max(done, given);
      }
    }
    void wait_for(Stream& other) override {
      device_.count_call();
      waits_for_[&other] = device_.copies_[&other].given;
    }
    ThreadPool* threads() override { return host_->threads(); }
    void* native() override { return nullptr; }

   private:
    SlowDevice& device_;
    std::unique_ptr<Stream> host_;
    std::map<const Stream*, int> waits_for_;  ///< how many of each stream's copies it waits for
  };

  struct Copies {
    int given = 0, done = 0;
  };

  void count_call() {
    if (--calls_until_failure == 0) throw unavailable("the bus is broken");
  }

  std::unique_ptr<Device> host_;
  DeviceCaps caps_;
  std::map<const Stream*, Copies> copies_;
};

const RegisterConvKernel far_conv{{
    .info = {.name = "cuda.test_in_flight", .device = DeviceKind::cuda, .rung = -1, .idea = "for tests"},
    .refuses = [](const ConvStep& step, const DeviceCaps&) { return refuse_unless_plain(step); },
    .launch = [](const ConvArgs& args,
                 Stream& stream) { call(find_kernel("cpu.reference", DeviceKind::cpu)->launch, args, stream); },
}};

/// Returns how many failures, each at a later call, a run of three batches has before it succeeds.
int failures(EngineOptions options) {
  SlowDevice device;
  GraphBuilder builder({-1, 1, 8, 8});
  builder.conv(builder.input(), 2, 1, 3);
  const Tensor x(ElementType::f32, {7, 1, 8, 8});
  options.plan.kernel = "cuda.test_in_flight";
  options.batch = 3;
  for (int call = 1;; ++call) {
    Engine engine(builder.graph().clone(), x.shape(), device, options);
    std::vector<float> output(7 * 2 * 6 * 6);
    device.calls_until_failure = call;
    bool failed = false;
    try {
      engine.run(x.raw(), 7, output.data());
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the bus is broken");
      failed = true;
    }
    device.calls_until_failure = SlowDevice::kNever;
    EXPECT_EQ(device.copies_under_way(), 0) << "after a failure of call " << call;
    if (!failed) return call - 1;
    engine.run(x.raw(), 7, output.data());  // and the engine still works
  }
}

TEST(EngineInFlight, AnErrorWaitsForWhatIsUnderWay) {
  EXPECT_EQ(failures({.pipelined = false}), 6) << "an upload and a download of each batch";
  EXPECT_GT(failures({.pipelined = true}), 6);
}

TEST(Engine, AnOutputBeyondTheMemoryIsRefusedWithTheFigure) {
  // Each pixel is padded to an image of 1.6 GB.
  constexpr int64_t kSide = 20000;
  GraphBuilder builder({-1, 1, 1, 1});
  builder.add(PadOp{PadMode::constant, {0, 0, 0, 0, 0, 0, kSide - 1, kSide - 1}}, {builder.input()});
  const std::unique_ptr<Device> device = open_cpu({.threads = 1});
  const int64_t images = usable_memory_bytes() / (kSide * kSide * 4) + 1;
  if (images < 2) GTEST_SKIP() << "there is no memory for one image";
  const Tensor x(ElementType::f32, {images, 1, 1, 1});
  Engine engine(builder.take(), x.shape(), *device, {.batch = 1});
  EXPECT_THAT(bad_input_message([&] { engine.run(x); }), HasSubstr(gigabytes(images * kSide * kSide * 4)));
}

}  // namespace
}  // namespace convlab
