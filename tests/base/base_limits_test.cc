// Tests cgroup limits on CPUs and memory (versions 1 and 2) and the memory that a process may use.

#include "convlab/base/limits.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kNoCpuLimit = std::numeric_limits<double>::infinity();
constexpr int64_t kNoMemoryLimit = std::numeric_limits<int64_t>::max();

/// A temporary folder with its own /proc and /sys.
class Groups : public testing::Test {
 protected:
  void write(const std::filesystem::path& below_root, std::string_view text) {
    const std::filesystem::path path = folder_.path() / below_root;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void expect(double cpus, int64_t memory_bytes) {
    const GroupLimits limits = group_limits(folder_.path());
    EXPECT_EQ(limits.cpus, cpus);
    EXPECT_EQ(limits.memory_bytes, memory_bytes);
  }

  TemporaryFolder folder_;
};

constexpr const char* kVersion2 =
    "23 1 0:21 / /proc rw - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST_F(Groups, WithoutAnyThereIsNoLimit) {
  expect(kNoCpuLimit, kNoMemoryLimit);
  write("proc/self/cgroup", "0::/\n");
  write("proc/self/mountinfo", "not a mount\n\n1 2 - x\n");
  expect(kNoCpuLimit, kNoMemoryLimit);
}

TEST_F(Groups, OfVersion2TheLeastOnTheWayUpCounts) {
  write("proc/self/cgroup", "0::/system.slice/run-1.service/inner\n");
  write("proc/self/mountinfo", kVersion2);
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/system.slice/memory.max", "3000000000\n");
  write("sys/fs/cgroup/system.slice/run-1.service/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/system.slice/run-1.service/memory.max", "max\n");
  write("sys/fs/cgroup/system.slice/run-1.service/inner/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/system.slice/run-1.service/inner/memory.max", "4000000000\n");
  write("sys/fs/cgroup/another/cpu.max", "1000 100000\n");
  expect(0.5, 3000000000);
  // The process's own group counts, too.
  write("sys/fs/cgroup/system.slice/run-1.service/inner/cpu.max", "25000 100000\n");
  write("sys/fs/cgroup/system.slice/run-1.service/inner/memory.max", "1000\n");
  expect(0.25, 1000);
}

TEST_F(Groups, OfVersion1EachControllerHasItsOwn) {
  write("proc/self/cgroup", "4:memory:/user/me\n3:cpu,cpuacct:/batch/job\n2:name=systemd:/\n0::/\n");
  write("proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  for (const char* group : {"", "/batch", "/batch/job"}) {
    const std::string folder = std::string("sys/fs/cgroup/cpu,cpuacct") + group;
    write(folder + "/cpu.cfs_quota_us", group == std::string("/batch") ? "150000\n" : "-1\n");
    write(folder + "/cpu.cfs_period_us", "100000\n");
  }
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/user/memory.limit_in_bytes", "2000000000\n");
  write("sys/fs/cgroup/memory/user/me/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes", "5\n");  // this group belongs to another controller
  expect(1.5, 2000000000);
}

TEST_F(Groups, InAContainerTheMountBeginsAtItsGroup) {
  write("proc/self/cgroup", "0::/docker/1234/inner\n");
  write("proc/self/mountinfo", "31 23 0:28 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/inner/cpu.max", "100000 100000\n");
  expect(1, kNoMemoryLimit);
  // The group is not visible from here, so the visible one counts.
  write("proc/self/cgroup", "0::/../other\n");
  expect(2, kNoMemoryLimit);
  write("proc/self/cgroup", "0::/docker/99\n");
  expect(2, kNoMemoryLimit);
}

TEST(UsableMemory, IsWithinWhatThereIs) {
  EXPECT_GT(usable_memory_bytes(), 0);
  EXPECT_LE(usable_memory_bytes(), group_limits().memory_bytes);
  EXPECT_LE(usable_threads(), std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

TEST(RequireMemory, GivesBothFigures) {
  require_memory(usable_memory_bytes() / 8 * 7, "most takes", "give less");
  const int64_t bytes = usable_memory_bytes() + 1000000000;
  EXPECT_THAT(bad_input_message([&] { require_memory(bytes, "--copies 7: 7 images take", "give fewer"); }),
              AllOf(HasSubstr("--copies 7: 7 images take " + gigabytes(bytes)),
                    HasSubstr("may use " + gigabytes(usable_memory_bytes())), HasSubstr("; give fewer")));
}

}  // namespace
}  // namespace convlab
