#include <cstring>
#include <map>
#include <tuple>

#include "core/file_writer.h"
#include "ir/tern_file.h"
#include "ir/tern_layout.h"
#include "tern_generated.h"

namespace tern {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

class Writer {
 public:
  Offset<fb::Header> Header(const Graph& graph, uint64_t source_hash) {
    const auto root = GraphTable(graph);
    std::vector<Offset<fb::Blob>> blobs;
    for (const Stored& s : blobs_) blobs.push_back(BlobTable(s));
    return fb::CreateHeader(builder, builder.CreateString("tern"), source_hash, root,
                            builder.CreateVector(blobs));
  }

  FlatBufferBuilder builder;
  // The tensors of the data section in order, each aligned to kTernAlign.
  const std::vector<Tensor>& data() const { return data_; }

 private:
  struct Stored {
    Tensor tensor;
    uint64_t checksum = 0, offset = 0;  // unused for strings, which are stored in the header
  };

  Offset<fb::Blob> BlobTable(const Stored& s) {
    const Tensor& t = s.tensor;
    const auto dims = builder.CreateVector(t.dims());
    if (t.dtype() == DType::kString)
      return fb::CreateBlob(builder, static_cast<uint8_t>(t.dtype()), dims, 0, 0, 0,
                            builder.CreateVectorOfStrings(ToStrings(t)));
    return fb::CreateBlob(builder, static_cast<uint8_t>(t.dtype()), dims, s.offset, t.bytes(), s.checksum);
  }

  // Returns the offset of the tensor's bytes in the data section. Equal bytes are written once.
  uint64_t AddBytes(const Tensor& t, uint64_t checksum) {
    const auto [first, last] = placed_.equal_range({checksum, t.bytes()});
    for (auto it = first; it != last; ++it) {
      const Tensor& other = data_[it->second.index];
      if (other.raw() == t.raw() || !t.bytes() || !std::memcmp(other.raw(), t.raw(), t.bytes()))
        return it->second.offset;
    }
    const uint64_t at = offset_;
    placed_.emplace(std::pair(checksum, t.bytes()), Placed{data_.size(), at});
    data_.push_back(t);
    offset_ = AlignTern(offset_ + t.bytes());
    return at;
  }

  // Returns the number of the tensor's blob. Equal tensors have the same blob. If they had two blobs, these
  // would share their bytes, so that the tensors would have the same address after loading. Saving the loaded
  // graph would then write one blob instead of two, and so another file.
  int AddTensor(const Tensor& t) {
    const Tensor packed = t.Contiguous();
    const auto seen = std::tuple(packed.raw(), packed.dtype(), packed.dims());
    if (const auto it = seen_.find(seen); it != seen_.end()) return it->second;
    Stored stored{packed};
    int number = static_cast<int>(blobs_.size());
    if (packed.dtype() != DType::kString) {
      stored.checksum = Checksum(packed.raw(), packed.bytes());
      stored.offset = AddBytes(packed, stored.checksum);
      const auto at = std::tuple(stored.offset, packed.bytes(), packed.dtype(), packed.dims());
      number = placed_as_.emplace(at, number).first->second;
    }
    const bool added = number == static_cast<int>(blobs_.size());
    if (added) blobs_.push_back(std::move(stored));
    if (added || packed.raw() == t.raw())
      seen_.emplace(seen, number);  // a freed copy is not recorded, because its address may be reused
    return number;
  }

  Offset<fb::Attr> AttrTable(const Attrs::Entry& e) {
    std::vector<int64_t> ints;
    std::vector<double> floats;
    std::vector<std::string> texts;
    int blob = -1;
    if (auto* v = std::get_if<bool>(&e.value))
      ints = {*v};
    else if (auto* v = std::get_if<int64_t>(&e.value))
      ints = {*v};
    else if (auto* v = std::get_if<double>(&e.value))
      floats = {*v};
    else if (auto* v = std::get_if<std::string>(&e.value))
      texts = {*v};
    else if (auto* v = std::get_if<DType>(&e.value))
      ints = {static_cast<int64_t>(*v)};
    else if (auto* v = std::get_if<std::vector<int64_t>>(&e.value))
      ints = *v;
    else if (auto* v = std::get_if<std::vector<double>>(&e.value))
      floats = *v;
    else if (auto* v = std::get_if<std::vector<std::string>>(&e.value))
      texts = *v;
    else
      blob = AddTensor(std::get<Tensor>(e.value));
    return fb::CreateAttr(builder, builder.CreateString(e.name), static_cast<uint8_t>(e.value.index()),
                          builder.CreateVector(ints), builder.CreateVector(floats),
                          builder.CreateVectorOfStrings(texts), blob);
  }

  std::vector<int32_t> Numbers(const std::vector<Value*>& values) {
    std::vector<int32_t> out;
    for (const Value* v : values) out.push_back(v ? numbers_.at(v) : -1);
    return out;
  }

