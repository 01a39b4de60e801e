#include "server/main/serve.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "data/file.h"
#include "server/core/buffer_pool.h"
#include "server/core/log.h"
#include "server/main/private_folder.h"
#include "server/main/repository_hints.h"
#include "server/main/running_server.h"
#include "server/main/signals.h"
#include "server/main/start_lines.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;

// Memory of large tensors is returned to the system if no request has used it for this time.
constexpr std::chrono::seconds kIdleMemory{5};

void Say(const ServeOptions& options, const std::string& text) {
  if (options.quiet) return;
  std::FILE* out = options.observe.access_log == "-" ? stderr : stdout;
  std::fputs(text.c_str(), out);
  std::fflush(out);
}

// Each connection needs a file descriptor. Systems give programs a low limit that they may raise themselves.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The files of the built-in model, which is served if the flags name no model.
struct Builtin {
  std::unique_ptr<PrivateFolder> folder;
  std::string example;  // the path of a file with a request
  std::string picture;  // the path of a PNG
};

Result<Builtin> AddBuiltin(const ServeCommand& command, ServeOptions& options) {
  Builtin builtin;
  if (!options.repository.folders.empty() || !options.repository.models.empty()) return builtin;
  if (command.builtin.empty())
    return InvalidArgument(
        "there is no model to serve; name models with --repository DIR or --model NAME=PATH");
  TERN_ASSIGN(builtin.folder, PrivateFolder::Create());
  for (const BuiltinFile& file : command.builtin) {
    const std::string path = StrCat(builtin.folder->path(), "/", file.name);
    TERN_TRY(data::WriteFile(path, file.bytes));
    if (file.name == command.builtin_example) builtin.example = path;
    if (file.name == command.builtin_picture) builtin.picture = path;
  }
  options.repository.models.push_back(
      {command.builtin_name, StrCat(builtin.folder->path(), "/", command.builtin[0].name)});
  if (options.repository.control == ControlMode::kExplicit) options.repository.load_at_start = {"*"};
  return builtin;
}

// Returns false if a signal arrives before all models are ready.
bool WaitForModels(RunningServer& server, Signals& signals) {
  while (!server.AllReady()) {
    const int signal = signals.Wait(milliseconds(5));
    if (signal == SIGINT || signal == SIGTERM) return false;
  }
  return true;
}

void WaitForEnd(RunningServer& server, Signals& signals) {
  for (;;) {
    const int signal = signals.Wait(std::chrono::seconds(1));
    if (signal == SIGINT || signal == SIGTERM) return;
    if (signal == SIGHUP) server.Reload();
    server.Tick();
    BufferPool::Shared().ReleaseBefore(Clock::now() - kIdleMemory);
  }
}

// Stops the server on another thread, so that a second signal ends the process at once.
int StopServer(std::unique_ptr<RunningServer> server, const ServeOptions& options, Signals& signals,
               Builtin& builtin) {
  std::atomic<bool> done{false};
  bool answered = false;  // whether every accepted request was answered
  const auto begin = Clock::now();
  std::thread stopper([&] {
    answered = server->Stop(options.exit_timeout);
    server.reset();
    done = true;
  });
  const auto last = begin + options.exit_timeout + std::chrono::seconds(5);
  while (!done) {
    const int signal = signals.Wait(milliseconds(5));
    const bool late = Clock::now() > last;
    if (signal != SIGINT && signal != SIGTERM && !late) continue;
    std::fprintf(stderr, late ? "tern: requests or models did not end in time\n" : "tern: second signal\n");
    builtin.folder.reset();
    data::RemovePendingFiles();
    _exit(1);
  }
  stopper.join();
  const bool late = Clock::now() - begin > options.exit_timeout + milliseconds(500);
  if (!answered) std::fprintf(stderr, "tern: requests were not answered in time\n");
  return answered && !late ? 0 : 1;
}

}  // namespace

Result<int> Serve(ServeOptions options, const ServeCommand& command) {
  Signals signals;
  RaiseFileLimit();
  TERN_ASSIGN(Builtin builtin, AddBuiltin(command, options));
  TERN_ASSIGN(std::unique_ptr<RunningServer> server, RunningServer::Start(options));
  for (const std::string& hint : RepositoryHints(options.repository)) Log(LogLevel::kWarning, hint);
  if (WaitForModels(*server, signals)) {
    TERN_TRY(server->StartError());
    server->SetReady();
    Say(options, StartLines(options, *server, {builtin.example, builtin.picture}));
    if (!options.ready_file.empty()) TERN_TRY(data::WriteFile(options.ready_file, ReadyText(*server)));
    WaitForEnd(*server, signals);
  }
  Say(options, "stopping: waiting until accepted requests are answered\n");
  if (!options.ready_file.empty()) unlink(options.ready_file.c_str());
  return StopServer(std::move(server), options, signals, builtin);
}

}  // namespace tern::server
