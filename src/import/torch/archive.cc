#include "import/torch/archive.h"

#include "base/strings.h"

namespace tern::torch {
namespace {

// Limits the size in bytes of one text, and the unpacked size of all compressed entries together.
constexpr uint64_t kMaxInflated = uint64_t{1} << 32;

// Without this check, a small file could unpack to any size, because entries may share their packed bytes.
Status CheckInflated(const std::vector<data::ZipEntry>& entries) {
  uint64_t total = 0;
  for (const auto& e : entries) {
    if (e.method == 0) continue;
    if (e.size > kMaxInflated - total)
      return Unsupported("the compressed entries of the archive unpack to more than ", kMaxInflated,
                         " bytes; '", e.name.substr(0, 100), "' alone to ", e.size);
    total += e.size;
  }
  return {};
}

// Returns the folder that contains all entries, or "" if there is none. PyTorch names it after the file.
std::string RootOf(const std::vector<data::ZipEntry>& entries) {
  if (entries.empty()) return {};
  const std::string& first = entries.front().name;
  const size_t slash = first.find('/');
  if (slash == std::string::npos) return {};
  const std::string root = first.substr(0, slash + 1);
  for (const auto& e : entries)
    if (!StartsWith(e.name, root)) return {};
  return root;
}

}  // namespace

Result<Archive> Archive::Open(Buffer bytes, bool mapped) {
  Archive a;
  a.bytes_ = std::move(bytes);
  a.mapped_ = mapped;
  const std::string_view text(reinterpret_cast<const char*>(a.bytes_.data()), a.bytes_.size());
  auto entries = data::ListZip(text);
  if (!entries.ok()) return InvalidModel(entries.status().message());
  TERN_TRY(CheckInflated(*entries));
  const std::string root = RootOf(*entries);
  for (auto& e : *entries) a.entries_.emplace(e.name.substr(root.size()), std::move(e));
  if (a.Has("byteorder")) {
    TERN_ASSIGN(const std::string order, a.ReadText("byteorder"));
    a.big_endian_ = StartsWith(order, "big");
  }
  return a;
}

std::vector<std::string> Archive::NamesIn(std::string_view folder) const {
  std::vector<std::string> names;
  for (auto it = entries_.lower_bound(folder); it != entries_.end() && StartsWith(it->first, folder); ++it)
    names.push_back(it->first);
  return names;
}

Result<Buffer> Archive::Read(std::string_view name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return InvalidModel("the archive has no entry '", name, "'");
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  if (it->second.method != 0) {
    auto inflated = data::ReadZipEntry(text, it->second);
    if (!inflated.ok()) return InvalidModel(inflated.status().message());
    auto owner = std::make_shared<std::string>(std::move(*inflated));
    return Buffer::Borrow(owner->data(), owner->size(), owner);
  }
  auto span = data::StoredZipEntry(text, it->second);
  if (!span.ok()) return InvalidModel(span.status().message());
  if (mapped_) return bytes_.Slice(static_cast<size_t>(span->data() - text.data()), span->size());
  auto owner = std::make_shared<std::string>(*span);
  return Buffer::Borrow(owner->data(), owner->size(), owner);
}

Result<std::string> Archive::ReadText(std::string_view name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return InvalidModel("the archive has no entry '", name, "'");
  if (it->second.size > kMaxInflated)
    return Unsupported("entry '", name, "' has ", it->second.size, " bytes");
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  auto out = data::ReadZipEntry(text, it->second);
  if (!out.ok()) return InvalidModel(out.status().message());
  return out;
}

}  // namespace tern::torch
