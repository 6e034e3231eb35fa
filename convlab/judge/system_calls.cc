// Builds the seccomp filters for jailed processes.

#include "convlab/judge/system_calls.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "convlab/base/error.h"

namespace convlab::judge {
namespace {

/// Forbidden for every jailed process. By name, because older kernel headers define fewer numbers.
constexpr const char* kNobodys[] = {
    // Access to other processes.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "process_madvise",
    "process_mrelease",
    // Network.
    "socket",
    "socketpair",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    // System administration.
    "mount",
    "umount2",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "swapon",
    "swapoff",
    "reboot",
    "sethostname",
    "setdomainname",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "syslog",
    "acct",
    "quotactl",
    "quotactl_fd",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "iopl",
    "ioperm",
    "nfsservctl",
    "lookup_dcookie",
    "name_to_handle_at",
    "open_by_handle_at",
    "fanotify_init",
    "modify_ldt",
    "vhangup",
    "mknod",
    "mknodat",
    // Memory that belongs to no process.
    "shmget",
    "shmat",
    "msgget",
    "semget",
    "mq_open",
    // Kernel interfaces with a history of vulnerabilities.
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "memfd_secret",
    "landlock_create_ruleset",
    "vmsplice",
    "migrate_pages",
    "move_pages",
};

/// Other processes, and memory outside of a process's address space, which its limits do not count.
constexpr const char* kNotOfSubmissions[] = {"fork", "vfork", "memfd_create"};

constexpr const char* kNewPrograms[] = {"execve", "execveat"};

/// Not needed: a process could add filters, and seccomp is attack surface of the kernel.
constexpr const char* kFilters = "seccomp";

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

void deny(const Filter& filter, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return;  // unknown to libseccomp, and most likely to this kernel
  seccomp_rule_add(filter.get(), SCMP_ACT_KILL_PROCESS, number, 0);
}

Filter new_filter() {
  Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (filter == nullptr) throw unavailable("cannot create the system call filter");
  return filter;
}

}  // namespace

int system_call_filter(bool starts_processes) {
  const Filter filter = new_filter();
  for (const char* name : kNobodys) deny(filter, name);
  if (starts_processes) {
    deny(filter, kFilters);
  } else {
    for (const char* name : kNotOfSubmissions) deny(filter, name);
    // Allow threads but not processes. clone3 passes its flags in memory, which a filter cannot read; on ENOSYS the C
    // library falls back to clone.
    seccomp_rule_add(filter.get(), SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
                     SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  }
  const int file = ::memfd_create("system calls", MFD_CLOEXEC);
  if (file < 0 || seccomp_export_bpf(filter.get(), file) != 0) {
    if (file >= 0) ::close(file);
    throw unavailable("cannot write the system call filter");
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

void start_no_programs() {
  const Filter filter = new_filter();
  for (const char* name : kNewPrograms) deny(filter, name);
  deny(filter, kFilters);
  if (seccomp_load(filter.get()) != 0) throw unavailable("cannot load the system call filter");
}

}  // namespace convlab::judge
