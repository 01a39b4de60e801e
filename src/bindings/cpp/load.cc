#include "bindings/cpp/load.h"

#include <dlfcn.h>

#include "ir/tern_file.h"
#include "ops/ops.h"

namespace tern {
namespace {

constexpr const char* kLibrary = "libtern_onnx.so";

// The folder that this library lies in, with a slash; empty when it has none of its own.
std::string OwnFolder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Result<OnnxImport> FindOnnxImport() {
  void* library = dlopen((OwnFolder() + kLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Unsupported("this is no .tern model, and ", kLibrary,
                       ", which reads ONNX models, is not installed beside Tern: ", dlerror());
  if (void* symbol = dlsym(library, kOnnxImportSymbol)) return reinterpret_cast<OnnxImport>(symbol);
  return Status(Code::kInternal, StrCat(kLibrary, " belongs to another version of Tern"));
}

Result<std::unique_ptr<Graph>> ImportOnnx(const char* path, const void* data, size_t size, int threads,
                                          std::vector<std::string>& warnings) {
  static const auto* import = new Result<OnnxImport>(FindOnnxImport());
  if (!import->ok()) return import->status();
  Result<std::unique_ptr<Graph>> result = Status(Code::kInternal, "the importer gave no result");
  (**import)(path, data, size, threads, &warnings, &result);
  return result;
}

}  // namespace

Result<std::unique_ptr<Graph>> LoadModelFile(const std::string& path, int threads,
                                             std::vector<std::string>& warnings) {
  InitOps();
  TERN_ASSIGN(const Buffer file, Buffer::MapFile(path));
  return LooksLikeTern(file.data(), file.size()) ? LoadTern(path)
                                                 : ImportOnnx(path.c_str(), nullptr, 0, threads, warnings);
}

Result<std::unique_ptr<Graph>> LoadModelBytes(const void* data, size_t size, int threads,
                                              std::vector<std::string>& warnings) {
  InitOps();
  if (!LooksLikeTern(data, size)) return ImportOnnx(nullptr, data, size, threads, warnings);
  return LoadTernBytes(Buffer::Borrow(const_cast<void*>(data), size, nullptr));
}

}  // namespace tern
