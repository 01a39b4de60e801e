// The zip archives that PyTorch writes: .pt2 and TorchScript files.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "data/zip.h"

namespace tern::torch {

class Archive {
 public:
  // `bytes` may be a mapped file. If `mapped` is true, `bytes` keeps its memory valid as long as the graph
  // needs it, and Read does not copy entries that are stored without compression. Fails if all compressed
  // entries together unpack to more than 4 GiB.
  static Result<Archive> Open(Buffer bytes, bool mapped);

  // Names are without the folder that contains all entries: "models/model.json".
  bool Has(std::string_view name) const { return entries_.count(name) > 0; }
  std::vector<std::string> NamesIn(std::string_view folder) const;  // full names, "data/weights/weight_0"
  // Returns the bytes of an entry. If the entry is stored without compression and the archive is mapped, the
  // result shares the archive's memory. Otherwise the result is a copy.
  Result<Buffer> Read(std::string_view name) const;
  Result<std::string> ReadText(std::string_view name) const;
  bool big_endian() const { return big_endian_; }
  size_t size() const { return bytes_.size(); }  // of the file

 private:
  Buffer bytes_;
  bool mapped_ = false, big_endian_ = false;
  std::map<std::string, data::ZipEntry, std::less<>> entries_;
};

}  // namespace tern::torch