  Offset<fb::Node> NodeTable(const Node& node) {
    std::vector<Offset<fb::Graph>> subgraphs;
    for (const auto& sub : node.subgraphs()) subgraphs.push_back(GraphTable(*sub));
    std::vector<Offset<fb::Attr>> attrs;
    for (const auto& entry : node.attrs.List())
      if (!entry.is_default) attrs.push_back(AttrTable(entry));
    return fb::CreateNode(builder, builder.CreateString(node.op->name), builder.CreateString(node.name),
                          builder.CreateString(node.origin), builder.CreateVector(attrs),
                          builder.CreateVector(Numbers(node.inputs())),
                          builder.CreateVector(Numbers(node.outputs())), builder.CreateVector(subgraphs));
  }

  // Returns the values in the order in which the loader creates them, so that the file does not depend on how
  // the graph was built.
  static std::vector<const Value*> InOrder(const Graph& graph) {
    std::vector<const Value*> values;
    for (const auto& v : graph.values())
      if (v->is_constant()) values.push_back(v.get());
    values.insert(values.end(), graph.inputs().begin(), graph.inputs().end());
    for (const auto& node : graph.nodes())
      values.insert(values.end(), node->outputs().begin(), node->outputs().end());
    return values;
  }

  Offset<fb::Graph> GraphTable(const Graph& graph) {
    std::vector<Offset<fb::Value>> values;
    for (const Value* v : InOrder(graph)) {
      numbers_.emplace(v, static_cast<int>(numbers_.size()));
      const int blob = v->is_constant() ? AddTensor(v->constant) : -1;
      values.push_back(fb::CreateValue(builder, builder.CreateString(v->name),
                                       builder.CreateString(v->type.ToString()), blob));
    }
    std::vector<Offset<fb::Node>> nodes;
    for (const auto& node : graph.nodes()) nodes.push_back(NodeTable(*node));
    std::vector<Offset<fb::Pair>> metadata;
    for (const auto& [key, value] : graph.metadata)
      metadata.push_back(fb::CreatePair(builder, builder.CreateString(key), builder.CreateString(value)));
    return fb::CreateGraph(builder, builder.CreateString(graph.name), builder.CreateVector(values),
                           builder.CreateVector(Numbers(graph.inputs())),
                           builder.CreateVector(Numbers(graph.outputs())),
                           builder.CreateVector(Numbers(graph.overridable())), builder.CreateVector(nodes),
                           builder.CreateVector(metadata), States(graph));
  }

  // Writes the states of the graph. Returns 0 if there are none.
  Offset<flatbuffers::Vector<Offset<fb::State>>> States(const Graph& graph) {
    if (graph.states().empty()) return 0;
    std::vector<Offset<fb::State>> states;
    for (const GraphState& state : graph.states())
      states.push_back(fb::CreateState(builder, numbers_.at(state.input), state.output, state.axis));
    return builder.CreateVector(states);
  }

  std::map<const Value*, int> numbers_;
  std::vector<Stored> blobs_;
  std::map<std::tuple<const void*, DType, Dims>, int> seen_;
  std::map<std::tuple<uint64_t, size_t, DType, Dims>, int> placed_as_;
  struct Placed {
    size_t index;  // index in data_
    uint64_t offset;
  };
  std::multimap<std::pair<uint64_t, size_t>, Placed> placed_;  // keyed by checksum and size
  std::vector<Tensor> data_;
  uint64_t offset_ = 0;
};

// Fails if a type is nested deeper than the loader accepts.
Status CheckTypes(const Graph& graph) {
  for (const auto& v : graph.values())
    if (const int depth = v->type.Depth(); depth > kMaxTypeDepth)
      return Unsupported("value '", v->name, "' of graph '", graph.name, "' has a type nested ", depth,
                         " deep; a .tern file supports a depth of at most ", kMaxTypeDepth);
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) TERN_TRY(CheckTypes(*sub));
  return {};
}

// Passes the file's bytes to `sink`, in order.
template <class Sink> void WriteAll(const Graph& graph, uint64_t source_hash, Sink sink) {
  static const char kZeros[kTernAlign] = {};
  Writer writer;
  writer.builder.Finish(writer.Header(graph, source_hash));
  const size_t size = writer.builder.GetSize();
  TernPrefix prefix{};
  std::memcpy(prefix.magic, kTernMagic, sizeof kTernMagic);
  prefix.major = kTernMajor;
  prefix.minor = kTernMinor;
  prefix.header_size = size;
  prefix.header_checksum = Checksum(writer.builder.GetBufferPointer(), size);
  sink(&prefix, sizeof prefix);
  sink(writer.builder.GetBufferPointer(), size);
  sink(kZeros, AlignTern(size) - size);
  for (const Tensor& t : writer.data()) {
    sink(t.raw(), t.bytes());
    sink(kZeros, AlignTern(t.bytes()) - t.bytes());
  }
}

}  // namespace

Result<std::string> SaveTernBytes(const Graph& graph, uint64_t source_hash) {
  return Guard([&]() -> Result<std::string> {
    TERN_TRY(CheckTypes(graph));
    std::string out;
    WriteAll(graph, source_hash,
             [&](const void* data, size_t size) { out.append(static_cast<const char*>(data), size); });
    return out;
  });
}

Status SaveTern(const Graph& graph, const std::string& path, uint64_t source_hash) {
  return Guard([&]() -> Status {
    TERN_TRY(CheckTypes(graph));
    FileWriter out(path);
    WriteAll(graph, source_hash, [&](const void* data, size_t size) { out.Write(data, size); });
    return out.Commit();
  });
}

}  // namespace tern
