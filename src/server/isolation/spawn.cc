#include "server/isolation/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "server/isolation/channel.h"
#include "server/isolation/child.h"

extern char** environ;

namespace tern::server {
namespace {

constexpr int kFirstFree = 16;  // above the descriptors that the process gets

Status Failed(const char* what, int error) {
  return Unavailable("the process of the model cannot be started: ", what, ": ", std::strerror(error));
}

// Returns the same descriptor with a number that file actions do not overwrite.
Result<UniqueFd> Lift(const UniqueFd& fd) {
  UniqueFd lifted(fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFree));
  if (!lifted) return Failed("descriptors", errno);
  return lifted;
}

// Variables that a sandboxed process may see. Others may contain secrets.
bool Harmless(std::string_view name) {
  for (const char* known : {"PATH", "LD_LIBRARY_PATH", "LANG", "TZ", "GLIBC_TUNABLES"})
    if (name == known) return true;
  for (const char* prefix : {"TERN_", "LC_", "OMP_", "MALLOC_", "ASAN_", "UBSAN_", "TSAN_", "LSAN_"})
    if (StartsWith(name, prefix)) return true;
  return false;
}

std::vector<std::string> ChildEnvironment(bool sandbox) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (StartsWith(name, "TERN_SERVE_") || name == "TERN_TOKEN" || name == kChildVariable ||
        (sandbox && !Harmless(name)))
      continue;
    out.emplace_back(text);
  }
  out.push_back(StrCat(kChildVariable, "=1"));
  return out;
}

// The arguments of posix_spawn.
class Plan {
 public:
  Plan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Plan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  // Resets the signal mask and the actions, because the server blocks some signals.
  int Prepare(int socket, int output) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions_, output, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions_, output, 2);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions_, socket, kChildSocket);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions_, kChildSocket + 1);
    return error;
  }
  int Start(pid_t& pid, const std::string& program, std::vector<std::string>& environment) {
    std::vector<char*> variables;
    for (std::string& variable : environment) variables.push_back(variable.data());
    variables.push_back(nullptr);
    std::string name = "tern", command = "serve";
    char* arguments[] = {name.data(), command.data(), nullptr};
    return posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments, variables.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<Spawned> Spawn(const std::string& program, bool sandbox) {
  TERN_ASSIGN(auto sockets, Channel::Pair());
  int pipes[2] = {-1, -1};
  if (pipe2(pipes, O_CLOEXEC) != 0) return Failed("pipe", errno);
  UniqueFd read_end(pipes[0]);
  const UniqueFd write_end(pipes[1]);
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  TERN_ASSIGN(const UniqueFd socket, Lift(sockets.second));
  TERN_ASSIGN(const UniqueFd output, Lift(write_end));
  Plan plan;
  std::vector<std::string> environment = ChildEnvironment(sandbox);
  Spawned out;
  int error = plan.Prepare(socket.get(), output.get());
  if (!error) error = plan.Start(out.pid, program, environment);
  if (error) return Failed(program.c_str(), error);
  out.handle = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, out.pid, 0)));
  out.output = std::move(read_end);
  out.socket = std::move(sockets.first);
  return out;
}

EndOfProcess Reap(pid_t pid, bool wait) {
  int status = 0;
  pid_t got = 0;
  do got = waitpid(pid, &status, wait ? 0 : WNOHANG);
  while (got < 0 && errno == EINTR);
  if (got == 0) return {};
  if (got < 0) return {"exit", "an unknown exit code"};
  if (WIFEXITED(status)) return {"exit", StrCat("exit code ", WEXITSTATUS(status))};
  const char* name = sigabbrev_np(WTERMSIG(status));
  return {"signal", StrCat("signal ", WTERMSIG(status), " (SIG", name ? name : "?", ")")};
}

}  // namespace tern::server
