#include "data/npz.h"

#include "data/file.h"
#include "data/npy.h"
#include "data/zip.h"

namespace tern::data {

Result<NamedTensors> ParseNpz(std::string_view bytes) {
  TERN_ASSIGN(const std::vector<ZipEntry> entries, ListZip(bytes));
  NamedTensors out;
  for (const ZipEntry& e : entries) {
    TERN_ASSIGN(const std::string npy, ReadZipEntry(bytes, e));
    auto tensor = ParseNpy(npy);
    if (!tensor.ok()) return tensor.TakeStatus().While(StrCat("reading entry '", e.name, "'"));
    const std::string_view name = e.name;
    out.emplace_back(EndsWith(name, ".npy") ? name.substr(0, name.size() - 4) : name, std::move(*tensor));
  }
  return out;
}

Result<NamedTensors> ReadNpz(const std::string& path) {
  TERN_ASSIGN(Buffer file, Buffer::MapFile(path));
  auto tensors = ParseNpz({reinterpret_cast<const char*>(file.data()), file.size()});
  if (!tensors.ok()) return tensors.TakeStatus().While(StrCat("reading '", path, "'"));
  return tensors;
}

Result<std::string> FormatNpz(const NamedTensors& tensors, bool compress) {
  ZipWriter zip(compress);
  for (const auto& [name, tensor] : tensors) {
    TERN_ASSIGN(const std::string npy, FormatNpy(tensor));
    TERN_TRY(zip.Add(name + ".npy", npy));
  }
  return zip.Finish();
}

Status WriteNpz(const std::string& path, const NamedTensors& tensors, bool compress) {
  TERN_ASSIGN(const std::string bytes, FormatNpz(tensors, compress));
  return WriteFile(path, bytes);
}

}  // namespace tern::data
