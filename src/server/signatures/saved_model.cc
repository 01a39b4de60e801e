#include "server/signatures/saved_model.h"

#include <algorithm>

#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

constexpr size_t kMostSignatures = 256, kMostTensors = 1024, kMostDims = 64;
constexpr const char* kInitOp = "__saved_model_init_op";  // a signature of the loader, not for clients

Status Damaged() { return InvalidModel("saved_model.pb is not a SavedModel message"); }

// An entry of a map from texts to messages.
struct Entry {
  std::string_view key, value;
};

bool ReadEntry(std::string_view bytes, Entry& entry) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(1, ProtoKind::kBytes)) entry.key = reader.bytes();
    if (reader.Is(2, ProtoKind::kBytes)) entry.value = reader.bytes();
  }
  return reader.ok();
}

bool ReadDim(std::string_view bytes, Dims& dims) {
  int64_t size = 0;
  ProtoReader reader(bytes);
  while (reader.Next())
    if (reader.Is(1, ProtoKind::kVarint)) size = static_cast<int64_t>(reader.value());
  dims.push_back(std::max<int64_t>(size, -1));
  return reader.ok() && dims.size() <= kMostDims;
}

bool ReadShape(std::string_view bytes, SignatureTensor& tensor) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(2, ProtoKind::kBytes) && !ReadDim(reader.bytes(), tensor.dims)) return false;
    if (reader.Is(3, ProtoKind::kVarint)) tensor.ranked = reader.value() == 0;
  }
  return reader.ok();
}

// Reads an entry of the map from keys to TensorInfo.
bool ReadTensor(std::string_view bytes, std::vector<SignatureTensor>& tensors) {
  Entry entry;
  if (tensors.size() >= kMostTensors || !ReadEntry(bytes, entry)) return false;
  SignatureTensor& tensor = tensors.emplace_back();
  tensor.name = entry.key;
  ProtoReader reader(entry.value);
  while (reader.Next()) {
    if (reader.Is(1, ProtoKind::kBytes)) tensor.tensor = reader.bytes();
    if (reader.Is(2, ProtoKind::kVarint)) tensor.type = static_cast<int>(reader.value() & 0xFFFF);
    if (reader.Is(3, ProtoKind::kBytes) && !ReadShape(reader.bytes(), tensor)) return false;
  }
  return reader.ok() && IsUtf8(tensor.name) && IsUtf8(tensor.tensor);
}

bool ReadSignature(std::string_view bytes, Signature& signature) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(1, ProtoKind::kBytes) && !ReadTensor(reader.bytes(), signature.inputs)) return false;
    if (reader.Is(2, ProtoKind::kBytes) && !ReadTensor(reader.bytes(), signature.outputs)) return false;
    if (reader.Is(3, ProtoKind::kBytes)) signature.method = reader.bytes();
  }
  const auto by_name = [](const SignatureTensor& a, const SignatureTensor& b) { return a.name < b.name; };
  std::sort(signature.inputs.begin(), signature.inputs.end(), by_name);
  std::sort(signature.outputs.begin(), signature.outputs.end(), by_name);
  return reader.ok() && IsUtf8(signature.method);
}

struct MetaGraph {
  std::vector<std::string_view> tags, signatures;
};

bool ReadMetaGraph(std::string_view bytes, MetaGraph& graph) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(5, ProtoKind::kBytes)) graph.signatures.push_back(reader.bytes());
    if (graph.signatures.size() > kMostSignatures) return false;
    if (!reader.Is(1, ProtoKind::kBytes)) continue;
    ProtoReader info(reader.bytes());
    while (info.Next())
      if (info.Is(4, ProtoKind::kBytes)) graph.tags.push_back(info.bytes());
    if (!info.ok()) return false;
  }
  return reader.ok();
}

}  // namespace

Result<std::vector<Signature>> ReadSignatures(std::string_view bytes) {
  std::vector<std::string_view> graphs;
  ProtoReader model(bytes);
  while (model.Next())
    if (model.Is(2, ProtoKind::kBytes)) graphs.push_back(model.bytes());
  if (!model.ok() || graphs.size() > kMostSignatures) return Damaged();
  std::vector<Signature> out;
  for (const std::string_view bytes_of_graph : graphs) {
    MetaGraph graph;
    if (!ReadMetaGraph(bytes_of_graph, graph)) return Damaged();
    const bool serve = graph.tags.size() == 1 && graph.tags[0] == "serve";
    if (!serve && graphs.size() > 1) continue;
    for (const std::string_view item : graph.signatures) {
      Entry entry;
      Signature signature;
      if (!ReadEntry(item, entry) || !IsUtf8(entry.key) || !ReadSignature(entry.value, signature))
        return Damaged();
      signature.name = entry.key;
      if (signature.name != kInitOp && !signature.outputs.empty()) out.push_back(std::move(signature));
    }
    break;
  }
  std::sort(out.begin(), out.end(), [](const Signature& a, const Signature& b) { return a.name < b.name; });
  return out;
}

}  // namespace tern::server
