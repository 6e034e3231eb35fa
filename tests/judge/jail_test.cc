// Tests what a jail keeps in and out: files, processes, system calls and limits.

#include "convlab/judge/jail.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "convlab/judge/work_folder.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace convlab::judge {
namespace {

using testing::HasSubstr;
using testing::Not;

class Jail : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_jail(); !why.empty()) GTEST_SKIP() << why;
  }

  static JailRequest shell(const std::string& script, double limit_s = 60) {
    return {.command = {"/bin/sh", "-c", script}, .compiles = true, .limit_s = limit_s};
  }
};

TEST_F(Jail, TellsHowAProcessEnds) {
  JailEnd end = run_in_jail(shell("echo words; echo more >&2; exit 7"), true);
  EXPECT_EQ(end.how, JailEnd::How::exited);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.printed, "words\nmore\n");
  end = run_in_jail(shell("kill -SEGV $$"), true);
  EXPECT_EQ(end.how, JailEnd::How::crashed);
  EXPECT_THAT(describe(end, 1), HasSubstr("SIGSEGV"));
}

TEST_F(Jail, EndsWhatTakesTooLong) {
  const JailEnd end = run_in_jail(shell("sleep 1000", 0.5), true);
  EXPECT_EQ(end.how, JailEnd::How::out_of_time);
  EXPECT_LT(end.seconds, 30);
}

TEST_F(Jail, HasNoFilesButThoseShown) {
  const TemporaryFolder folder;
  const std::filesystem::path shown = folder.path() / "shown", hidden = folder.path() / "hidden";
  for (const std::filesystem::path& each : {shown, hidden}) std::ofstream(each) << "text\n";
  JailRequest request =
      shell("cat " + shown.string() + "; cat " + hidden.string() + " /etc/passwd; ls -a /root /home; echo x > " +
            shown.string() + "; echo x > /usr/x; echo x > /x; ls /");
  request.shown = {shown};
  const JailEnd end = run_in_jail(request, true);
  EXPECT_THAT(end.printed, HasSubstr("text\n"));
  EXPECT_THAT(end.printed, HasSubstr("hidden: No such file"));
  EXPECT_THAT(end.printed, HasSubstr("/etc/passwd: No such file"));
  EXPECT_THAT(end.printed, HasSubstr("'/root': No such file"));
  EXPECT_THAT(end.printed, Not(HasSubstr("\nproc\n")));
  EXPECT_EQ(text_of(shown), "text\n");
}

TEST_F(Jail, WritesWhatItMayAndNoMoreThanItMay) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "file";
  std::ofstream(file) << "";
  JailRequest request = shell("head -c 100000 /usr/bin/cat /usr/bin/ls > " + file.string());
  request.writable = {file};
  request.file_bytes = 1000;
  run_in_jail(request, true);
  EXPECT_EQ(std::filesystem::file_size(file), 1000u);
}

