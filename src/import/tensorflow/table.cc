#include "import/tensorflow/table.h"

#include <cstring>
#include <utility>
#include <vector>

#include "import/tensorflow/crc32c.h"
#include "import/tensorflow/snappy.h"
#include "import/tensorflow/varint.h"

namespace tern::tensorflow {
namespace {

constexpr size_t kFooter = 48, kTrailer = 5;  // a block's trailer is its compression and its checksum
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kMaxBlock = size_t{256} << 20, kMaxTable = size_t{256} << 20;

using Entries = std::vector<std::pair<std::string, std::string>>;

uint32_t Load32(const char* p) {
  uint32_t v = 0;
  std::memcpy(&v, p, 4);
  return v;
}

Status Broken(std::string_view what) { return InvalidModel("the table of variables is broken: ", what); }

struct Handle {
  uint64_t offset = 0, size = 0;
};

bool TakeHandle(std::string_view& bytes, Handle& handle) {
  return TakeVarint(bytes, handle.offset) && TakeVarint(bytes, handle.size);
}

Result<std::string> ReadBlock(std::string_view file, const Handle& handle) {
  if (handle.offset > file.size() || handle.size > file.size() - handle.offset ||
      file.size() - handle.offset - handle.size < kTrailer)
    return Broken(StrCat("a block of ", handle.size, " bytes at ", handle.offset, " is beyond its end"));
  const std::string_view block = file.substr(handle.offset, handle.size);
  const char* trailer = block.data() + block.size();
  if (Load32(trailer + 1) != MaskCrc(Crc32c(block.data(), block.size() + 1)))
    return Broken(StrCat("the checksum of the block at ", handle.offset, " is wrong"));
  if (*trailer == 0) return std::string(block);
  if (*trailer == 1) return Unsnappy(block, kMaxBlock);
  return Broken(StrCat("compression ", static_cast<int>(*trailer), " is unknown"));
}

// A block holds entries, then the offsets of restart points and their number. An entry shares the first bytes
// of its key with the key before. `total` is the memory of all keys so far, in bytes.
Result<Entries> EntriesOf(const std::string& block, size_t& total) {
  if (block.size() < 4) return Broken("a block is too short");
  const size_t restarts = Load32(block.data() + block.size() - 4);
  if (restarts > (block.size() - 4) / 4) return Broken("a block has too many restart points");
  std::string_view rest = std::string_view(block).substr(0, block.size() - 4 - 4 * restarts);
  Entries entries;
  std::string key;
  while (!rest.empty()) {
    uint64_t shared = 0, fresh = 0, size = 0;
    if (!TakeVarint(rest, shared) || !TakeVarint(rest, fresh) || !TakeVarint(rest, size) ||
        shared > key.size() || fresh > rest.size() || size > rest.size() - fresh)
      return Broken("an entry is cut short");
    key.resize(shared);
    key += rest.substr(0, fresh);
    total += key.size() + sizeof(Entries::value_type);
    if (total > kMaxTable) return Broken("its keys are too many or too large");
    entries.emplace_back(key, std::string(rest.substr(fresh, size)));
    rest.remove_prefix(fresh + size);
  }
  return entries;
}

}  // namespace

Result<std::map<std::string, std::string>> ReadTable(std::string_view file) {
  if (file.size() < kFooter) return Broken(StrCat("it has ", file.size(), " bytes"));
  std::string_view footer = file.substr(file.size() - kFooter);
  uint64_t magic = 0;
  std::memcpy(&magic, footer.data() + kFooter - 8, 8);
  if (magic != kMagic) return Broken("it does not end like a LevelDB table");
  Handle meta, index;
  if (!TakeHandle(footer, meta) || !TakeHandle(footer, index)) return Broken("its footer is broken");
  TERN_ASSIGN(const std::string index_block, ReadBlock(file, index));
  size_t keys = 0;
  TERN_ASSIGN(const Entries blocks, EntriesOf(index_block, keys));
  std::map<std::string, std::string> table;
  size_t total = 0;
  for (const auto& [last_key, value] : blocks) {
    std::string_view text = value;
    Handle handle;
    if (!TakeHandle(text, handle)) return Broken("its index is broken");
    TERN_ASSIGN(const std::string block, ReadBlock(file, handle));
    total += block.size();
    if (total > kMaxTable) return Broken("its blocks are too large");
    TERN_ASSIGN(Entries entries, EntriesOf(block, keys));
    for (auto& [key, entry] : entries) table[std::move(key)] = std::move(entry);
  }
  return table;
}

}  // namespace tern::tensorflow
