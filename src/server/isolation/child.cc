#include "server/isolation/child.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "model_config.pb.h"
#include "server/backend/backends.h"
#include "server/isolation/child_model.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

// The server ends this process by closing its socket. A terminal or a service manager may send signals to all
// processes of the server. They must not end this process earlier, because accepted requests are still
// answered.
void PrepareProcess() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the machine has no memory left, the system should end this process and not the server.
  std::ofstream("/proc/self/oom_score_adj") << "500";
}

// Returns the paths that the process may read: the model, and the program with its libraries.
std::vector<std::string> Readable(const StartMessage& start) {
  std::vector<std::string> paths = {start.files.folder, start.files.file, start.backend_folder};
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    paths.push_back(program.parent_path());
    paths.push_back(program.parent_path().parent_path() / "lib");
    paths.push_back(program.parent_path().parent_path() / "backends");
  }
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&RunChild), &here) && here.dli_fname)
    paths.push_back(std::filesystem::path(here.dli_fname).parent_path());
  if (const char* libraries = std::getenv("LD_LIBRARY_PATH"))
    for (const std::string& folder : SplitText(libraries, ':')) paths.push_back(folder);
  return paths;
}

Result<ModelConfig> ConfigOf(const StartMessage& start) {
  ConfigMessage message;
  if (!message.ParseFromString(start.config))
    return Status(Code::kInternal, "the configuration of the model cannot be read");
  TERN_ASSIGN(ModelConfig config, ConvertConfig(message, ""));
  config.inputs = start.inputs;
  config.outputs = start.outputs;
  config.max_batch_size = start.max_batch_size;
  config.parameters = start.parameters;
  if (!start.batch_tensors) {
    config.batch_inputs.clear();
    config.batch_outputs.clear();
  }
  return config;
}

LoadedMessage Describe(const BackendModel& model, const ModelConfig& config) {
  LoadedMessage out;
  out.inputs = config.inputs;
  out.outputs = config.outputs;
  out.max_batch_size = config.max_batch_size;
  out.batching = config.batching.has_value();
  out.decoupled = config.decoupled;
  out.parallel = model.Parallel();
  out.runs_calls = model.RunsCalls();
  out.keeps_sequences = model.KeepsSequences();
  out.memory = model.MemoryBytes();
  return out;
}

struct Loaded {
  std::unique_ptr<BackendModel> model;
  ModelConfig config;
  LoadedMessage message;
};

Result<Loaded> Load(const StartMessage& start, bool own_process) {
  std::string layers;
  if (start.sandbox) {
    if (!own_process) return Unsupported("a sandbox needs a process of its own");
    TERN_ASSIGN(layers, EnterSandbox(start.limits, Readable(start)));
  }
  Loaded out;
  TERN_ASSIGN(out.config, ConfigOf(start));
  // The source of back ends is not destroyed, because plug-ins stay open until the process ends.
  static BackendSource& backends = *FindBackends(start.backend_folder).release();
  TERN_ASSIGN(const std::shared_ptr<Backend> backend, backends.Find(start.backend));
  TERN_ASSIGN(out.model, backend->Load(start.files, out.config));
  TERN_TRY(out.model->Complete(out.config));
  out.message = Describe(*out.model, out.config);
  out.message.sandbox = layers;
  return out;
}

}  // namespace

int ServeModel(Channel& server, bool own_process) {
  auto first = server.Receive();
  StartMessage start;
  if (!first.ok() || first->type != MessageType::kStart || !Parse(first->payload, start).ok()) return 1;
  // The server may have ended before PrepareProcess asked for a signal at its end.
  if (own_process && getppid() != static_cast<pid_t>(start.server)) return 1;
  auto loaded = Guard([&] { return Load(start, own_process); });
  if (!loaded.ok()) {
    (void)server.Send(MessageType::kLoaded, 0, Encode(loaded.status(), LoadedMessage())).ok();
    return 1;
  }
  ChildModel model(server, std::move(loaded->model), std::move(loaded->config));
  if (!server.Send(MessageType::kLoaded, 0, Encode(Status(), loaded->message)).ok()) return 1;
  const Status status = model.Serve();
  if (status.code() == Code::kUnavailable) return 0;  // the server closed its socket
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

int RunChild() {
  PrepareProcess();
  Channel server{UniqueFd(kChildSocket)};
  const int code = ServeModel(server, true);
  // Threads of plug-ins may still run, so the destructors of static objects are not safe.
  std::fflush(stderr);
  _exit(code);
}

}  // namespace tern::server
