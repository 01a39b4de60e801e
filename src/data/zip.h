// Reads and writes zip archives, with stored and deflated entries. Sizes over 4 GB can be read, but not
// written.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

struct ZipEntry {
  std::string name;
  int method = 0;  // 0 means stored, 8 means deflated
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, offset = 0;
};

// Lists the entries. Fails if the directory is missing or broken, if a size or an offset is impossible in
// this file, if entries overlap, if an entry is encrypted, or if its method is neither 0 nor 8.
Result<std::vector<ZipEntry>> ListZip(std::string_view file);
// Returns the bytes of a stored entry in `file`, without a copy. Does not check their CRC. Fails if the entry
// is compressed.
Result<std::string_view> StoredZipEntry(std::string_view file, const ZipEntry& entry);
// Returns the unpacked bytes of the entry. Fails if their CRC is wrong.
Result<std::string> ReadZipEntry(std::string_view file, const ZipEntry& entry);

class ZipWriter {
 public:
  explicit ZipWriter(bool compress) : compress_(compress) {}
  Status Add(const std::string& name, std::string_view bytes);
  std::string Finish();

 private:
  bool compress_;
  std::string body_, directory_;
  int count_ = 0;
};

}  // namespace tern::data
