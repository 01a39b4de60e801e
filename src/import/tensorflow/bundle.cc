#include "import/tensorflow/bundle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/mapped_files.h"
#include "import/tensorflow/crc32c.h"
#include "import/tensorflow/proto_tensor.h"
#include "import/tensorflow/table.h"
#include "import/tensorflow/varint.h"

namespace tern::tensorflow {
namespace {

constexpr const char* kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";
constexpr const char* kSuffix = "/.ATTRIBUTES/VARIABLE_VALUE";
constexpr int kMaxShards = 100000;
constexpr size_t kBlock = size_t{4} << 20;

std::string ShardName(const std::string& prefix, int shard, int shards) {
  char tail[64];
  std::snprintf(tail, sizeof tail, ".data-%05d-of-%05d", shard, shards);
  return prefix + tail;
}

// A tensor of strings is stored as the lengths (varints), a checksum of the lengths, and the bytes of the
// strings.
Result<Tensor> StringsOf(std::string_view bytes, const Dims& dims, const std::string& key) {
  const auto broken = [&] { return InvalidModel("variable '", key, "': the strings are broken"); };
  const auto count = CheckedCount(dims, DType::kString);
  if (!count || static_cast<uint64_t>(*count) > bytes.size()) return broken();
  std::vector<uint64_t> lengths(static_cast<size_t>(*count));
  for (uint64_t& length : lengths)
    if (!TakeVarint(bytes, length)) return broken();
  if (bytes.size() < 4) return broken();
  bytes.remove_prefix(4);
  std::vector<std::string> texts;
  for (const uint64_t length : lengths) {
    if (length > bytes.size()) return broken();
    texts.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) return broken();
  return Tensor::Strings(dims, texts);
}

}  // namespace

Result<std::unique_ptr<Bundle>> Bundle::Open(const std::string& prefix) {
  auto bundle = std::make_unique<Bundle>();
  bundle->prefix_ = prefix;
  TERN_ASSIGN(const Buffer index, Buffer::MapFile(prefix + ".index"));
  TERN_ASSIGN(auto table, ReadTable({reinterpret_cast<const char*>(index.data()), index.size()}));
  for (const auto& [key, value] : table) {
    if (!key.empty()) {
      if (!bundle->entries_[key].ParseFromString(value))
        return InvalidModel("'", prefix, ".index': the entry of '", key, "' is broken");
      continue;
    }
    pb::BundleHeaderProto header;
    if (!header.ParseFromString(value)) return InvalidModel("'", prefix, ".index': the header is broken");
    if (header.endianness() != 0) return Unsupported("'", prefix, ".index': variables in big-endian order");
    if (header.num_shards() < 1 || header.num_shards() > kMaxShards)
      return InvalidModel("'", prefix, ".index': ", header.num_shards(), " shards");
    bundle->shards_ = header.num_shards();
  }
  bundle->files_.resize(static_cast<size_t>(bundle->shards_));
  return bundle;
}

Result<Buffer> Bundle::Bytes(const std::string& key, const pb::BundleEntryProto& entry) {
  if (entry.slices_size() > 0) return Unsupported("variable '", key, "' is stored in slices");
  if (entry.shard_id() < 0 || entry.shard_id() >= shards_)
    return InvalidModel("variable '", key, "' is in shard ", entry.shard_id(), " of ", shards_);
  Buffer& file = files_[static_cast<size_t>(entry.shard_id())];
  if (!file.defined()) {
    TERN_ASSIGN(file, Buffer::MapFile(ShardName(prefix_, entry.shard_id(), shards_)));
  }
  if (entry.offset() < 0 || entry.size() < 0 || static_cast<uint64_t>(entry.offset()) > file.size() ||
      static_cast<uint64_t>(entry.size()) > file.size() - static_cast<uint64_t>(entry.offset()))
    return InvalidModel("variable '", key, "' has ", entry.size(), " bytes at ", entry.offset(),
                        ", but its file has ", file.size(), " bytes");
  return file.Slice(static_cast<size_t>(entry.offset()), static_cast<size_t>(entry.size()));
}

Result<Tensor> Bundle::Read(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return InvalidModel("variable '", key, "' is not in '", prefix_, ".index'");
  const pb::BundleEntryProto& entry = found->second;
  TERN_ASSIGN(const Buffer bytes, Bytes(key, entry));
  TERN_ASSIGN(DType dtype, DTypeOf(entry.dtype()));
  TERN_ASSIGN(Dims dims, DimsOf(entry.shape()));
  if (dtype == DType::kString)
    return StringsOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, dims, key);
  if (IsComplex(dtype)) {
    dims.push_back(2);
    dtype = dtype == DType::kC64 ? DType::kF32 : DType::kF64;
  }
  const auto count = CheckedCount(dims, dtype);
  if (!count || BytesOf(dtype, static_cast<size_t>(*count)) != bytes.size())
    return InvalidModel("variable '", key, "' is ", Describe(dtype, dims), ", but has ", bytes.size(),
                        " bytes");
  // Copies only if the alignment requires it. Pages of the file are released block by block, so that the file
  // and its copy are never in memory together.
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % BytesOf(dtype, 1) == 0;
  Tensor tensor = aligned ? Tensor::View(bytes, dtype, dims) : Tensor(dtype, dims);
  uint32_t crc = 0;
  for (size_t at = 0; at < bytes.size(); at += kBlock) {
    const size_t size = std::min(kBlock, bytes.size() - at);
    crc = Crc32c(bytes.data() + at, size, crc);
    if (!aligned) std::memcpy(tensor.data<std::byte>() + at, bytes.data() + at, size);
    DropMappedPages(bytes.data() + at, size);
  }
  if (MaskCrc(crc) != entry.crc32c())
    return InvalidModel("variable '", key, "': the checksum of its ", bytes.size(), " bytes is wrong");
  return tensor;
}

// The object graph lists the full name and the key of each variable. A broken object graph is ignored: the
// restore function of the model also names the keys.
void Bundle::ReadObjectGraph() {
  object_graph_read_ = true;
  if (!Has(kObjectGraph)) return;
  const auto stored = Read(kObjectGraph);
  pb::TrackableObjectGraph graph;
  if (!stored.ok() || stored->dtype() != DType::kString || stored->size() != 1 ||
      !graph.ParseFromString(ToStrings(*stored)[0]))
    return;
  for (const auto& node : graph.nodes())
    for (const auto& a : node.attributes()) keys_.emplace(a.full_name(), a.checkpoint_key());
}

std::string Bundle::KeyOf(const std::string& variable) {
  if (!object_graph_read_) ReadObjectGraph();
  const auto found = keys_.find(variable);
  if (found != keys_.end() && Has(found->second)) return found->second;
  for (const std::string& key : {variable, variable + kSuffix})
    if (Has(key)) return key;
  return {};
}

}  // namespace tern::tensorflow
