// Opens importer libraries, each once.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include "load/importer.h"
#include "load/library.h"
#include "load/load.h"

namespace tern::load {
namespace {

// Returns the absolute path of the file that is mapped at an address, or an empty string. The path comes from
// the system, so it contains no symbolic links and does not depend on the current folder or on argv[0].
std::string MappedFile(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &path) == 2 && path > 0 &&
        at >= begin && at < end)
      return line.substr(static_cast<size_t>(path));
  }
  return {};
}

// As MappedFile, but asks the dynamic linker, for systems without /proc. Returns an empty string if the
// address is in the program itself, or in a library that was opened by a relative path.
std::string LinkedFile(const void* address) {
  Dl_info info{};
  void* map = nullptr;
  if (!dladdr1(address, &info, &map, RTLD_DL_LINKMAP) || !map) return {};
  const char* name = static_cast<const link_map*>(map)->l_name;
  if (!name || name[0] != '/') return {};
  const std::unique_ptr<char, void (*)(void*)> real(realpath(name, nullptr), std::free);
  return real ? real.get() : "";
}

// Returns the absolute folder of the library or program that contains this code, without symbolic links and
// with a final slash. Returns an empty string if the folder is unknown.
std::string OwnFolder() {
  const auto* self = reinterpret_cast<const void*>(&OwnFolder);
  std::string path = MappedFile(self);
  if (path.empty() || path[0] != '/') path = LinkedFile(self);
  return path.substr(0, path.rfind('/') + 1);
}

std::string LastError() {
  const char* text = dlerror();
  return text ? text : "no reason given";
}

// Returns why the library must not be used, or an empty string. `importer` is null if the library has no
// entry point.
std::string WhyRefused(const Importer* importer) {
  if (!importer)
    return StrCat("has no entry point ", kImporterEntry,
                  ": it does not belong to this version of Tern, " TERN_VERSION);
  if (std::string_view(importer->version) != TERN_VERSION)
    return StrCat("belongs to Tern ", importer->version, ", but this is " TERN_VERSION);
  if (std::string_view(importer->build) != TERN_BUILD)
    return StrCat("and libtern belong to different builds of Tern " TERN_VERSION " (interfaces ",
                  importer->build, " and " TERN_BUILD "): install both from the same build");
  return {};
}

}  // namespace

// If the library is in libtern's folder but cannot be loaded, OpenBeside fails. It does not search elsewhere,
// because another library of the same name would hide the problem. The path is never relative to the current
// folder, because that folder may contain any file.
Result<void*> OpenBeside(const std::string& file, const std::string& purpose) {
  const std::string folder = OwnFolder();
  const std::string beside = folder + file;
  if (!folder.empty() && access(beside.c_str(), F_OK) == 0) {
    if (void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    return Unsupported("'", beside, "', which ", purpose, ", cannot be loaded: ", LastError());
  }
  if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string place =
      folder.empty() ? "beside Tern, whose folder is unknown," : StrCat("in '", folder, "', beside Tern,");
  return Unsupported(file, ", which ", purpose, ", is missing: it is neither ", place,
                     " nor on the library path (", LastError(), ")");
}

namespace {

Result<const Importer*> OpenImporter(const Format& format) {
  const std::string file = StrCat("libtern_", format.library, ".so");
  TERN_ASSIGN(void* library, OpenBeside(file, StrCat("reads ", format.name, " models")));
  const auto entry = reinterpret_cast<ImporterEntry>(dlsym(library, kImporterEntry));
  const std::string why = WhyRefused(entry ? entry() : nullptr);
  if (why.empty()) return entry();
  Dl_info info{};
  const bool known = entry && dladdr(reinterpret_cast<const void*>(entry), &info) && info.dli_fname;
  const std::string path = known ? info.dli_fname : file;
  dlclose(library);
  return Unsupported("'", path, "' ", why);
}

// Returns the importer of a format's library. Opens the library if necessary, and never closes it.
Result<const Importer*> ImporterOf(const Format& format) {
  static std::mutex mutex;
  static auto* importers = new std::map<std::string, const Importer*>();  // by library name
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto known = importers->find(format.library); known != importers->end()) return known->second;
  TERN_ASSIGN(const Importer* importer, OpenImporter(format));
  (*importers)[format.library] = importer;
  return importer;
}

}  // namespace

Result<ReadFunction> ReaderOf(const Format& format) {
  if (format.read) return format.read;
  TERN_ASSIGN(const Importer* importer, ImporterOf(format));
  return importer->read;
}

Result<std::vector<Operator>> OperatorsOf(const Format& format) {
  if (format.library.empty()) return NotFound("the format ", format.name, " has no operators of its own");
  TERN_ASSIGN(const Importer* importer, ImporterOf(format));
  if (!importer->operators) return NotFound("the format ", format.name, " has no operators of its own");
  return Guard([&]() -> Result<std::vector<Operator>> { return importer->operators(); });
}

}  // namespace tern::load