TEST_F(Jail, KeepsTheBeginningOfWhatIsPrinted) {
  JailRequest request = shell("yes", 1);
  request.output_bytes = 1000;
  const JailEnd end = run_in_jail(request, true);
  EXPECT_EQ(end.how, JailEnd::How::out_of_time);
  EXPECT_EQ(end.printed.size(), 1000u);
  EXPECT_GT(end.printed_bytes, 100'000);
}

TEST_F(Jail, LimitsMemory) {
  JailRequest request = shell("exec awk 'BEGIN { s = \"x\"; while (1) s = s s }'");
  request.memory_bytes = int64_t{200} << 20;
  const JailEnd end = run_in_jail(request, true);
  EXPECT_TRUE(end.how == JailEnd::How::crashed || (end.how == JailEnd::How::exited && end.code != 0)) << end.printed;
}

TEST_F(Jail, HasNoNetwork) {
  const JailEnd end = run_in_jail(
      {.command = {"/usr/bin/perl", "-e", "use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0); print 'still here'"},
       .compiles = true},
      true);
  EXPECT_EQ(end.how, JailEnd::How::forbidden) << end.printed;
  EXPECT_THAT(end.printed, Not(HasSubstr("still here")));
}

TEST_F(Jail, OfASubmissionStartsNoProcesses) {
  JailRequest request = shell("/usr/bin/true; echo still here");
  request.compiles = false;
  request.shown = {"/usr", "/bin", "/lib", "/lib64"};
  const JailEnd end = run_in_jail(request, true);
  EXPECT_EQ(end.how, JailEnd::How::forbidden) << end.printed;
  EXPECT_THAT(end.printed, Not(HasSubstr("still here")));
}

TEST_F(Jail, OfACompilerSeesWhatCompilersNeedAndNoMoreOfUsr) {
  const JailEnd end = run_in_jail(shell("ls /usr"), true);
  EXPECT_THAT(end.printed, HasSubstr("include\n"));
  for (const char* folder : {"share", "local", "src", "sbin"}) EXPECT_THAT(end.printed, Not(HasSubstr(folder)));
  EXPECT_EQ(shown_to_compilers("/usr/lib/../lib/classes/mine"), "/usr/lib");
  EXPECT_EQ(shown_to_compilers("/usr/local/share/mine"), "");
  EXPECT_EQ(shown_to_compilers("/usr/library"), "");
}

TEST_F(Jail, HasNoCapabilities) {
  const JailEnd end = run_in_jail(
      {.command =
           {"/usr/bin/perl", "-e",
            "my $h = pack('LL', 0x20080522, 0); my $d = qq(\\0) x 24; syscall(125, $h, $d); print unpack('H*', $d)"},
       .compiles = true},
      true);
  EXPECT_EQ(end.printed, std::string(48, '0')) << "effective, permitted and inheritable ones, also of root's worker";
}

TEST_F(Jail, HasNoMemoryThatBelongsToNoProcess) {
  constexpr const char* kShmget = "syscall(29, 0, 1 << 20, 0600); print 'still here'";
  JailEnd end = run_in_jail({.command = {"/usr/bin/perl", "-e", kShmget}, .compiles = true}, true);
  EXPECT_EQ(end.how, JailEnd::How::forbidden) << end.printed;
  constexpr const char* kMemfdCreate = "my $n = 'x'; syscall(319, $n, 0); print 'still here'";
  end = run_in_jail({.command = {"/usr/bin/perl", "-e", kMemfdCreate}, .shown = {"/usr", "/bin", "/lib", "/lib64"}},
                    true);
  EXPECT_EQ(end.how, JailEnd::How::forbidden) << end.printed;
}

TEST_F(Jail, FreezesItsProgram) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK), 0);
  Jailed jailed({.command = {"/usr/bin/perl", "-e", "open(my $f, '>&=3'); while (1) { syswrite($f, 'x') }"},
                 .shown = {"/usr", "/bin", "/lib", "/lib64"},
                 .passed = {pipe[1]}},
                true);
  const auto writes_within = [&](int milliseconds) {
    pollfd watched{pipe[0], POLLIN, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
  };
  const auto empty = [&] {
    std::array<char, 65536> bytes;
    while (::read(pipe[0], bytes.data(), bytes.size()) > 0) {
    }
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(writes_within(60'000));
    jailed.freeze();
    empty();
    EXPECT_FALSE(writes_within(50));
    jailed.thaw();
  }
  EXPECT_TRUE(writes_within(60'000));
  for (const int end : pipe) ::close(end);
}

TEST(WorkFolder, EndsWithAJudgeThatWasKilled) {
  const TemporaryFolder temporary;
  ::setenv("TMPDIR", temporary.path().c_str(), 1);
  const std::filesystem::path left = temporary.path() / "convlab-judge-abcdef",
                              other = temporary.path() / "convlab-other";
  for (const std::filesystem::path& each : {left, other}) {
    std::filesystem::create_directory(each);
    std::ofstream(each / "in-use") << "";
  }
  {
    const WorkFolder one;
    EXPECT_FALSE(std::filesystem::exists(left));
    EXPECT_TRUE(std::filesystem::exists(other));
    const std::filesystem::path file = one.empty_file("file");
    const WorkFolder two;
    EXPECT_TRUE(std::filesystem::exists(file)) << "whoever lives keeps his own";
  }
  ::unsetenv("TMPDIR");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temporary.path()), {}), 1);
}

TEST_F(Jail, LeavesNothingBehind) {
  const JailEnd end = run_in_jail(shell("setsid sleep 98765 > /dev/null 2>&1 & echo done"), true);
  EXPECT_EQ(end.printed, "done\n");
  const auto is_there = [] {
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
      if (text_of(process.path() / "cmdline").find("98765") != std::string::npos) return true;
    }
    return false;
  };
  constexpr int kMostTries = 1000;  // the kernel kills them one by one
  for (int i = 0; i < kMostTries && is_there(); ++i) ::usleep(10'000);
  EXPECT_FALSE(is_there());
}

TEST_F(Jail, PassesNumbersOnAndNoOthers) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  JailRequest request = shell("echo words >&3; (echo more >&4) 2> /dev/null || echo closed");
  request.passed = {pipe[1]};
  const JailEnd end = run_in_jail(request, true);
  EXPECT_EQ(end.printed, "closed\n");
  std::array<char, 16> text{};
  EXPECT_EQ(::read(pipe[0], text.data(), text.size()), 6);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(WithoutAJail, TheLimitsHold) {
  JailRequest request{.command = {"/bin/sh", "-c", "echo words; exit 3"}, .limit_s = 60};
  JailEnd end = run_in_jail(request, false);
  EXPECT_EQ(end.how, JailEnd::How::exited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.printed, "words\n");
  request = {.command = {"/bin/sh", "-c", "sleep 1000"}, .limit_s = 0.5};
  end = run_in_jail(request, false);
  EXPECT_EQ(end.how, JailEnd::How::out_of_time);
  EXPECT_EQ(describe(end, 0.5), "the program ran longer than 0.5 s");
}

}  // namespace
}  // namespace convlab::judge
