#include <dlfcn.h>

#include <filesystem>

#include "server/backend/adapter.h"
#include "server/backend/backends.h"
#include "server/backend/engine.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

// Names are parts of file names, so only letters, digits, '_' and '-' are safe.
bool SafeName(const std::string& name) {
  if (name.empty() || name.size() > 64) return false;
  for (const char c : name)
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-')) return false;
  return true;
}

std::vector<fs::path> Folders(const std::string& configured) {
  if (!configured.empty()) return {configured};
  std::vector<fs::path> out;
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    out.push_back(program.parent_path());
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&EngineBackend), &here) && here.dli_fname)
    out.push_back(fs::path(here.dli_fname).parent_path());
  return out;
}

Result<const TernBackend*> Open(const fs::path& path, const std::string& name) {
  // The library is never closed, because its threads and memory may outlive its models.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    Host().log(2, dlerror());
    return Unavailable("back end '", name, "' cannot be opened; the log says why");
  }
  const auto entry = reinterpret_cast<const TernBackend* (*)()>(dlsym(library, "tern_backend_1"));
  if (!entry) return Unsupported("back end '", name, "' has no function tern_backend_1");
  return entry();
}

class Backends : public BackendSource {
 public:
  explicit Backends(std::string folder) : folder_(std::move(folder)) {}

  Result<std::shared_ptr<Backend>> Find(const std::string& name) override {
    const std::string key = IsBuiltIn(name) ? "tern" : name;
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Backend>& known = known_[key];
    if (!known) {
      TERN_ASSIGN(const TernBackend* api, key == "tern" ? EngineBackend() : FindPlugIn(key));
      TERN_ASSIGN(std::shared_ptr<LoadedBackend> loaded, LoadedBackend::Initialise(api));
      known = AdaptBackend(std::move(loaded));
    }
    return known;
  }

 private:
  Result<const TernBackend*> FindPlugIn(const std::string& name) const {
    if (!SafeName(name))
      return InvalidArgument("back end name '", name, "' must have 1 to 64 letters, digits, '_' and '-'");
    if (const std::string path = PlugInFile(folder_, name); !path.empty()) return Open(path, name);
    return NotFound("there is no back end '", name, "': libtern_backend_", name,
                    ".so is not in the folder of back ends");
  }

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Backend>> known_;
};

}  // namespace

bool IsBuiltIn(const std::string& backend) {
  for (const char* name : {"", "tern", "onnxruntime", "tensorflow", "pytorch", "openvino"})
    if (backend == name) return true;
  return false;
}

std::string PlugInFile(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const fs::path& place : Folders(folder)) {
    const fs::path path = place / StrCat("libtern_backend_", name, ".so");
    if (SafeName(name) && fs::exists(path, error)) return path;
  }
  return {};
}

std::unique_ptr<BackendSource> FindBackends(std::string folder) {
  return std::make_unique<Backends>(std::move(folder));
}

}  // namespace tern::server
