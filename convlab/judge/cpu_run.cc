// Runs and times CPU kernels in jails.

#include "convlab/judge/cpu_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/judge/jail_program.h"

namespace convlab::judge {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw unavailable("cannot create a pipe: {}", std::strerror(errno));
  return ends;
}

}  // namespace

CpuRun::CpuRun(const Kernel& kernel, const ConvProblem& problem, const WorkFolder& work, const JudgeLimits& limits,
               double limit_s, bool in_jail)
    : bytes_(static_cast<size_t>(problem.input_count() + problem.filter_count() + problem.output_count()) *
             sizeof(float)) {
  static std::atomic<int> count{0};
  const std::string name = fmt::format("run-{}", count++);
  answer_ = work.empty_file(name + ".answer");
  request_ = work / (name + ".json");
  write_file(request_, json_text(Json{{"source", kernel.source.string()},
                                      {"library", kernel.library.string()},
                                      {"problem", to_text(problem)},
                                      {"processes", in_jail ? limits.processes : 0},
                                      {"answer", answer_.string()}},
                                 -1));
  // Sealed: if the process could shrink the file, the judge would crash on access.
  memory_ = ::memfd_create("arrays", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory_ < 0 || ::ftruncate(memory_, static_cast<off_t>(bytes_)) != 0 ||
      ::fcntl(memory_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw unavailable("cannot create shared memory: {}", std::strerror(errno));
  }
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (memory == MAP_FAILED) throw unavailable("cannot map shared memory: {}", std::strerror(errno));
  x_ = {static_cast<float*>(memory), static_cast<size_t>(problem.input_count())};
  w_ = {x_.data() + x_.size(), static_cast<size_t>(problem.filter_count())};
  y_ = {w_.data() + w_.size(), static_cast<size_t>(problem.output_count())};
  ::signal(SIGPIPE, SIG_IGN);  // a process may end before it is started
  const std::array<int, 2> go = make_pipe(), done = make_pipe();
  go_ = go[1];
  done_ = done[0];
  JailRequest request{.command = {jail_program().front().string(), "run", request_.string()},
                      .shown = jail_program(),
                      .writable = {answer_},
                      .passed = {go[0], done[1], memory_},
                      .limit_s = limit_s,
                      .memory_bytes = limits.memory_bytes,
                      .file_bytes = kMostAnswerBytes,
                      .output_bytes = limits.output_bytes};
  request.shown.insert(request.shown.end(), {kernel.source, kernel.library, request_});
  jailed_ = std::make_unique<Jailed>(request, in_jail);
  ::close(go[0]);
  ::close(done[1]);
  char byte = 0;
  ready_ = jailed_->wait_for(done_) && ::read(done_, &byte, 1) == 1;
  if (ready_) jailed_->freeze();
}

CpuRun::~CpuRun() {
  jailed_.reset();
  ::munmap(x_.data(), bytes_);
  for (const int number : {memory_, go_, done_}) ::close(number);
  std::error_code error;
  std::filesystem::remove(request_, error);
  std::filesystem::remove(answer_, error);
}

std::optional<double> CpuRun::sample(const Probe& probe, bool zeros, std::vector<float>& y) {
  if (!ready_) return std::nullopt;
  y.resize(y_.size());
  std::ranges::copy(probe.x.values<float>(), x_.begin());
  std::ranges::copy(probe.w.values<float>(), w_.begin());
  std::memset(y_.data(), zeros ? 0 : 0xff, y_.size_bytes());
  char byte = 0;
  const Clock::time_point begin = Clock::now();
  jailed_->thaw();  // until now it could not read its input
  if (::write(go_, &byte, 1) != 1 || !jailed_->wait_for(done_) || ::read(done_, &byte, 1) != 1) return std::nullopt;
  std::memcpy(y.data(), y_.data(), y_.size_bytes());
  const double seconds = seconds_since(begin);
  jailed_->freeze();
  return seconds;
}

bool CpuRun::changed_input(const Probe& probe) const {
  return std::memcmp(x_.data(), probe.x.raw(), x_.size_bytes()) != 0 ||
         std::memcmp(w_.data(), probe.w.raw(), w_.size_bytes()) != 0;
}

Json CpuRun::answer() const {
  try {
    return parse_foreign_json(read_text(answer_, kMostAnswerBytes), "answer", {});
  } catch (const Error&) {  // a submission that took over the process may have written anything
  }
  return Json::object();
}

}  // namespace convlab::judge
