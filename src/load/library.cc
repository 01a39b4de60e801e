// Opens each importer library once.
#include <dlfcn.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "load/importer.h"
#include "load/load.h"

namespace tern::load {
namespace {

// Returns the folder of the library or program that contains this code, with a final slash. Empty if it is
// unknown.
std::string OwnFolder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string LastError() {
  const char* text = dlerror();
  return text ? text : "no reason given";
}

// Opens the library in the folder of libtern, else on the library path. Fails if the library is in libtern's
// folder but cannot be loaded, because a library of the same name elsewhere would hide the problem.
Result<void*> Open(const Format& format, const std::string& file) {
  const std::string folder = OwnFolder();
  const std::string beside = folder + file;
  if (void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string reason = LastError();
  if (!folder.empty() && access(beside.c_str(), F_OK) == 0)
    return Unsupported("'", beside, "', which reads ", format.name, " models, cannot be loaded: ", reason);
  if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return Unsupported(file, ", which reads ", format.name, " models, is missing: it is neither in '", folder,
                     "', beside Tern, nor on the library path (", LastError(), ")");
}

Result<ReadFunction> OpenReader(const Format& format) {
  const std::string file = StrCat("libtern_", format.library, ".so");
  TERN_ASSIGN(void* library, Open(format, file));
  const auto entry = reinterpret_cast<ImporterEntry>(dlsym(library, kImporterEntry));
  const std::string version = entry ? entry()->version : "";
  if (version == TERN_VERSION) return entry()->read;
  Dl_info info{};
  const bool known = entry && dladdr(reinterpret_cast<const void*>(entry), &info) && info.dli_fname;
  const std::string path = known ? info.dli_fname : file;
  dlclose(library);
  if (entry) return Unsupported("'", path, "' belongs to Tern ", version, ", but this is " TERN_VERSION);
  return Unsupported("'", path, "' has no entry point ", kImporterEntry,
                     ": it belongs to another version of Tern than " TERN_VERSION);
}

}  // namespace

Result<ReadFunction> ReaderOf(const Format& format) {
  if (format.read) return format.read;
  static std::mutex mutex;
  static auto* readers = new std::map<std::string, ReadFunction>();  // by library; never closed
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto known = readers->find(format.library); known != readers->end()) return known->second;
  TERN_ASSIGN(const ReadFunction read, OpenReader(format));
  (*readers)[format.library] = read;
  return read;
}

}  // namespace tern::load
