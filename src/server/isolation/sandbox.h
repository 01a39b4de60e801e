// Restricts the process of an isolated model. The process loads and runs a model that nobody trusts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace tern::server {

// Limits of the process. 0: none.
struct SandboxLimits {
  uint64_t memory_bytes = 0;  // of address space
  uint64_t cpu_secs = 0;      // of processor time; the process then ends and is restarted
  uint64_t open_files = 256;
  uint64_t arena_bytes = uint64_t{8} << 30;  // of one shared memory object
};

// Restricts this process until it ends. With Landlock, it can read only the files below `readable`, the
// system's libraries and the descriptions of the machine. It cannot write or create files, open sockets,
// start programs or processes, send signals to other processes or gain privileges. Fails if the kernel
// permits neither Landlock nor user namespaces, or if another layer fails. Returns the names of the layers,
// for the log. Must be called before the process has other threads.
Result<std::string> EnterSandbox(const SandboxLimits& limits, const std::vector<std::string>& readable);

// The layers. Each applies at least to the calling thread and to the threads that it starts.
Status SetLimits(const SandboxLimits& limits);
// Moves the process to network and user namespaces of its own. Returns false if the system does not permit
// that.
bool LeaveNetwork();
// Returns false if the kernel has no Landlock.
Result<bool> RestrictReads(const std::vector<std::string>& readable);
// Filters system calls with seccomp.
Status FilterSystemCalls();

}  // namespace tern::server
