// The system calls that a sandboxed process may use, as a program for seccomp. Every other call fails with
// EPERM. Files can be opened for reading only, threads can be started but no processes, and signals can be
// sent only to the process itself.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "server/isolation/sandbox.h"

namespace tern::server {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kX32 = 0x40000000;  // numbers of the x32 interface have this bit
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t kX32 = 0;
#else
#error "the sandbox knows the system calls of x86-64 and 64-bit ARM only"
#endif

constexpr int kPermitted[] = {
    // memory and threads
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_mincore,
    SYS_msync,
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_membarrier,
    SYS_exit,
    SYS_exit_group,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_getcpu,
    SYS_get_mempolicy,
    SYS_restart_syscall,
    SYS_memfd_create,
    // time
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_times,
    // signals
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    // files that are open, and reading
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_write,
    SYS_writev,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_dup,
    SYS_dup3,
    SYS_fstatfs,
    SYS_statfs,
    // the sockets that the process has inherited
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_sendto,
    SYS_recvfrom,
    SYS_shutdown,
    SYS_getsockopt,
    SYS_ppoll,
    SYS_pselect6,
    // the process itself
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_getrandom,
    SYS_getrlimit,
    SYS_capget,
    SYS_getpriority,
#if defined(__x86_64__)
    SYS_arch_prctl,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_poll,
    SYS_select,
    SYS_time,
    SYS_dup2,
#endif
};

constexpr int kAbsent[] = {SYS_clone3, SYS_openat2};  // the C library has other ways if they are missing

// Builds the program. It returns at the first rule for the number of the call.
class Program {
 public:
  Program() {
    Load(offsetof(seccomp_data, arch));
    Compare(kArchitecture, 1, 0);
    Return(SECCOMP_RET_KILL_PROCESS);
    Load(offsetof(seccomp_data, nr));
    if (kX32 != 0) {
      Add(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1);
      Return(SECCOMP_RET_KILL_PROCESS);
    }
  }

  void Permit(int call) {
    Compare(static_cast<uint32_t>(call), 0, 1);
    Return(SECCOMP_RET_ALLOW);
  }
  void Fail(int call, int error) {
    Compare(static_cast<uint32_t>(call), 0, 1);
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
  }
  // Permits the call if the lower half of (argument & mask) is one of `values`; else it fails with `error`.
  void PermitIf(int call, int argument, uint32_t mask, std::initializer_list<uint32_t> values, int error) {
    auto left = static_cast<uint8_t>(values.size());
    Compare(static_cast<uint32_t>(call), 0, static_cast<uint8_t>(4 + left));
    Load(LowerHalf(argument));
    Add(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    for (const uint32_t value : values) Compare(value, left--, 0);
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
    Return(SECCOMP_RET_ALLOW);
  }
  // Permits the call if the argument, a pointer, is null; else it fails with EPERM.
  void PermitIfNull(int call, int argument) {
    Compare(static_cast<uint32_t>(call), 0, 6);
    Load(LowerHalf(argument));
    Compare(0, 0, 2);
    Load(LowerHalf(argument) + 4);
    Compare(0, 1, 0);
    Return(SECCOMP_RET_ERRNO | EPERM);
    Return(SECCOMP_RET_ALLOW);
  }
  Status Install() {
    Return(SECCOMP_RET_ERRNO | EPERM);
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0) return {};
    return Unsupported("the sandbox cannot be entered: seccomp: ", std::strerror(errno));
  }

 private:
  void Add(uint16_t code, uint32_t k, uint8_t yes, uint8_t no) { code_.push_back({code, yes, no, k}); }
  // Skips `yes` instructions if the loaded value is `value`, else `no`.
  void Compare(uint32_t value, uint8_t yes, uint8_t no) { Add(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no); }
  void Load(size_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0); }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action, 0, 0); }
  // Both architectures are little-endian.
  static size_t LowerHalf(int argument) {
    return offsetof(seccomp_data, args) + 8 * static_cast<size_t>(argument);
  }

  std::vector<sock_filter> code_;
};

}  // namespace

Status FilterSystemCalls() {
  constexpr uint32_t kAll = 0xFFFFFFFF;
  Program program;
  for (const int call : kPermitted) program.Permit(call);
  for (const int call : kAbsent) program.Fail(call, ENOSYS);
  constexpr uint32_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  program.PermitIf(SYS_openat, 2, kWrites, {0}, EROFS);
  // The C library passes CLONE_THREAD for threads and not for processes.
  constexpr uint32_t kThread = 0x00010000, kNamespaces = 0x7E020080;
  program.PermitIf(SYS_clone, 0, kThread | kNamespaces, {kThread}, EPERM);
  program.PermitIf(SYS_sched_setaffinity, 0, kAll, {0}, EPERM);
  program.PermitIf(SYS_tgkill, 0, kAll, {static_cast<uint32_t>(getpid())}, EPERM);
  program.PermitIf(SYS_fcntl, 1, kAll,
                   {F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS}, EPERM);
  program.PermitIf(SYS_prctl, 0, kAll,
                   {PR_SET_NAME, PR_GET_NAME, PR_SET_TIMERSLACK, PR_GET_NO_NEW_PRIVS, PR_SET_VMA}, EPERM);
  program.PermitIf(SYS_ioctl, 1, kAll, {TCGETS, FIONREAD}, ENOTTY);
  program.PermitIfNull(SYS_prlimit64, 2);  // reads a limit
#if defined(__x86_64__)
  program.PermitIf(SYS_open, 1, kWrites, {0}, EROFS);
#endif
  return program.Install();
}

}  // namespace tern::server
