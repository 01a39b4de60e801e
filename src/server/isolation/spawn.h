// Starts and ends the process of an isolated model.
#pragma once
#include <sys/types.h>

#include <string>

#include "base/status.h"
#include "server/isolation/unique_fd.h"

namespace tern::server {

struct Spawned {
  pid_t pid = -1;
  UniqueFd handle;  // a pidfd, which becomes readable when the process ends; none on kernels before 5.3
  UniqueFd output;  // what the process writes to standard output and standard error; not blocking
  UniqueFd socket;  // to the process; see Channel
};

// Starts `program` with posix_spawn and not with fork, because the server has threads. The process gets only
// its socket, a pipe for its output, and no other descriptor. If `sandbox` is true, it gets only harmless
// environment variables.
// The process ends when the calling thread ends.
Result<Spawned> Spawn(const std::string& program, bool sandbox);

// How a process ended.
struct EndOfProcess {
  std::string
      reason;        // for the metric: "signal", "exit", or what the server found before it ended the process
  std::string text;  // "signal 11 (SIGSEGV)", "exit code 1"
};
// Returns the end of a process. If it still runs, waits if `wait` is true, else returns an empty reason.
EndOfProcess Reap(pid_t pid, bool wait);

}  // namespace tern::server
