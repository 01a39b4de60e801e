#include "server/isolation/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "server/isolation/unique_fd.h"

namespace tern::server {
namespace {

// Where libraries and the description of the machine are.
constexpr const char* kSystem[] = {
    "/usr",       "/lib",      "/lib64",       "/opt",          "/etc/ld.so.cache", "/sys",
    "/proc/self", "/dev/null", "/dev/urandom", "/proc/cpuinfo", "/etc/localtime"};

Status Refused(const char* what) {
  return Unsupported("the sandbox cannot be entered: ", what, ": ", std::strerror(errno));
}

Status Limit(__rlimit_resource_t resource, uint64_t value, const char* name) {
  const rlimit limit{value, value};
  rlimit now{};
  if (getrlimit(resource, &now) == 0 && now.rlim_max < value) return {};  // already lower
  return setrlimit(resource, &limit) == 0 ? Status() : Refused(name);
}

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr uint64_t kHandled = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                              LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                              LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                              LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                              LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

// A path that does not exist needs no permission.
Status Permit(int rules, const std::string& path) {
  const UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) return {};
  const bool folder = UniqueFd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)).get() >= 0;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = folder ? kRead : kReadFile;
  rule.parent_fd = place.get();
  if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    return Refused("Landlock");
  return {};
}

}  // namespace

Status SetLimits(const SandboxLimits& limits) {
  TERN_TRY(Limit(RLIMIT_CORE, 0, "limit of core files"));
  // The server copies what the child writes to shared memory, so it has the limit of memory, too.
  const uint64_t shared =
      limits.memory_bytes > 0 ? std::min(limits.arena_bytes, limits.memory_bytes) : limits.arena_bytes;
  TERN_TRY(Limit(RLIMIT_FSIZE, shared, "limit of shared memory"));
  if (limits.open_files > 0) TERN_TRY(Limit(RLIMIT_NOFILE, limits.open_files, "limit of open files"));
  if (limits.cpu_secs > 0) TERN_TRY(Limit(RLIMIT_CPU, limits.cpu_secs, "limit of processor time"));
  if (limits.memory_bytes > 0) TERN_TRY(Limit(RLIMIT_AS, limits.memory_bytes, "limit of memory"));
  std::signal(SIGXFSZ, SIG_IGN);  // the call then fails with EFBIG
  return {};
}

bool LeaveNetwork() { return unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0; }

Result<bool> RestrictReads(const std::vector<std::string>& readable) {
  if (syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) return false;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = kHandled;
  const UniqueFd rules(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!rules) return Refused("Landlock");
  for (const char* path : kSystem) TERN_TRY(Permit(rules.get(), path));
  for (const std::string& path : readable)
    if (!path.empty()) TERN_TRY(Permit(rules.get(), path));
  if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return Refused("Landlock");
  return true;
}

Result<std::string> EnterSandbox(const SandboxLimits& limits, const std::vector<std::string>& readable) {
  TERN_TRY(SetLimits(limits));
  const bool network = LeaveNetwork();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Refused("PR_SET_NO_NEW_PRIVS");
  TERN_ASSIGN(const bool reads, RestrictReads(readable));
  // Without both, the process could read the memory of the server in /proc.
  if (!network && !reads)
    return Unsupported(
        "the sandbox cannot be entered: this system permits neither Landlock nor user namespaces");
  TERN_TRY(FilterSystemCalls());
  std::string layers = "system calls filtered, no new privileges, resource limits";
  if (reads) layers += ", reads limited to the model and the system's libraries";
  if (network) layers += ", own network and user namespaces";
  return layers;
}

}  // namespace tern::server
