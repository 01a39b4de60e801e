// Does what a broken or hostile model would do. The request's INT32 input ACTION selects it, and the INT32
// output RESULT is 0 if the action succeeded, else errno. The input TEXT, BYTES [1], is a path or a number.
#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "plug_in.h"

extern char** environ;

namespace {

enum Action {
  kNothing,
  kSegfault,
  kAbort,
  kExit,
  kHang,    // ignores that nobody waits
  kFail,    // an error of the model
  kSleep,   // for TEXT milliseconds
  kSocket,  // opens an internet socket
  kUnixSocket,
  kExec,  // runs /bin/true
  kFork,
  kWrite,   // creates the file TEXT
  kAppend,  // opens the existing file TEXT for writing
  kRemove,  // the file TEXT
  kRead,    // opens the file TEXT
  kKill,    // sends signal 0 to the process TEXT
  kPtrace,  // the process TEXT
  kThread,  // starts a thread
  kMemory,  // allocates TEXT MiB
  kLog,     // writes TEXT lines to standard error
  kMakeFolder,
  kPrivileges,  // is 0 if the process can gain privileges
  kSpin,        // uses processor time for ever
};

int Result(long value) { return value < 0 ? errno : 0; }

int Opens(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return Result(fd);
}

int OpensSocket(int family) {
  const int fd = socket(family, SOCK_STREAM, 0);
  if (fd >= 0) close(fd);
  return Result(fd);
}

int Executes() {
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, environ);
  if (error == 0) waitpid(pid, nullptr, 0);
  return error;
}

int Forks() {
  const auto pid = static_cast<pid_t>(fork());
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(pid, nullptr, 0);
  return Result(pid);
}

int Allocates(size_t mebibytes) {
  const size_t bytes = mebibytes << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  std::memset(memory, 1, bytes);
  munmap(memory, bytes);
  return 0;
}

int StartsThread() {
  std::thread([] {}).join();
  return 0;
}

[[noreturn]] void Spin() {
  volatile bool go = true;
  while (go) {
  }
  std::abort();
}

int Act(int action, const std::string& text) {
  const long number = std::atol(text.c_str());
  switch (action) {
    case kSegfault:
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer handles the signal and ends the process in another way
      std::raise(SIGSEGV);
      return 0;
    case kAbort:
      std::signal(SIGABRT, SIG_DFL);
      std::abort();
    case kExit:
      _exit(static_cast<int>(number));
    case kHang:
      for (;;) pause();
    case kSleep:
      std::this_thread::sleep_for(std::chrono::milliseconds(number));
      return 0;
    case kSocket:
      return OpensSocket(AF_INET);
    case kUnixSocket:
      return OpensSocket(AF_UNIX);
    case kExec:
      return Executes();
    case kFork:
      return Forks();
    case kWrite:
      return Opens(text, O_WRONLY | O_CREAT);
    case kAppend:
      return Opens(text, O_WRONLY | O_APPEND);
    case kRemove:
      return Result(unlink(text.c_str()));
    case kRead:
      return Opens(text, O_RDONLY);
    case kKill:
      return Result(kill(static_cast<pid_t>(number), 0));
    case kPtrace:
      return Result(ptrace(PTRACE_SEIZE, static_cast<pid_t>(number), nullptr, nullptr));
    case kThread:
      return StartsThread();
    case kMemory:
      return Allocates(static_cast<size_t>(number));
    case kLog:
      for (long i = 0; i < number; ++i) std::fprintf(stderr, "line %ld\n", i);
      return 0;
    case kMakeFolder:
      return Result(mkdir(text.c_str(), 0700));
    case kPrivileges:
      return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
    case kSpin:
      Spin();
    default:
      return 0;
  }
}

void* Load(void*, const TernModelInfo* info, TernError*) {
  Act(std::atoi(plug_in::Parameter(*info, "at_load", "0").c_str()), "");
  return new int(0);
}
void Unload(void* model) { delete static_cast<int*>(model); }
void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

int32_t Describe(void*, const TernModelInfo*, TernDescription* to, TernError*) {
  const int64_t dims[] = {1};
  const TernTensorInfo action{"ACTION", TERN_TYPE_INT32, 1, dims, 0};
  const TernTensorInfo text{"TEXT", TERN_TYPE_BYTES, 1, dims, 1};
  const TernTensorInfo result{"RESULT", TERN_TYPE_INT32, 1, dims, 0};
  plug_in::host->add_input(to, &action);
  plug_in::host->add_input(to, &text);
  plug_in::host->add_output(to, &result);
  return TERN_OK;
}

int32_t Run(void*, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const TernTensor* action = plug_in::Input(*batch, "ACTION");
  const TernTensor* text = plug_in::Input(*batch, "TEXT");
  if (!action) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "ACTION is missing");
  const uint64_t rows = action->bytes / 4;
  std::vector<int32_t> results;
  uint64_t at = 0;
  for (uint64_t row = 0; row < rows; ++row) {
    std::string value;
    uint32_t length = 0;
    if (text && at + 4 <= text->bytes) {
      std::memcpy(&length, static_cast<const char*>(text->data) + at, 4);
      if (length > text->bytes - at - 4) length = static_cast<uint32_t>(text->bytes - at - 4);
      value.assign(static_cast<const char*>(text->data) + at + 4, length);
      at += 4 + length;
    }
    const int what = plug_in::At<int32_t>(*action, row);
    if (what == kFail) return plug_in::Fail(error, TERN_INTERNAL, "the model failed as the request asked");
    results.push_back(Act(what, value));
  }
  std::vector<int64_t> dims(action->dims, action->dims + action->rank);
  plug_in::AddOutput(outputs, "RESULT", TERN_TYPE_INT32, dims, results);
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "misbehave",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .describe = Describe,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }
