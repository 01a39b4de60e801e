#include <cstring>
#include <map>

#include "base/selection.h"
#include "ir/derived.h"
#include "ir/tern_file.h"
#include "ir/tern_layout.h"
#include "ir/verify.h"
#include "tern_generated.h"

namespace tern {
namespace {

constexpr int kMaxNesting = 200;

template <class T> std::string TextOf(const T* s) { return s ? s->str() : std::string(); }

// Copies the elements with memcpy. They may be unaligned, because the FlatBuffers verifier does not check
// the alignment of 8-byte elements.
template <class T> std::vector<T> ListOf(const flatbuffers::Vector<T>* list) {
  std::vector<T> out(list ? list->size() : 0);
  if (!out.empty()) std::memcpy(out.data(), list->Data(), out.size() * sizeof(T));
  return out;
}

class Reader {
 public:
  Reader(const fb::Header& header, Buffer data) : header_(header), data_(std::move(data)) {}

  Status ReadBlobs(const LoadOptions& options) {
    const bool verify = data_.size() <= options.verify_up_to;
    if (!header_.blobs()) return {};
    for (const fb::Blob* blob : *header_.blobs()) {
      TERN_ASSIGN(Tensor t, ReadBlob(*blob, static_cast<int>(blobs_.size()), verify));
      blobs_.push_back(std::move(t));
    }
    return {};
  }

  Status ReadGraph(const fb::Graph& from, Graph& to, int depth) {
    if (depth > kMaxNesting) return InvalidModel("graphs nest deeper than ", kMaxNesting);
    const size_t first = values_.size();
    const size_t count = from.values() ? from.values()->size() : 0;
    values_.resize(first + count, nullptr);
    infos_.resize(first + count, nullptr);
    for (size_t i = 0; i < count; ++i) infos_[first + i] = from.values()->Get(static_cast<unsigned>(i));
    for (size_t i = first; i < first + count; ++i) {
      if (infos_[i]->blob() < 0) continue;
      TERN_ASSIGN(Tensor t, BlobAt(infos_[i]->blob()));
      values_[i] = to.AddConstant(std::move(t), TextOf(infos_[i]->name()));
      if (depth == 0)
        constants_.emplace_back(values_[i],
                                header_.blobs()->Get(static_cast<unsigned>(infos_[i]->blob()))->checksum());
    }
    TERN_TRY(ReadInputs(from, to, first, first + count));
    if (from.nodes())
      for (const fb::Node* node : *from.nodes()) TERN_TRY(ReadNode(*node, to, first, first + count, depth));
    TERN_ASSIGN(auto outputs, Values(from.outputs(), "graph output", false));
    to.SetOutputs(std::move(outputs));
    TERN_ASSIGN(auto overridable, Values(from.overridable(), "overridable constant", false));
    for (Value* v : overridable) {
      if (!v->is_constant() || v->graph != &to)
        return InvalidModel("value '", v->name, "' is marked overridable but is not a constant of its graph");
      to.MarkOverridable(v);
    }
    TERN_TRY(ReadStates(from, to));
    if (from.metadata())
      for (const fb::Pair* p : *from.metadata())
        to.metadata.emplace_back(TextOf(p->key()), TextOf(p->value()));
    return {};
  }

  // Clears the name of each derived constant whose source constants have changed, for example in an edited
  // file. A derived constant without a name is not used.
  void ForgetStale() {
    std::map<std::string, std::vector<uint64_t>> checksums;
    for (const auto& [value, checksum] : constants_) checksums[value->name].push_back(checksum);
    for (const auto& [value, own] : constants_) {
      const auto name = value->unused() ? ParseDerivedName(value->name) : std::nullopt;
      if (!name) continue;
      for (const auto& [source, checksum] : name->made_from) {
        const auto it = checksums.find(source);
        if (it == checksums.end() || it->second != std::vector{checksum}) value->name.clear();
      }
    }
  }

 private:
  // Checks only that the input of each state exists. VerifyGraph checks the other properties of a state.
  Status ReadStates(const fb::Graph& from, Graph& to) {
    if (!from.states()) return {};
    for (const fb::State* state : *from.states()) {
      const int32_t i = state->input();
      if (i < 0 || static_cast<size_t>(i) >= values_.size() || !values_[static_cast<size_t>(i)])
        return InvalidModel("a state's input is value number ", i, ", which does not exist");
      to.AddState({values_[static_cast<size_t>(i)], state->output(), state->axis()});
    }
    return {};
  }

  Result<Tensor> ReadBlob(const fb::Blob& blob, int number, bool verify) {
    const auto dtype = static_cast<DType>(blob.dtype());
    Dims dims = ListOf(blob.dims());
    if (blob.dtype() == 0 || dtype >= DType::kCount)
      return InvalidModel("blob ", number, " has unknown element type ", static_cast<int>(blob.dtype()));
    const auto n = CheckedCount(dims, dtype);
    if (!n) return InvalidModel("blob ", number, " has impossible dims [", Join(dims, ","), "]");
    if (dtype == DType::kString) return ReadStrings(blob, dims, *n, number);
    if (BytesOf(dtype, static_cast<size_t>(*n)) != blob.size())
      return InvalidModel("blob ", number, " ", Describe(dtype, dims), " needs ",
                          BytesOf(dtype, static_cast<size_t>(*n)), " bytes, but has ", blob.size());
    if (blob.offset() > data_.size() || blob.size() > data_.size() - blob.offset() ||
        blob.offset() % kTernAlign)
      return InvalidModel("blob ", number, " (offset ", blob.offset(), ", size ", blob.size(),
                          ") is not aligned or not inside the data section of ", data_.size(),
                          " bytes: truncated file?");
    Buffer bytes = data_.Slice(blob.offset(), blob.size());
    if (verify && Checksum(bytes.data(), bytes.size()) != blob.checksum())
      return InvalidModel("blob ", number, " ", Describe(dtype, dims), " at byte ", blob.offset(),
                          " of the data is damaged: its checksum does not match");
    return Tensor::View(std::move(bytes), dtype, std::move(dims));
  }

  static Result<Tensor> ReadStrings(const fb::Blob& blob, const Dims& dims, int64_t n, int number) {
    const int64_t count = blob.strings() ? blob.strings()->size() : 0;
    if (count != n) return InvalidModel("blob ", number, " needs ", n, " strings, but has ", count);
    Tensor t(DType::kString, dims);
    for (int64_t i = 0; i < n; ++i)
      t.data<std::string>()[i] = blob.strings()->Get(static_cast<unsigned>(i))->str();
    return t;
  }

  Result<Tensor> BlobAt(int i) {
    if (i < 0 || static_cast<size_t>(i) >= blobs_.size())
      return InvalidModel("blob number ", i, " does not exist: the file has ", blobs_.size(), " blobs");
    return blobs_[static_cast<size_t>(i)];
  }

  template <class List>
  Result<std::vector<Value*>> Values(const List* list, const char* what, bool absent_allowed) {
    std::vector<Value*> out;
    if (!list) return out;
    for (int32_t i : *list) {
      Value* v =
          i >= 0 && static_cast<size_t>(i) < values_.size() ? values_[static_cast<size_t>(i)] : nullptr;
      if (!v && !(i == -1 && absent_allowed))
        return InvalidModel("a ", what, " is value number ", i, ", which does not exist or is defined later");
      out.push_back(v);
    }
    return out;
  }

  // Fails if the value number is outside the graph's own range [first, end) or is already defined.
  Status CheckUndefined(int32_t number, size_t first, size_t end) {
    if (number < 0 || static_cast<size_t>(number) < first || static_cast<size_t>(number) >= end ||
        values_[static_cast<size_t>(number)])
      return InvalidModel("value number ", number, " is defined twice or belongs to another graph");
    return {};
  }

  Status ReadInputs(const fb::Graph& from, Graph& to, size_t first, size_t end) {
    if (!from.inputs()) return {};
    for (int32_t i : *from.inputs()) {
      TERN_TRY(CheckUndefined(i, first, end));
      TERN_ASSIGN(Type type, Type::Parse(TextOf(infos_[static_cast<size_t>(i)]->type())));
      values_[static_cast<size_t>(i)] =
          to.AddInput(TextOf(infos_[static_cast<size_t>(i)]->name()), std::move(type));
    }
    return {};
  }

  Result<AttrValue> ReadAttr(const fb::Attr& a) {
    const auto ints = ListOf(a.ints());
    const auto floats = ListOf(a.floats());
    std::vector<std::string> texts;
    if (a.texts())
      for (const auto* t : *a.texts()) texts.push_back(t->str());
    const auto missing = [&] { return InvalidModel("attribute '", TextOf(a.name()), "' has no value"); };
    switch (a.kind()) {
      case 0:
        return ints.empty() ? Result<AttrValue>(missing()) : AttrValue(ints[0] != 0);
      case 1:
        return ints.empty() ? Result<AttrValue>(missing()) : AttrValue(ints[0]);
      case 2:
        return floats.empty() ? Result<AttrValue>(missing()) : AttrValue(floats[0]);
      case 3:
        return texts.empty() ? Result<AttrValue>(missing()) : AttrValue(texts[0]);
      case 4:
        if (ints.empty() || ints[0] < 0 || ints[0] >= static_cast<int64_t>(DType::kCount)) return missing();
        return AttrValue(static_cast<DType>(ints[0]));
      case 5:
        return AttrValue(ints);
      case 6:
        return AttrValue(floats);
      case 7:
        return AttrValue(texts);
      case 8: {
        TERN_ASSIGN(Tensor t, BlobAt(a.blob()));
        return AttrValue(std::move(t));
      }
      default:
        return InvalidModel("attribute '", TextOf(a.name()), "' has unknown kind ",
                            static_cast<int>(a.kind()));
    }
  }

  Status ReadNode(const fb::Node& from, Graph& to, size_t first, size_t end, int depth) {
    const std::string op = TextOf(from.op());
    const OpDef* def = FindOp(op);
    if (!def) return Unsupported("op '", op, "' of node '", TextOf(from.name()), "' ", kOpIsMissing);
    Attrs attrs = def->defaults;
    if (from.attrs())
      for (const fb::Attr* a : *from.attrs()) {
        TERN_ASSIGN(AttrValue value, ReadAttr(*a));
        Status status = attrs.Set(TextOf(a->name()), value);
        if (!status.ok())
          return InvalidModel("node '", TextOf(from.name()), "' (", op, "): ", status.message());
      }
    TERN_ASSIGN(auto inputs, Values(from.inputs(), "node input", true));
    const int outputs = from.outputs() ? static_cast<int>(from.outputs()->size()) : 0;
    Node* node = to.AddNode(*def, std::move(attrs), inputs, outputs);
    node->name = TextOf(from.name());
    node->origin = TextOf(from.origin());
    for (int i = 0; i < outputs; ++i) {
      const int32_t number = from.outputs()->Get(static_cast<unsigned>(i));
      TERN_TRY(CheckUndefined(number, first, end));
      Value* v = node->output(i);
      v->name = TextOf(infos_[static_cast<size_t>(number)]->name());
      TERN_ASSIGN(v->type, Type::Parse(TextOf(infos_[static_cast<size_t>(number)]->type())));
      values_[static_cast<size_t>(number)] = v;
    }
    if (!from.subgraphs()) return {};
    for (const fb::Graph* sub : *from.subgraphs())
      TERN_TRY(ReadGraph(*sub, *to.AddSubgraph(node, TextOf(sub->name())), depth + 1));
    return {};
  }

  const fb::Header& header_;
  Buffer data_;
  std::vector<Tensor> blobs_;
  std::vector<Value*> values_;
  std::vector<const fb::Value*> infos_;
  // The constants of the top-level graph and the checksums of their blobs.
  std::vector<std::pair<Value*, uint64_t>> constants_;
};

struct Opened {
  const fb::Header* header;
  Buffer data;
};

Result<Opened> OpenHeader(const Buffer& bytes) {
  TernPrefix prefix;
  if (bytes.size() < sizeof prefix || !LooksLikeTern(bytes.data(), bytes.size()))
    return InvalidModel("not a .tern file");
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  if (prefix.major != kTernMajor)
    return Unsupported(".tern format version ", prefix.major, ".", prefix.minor, ": this Tern reads version ",
                       kTernMajor, ".x");
  const size_t remaining = bytes.size() - sizeof prefix;
  if (prefix.header_size > remaining)
    return InvalidModel("the header claims ", prefix.header_size, " bytes, but the file has only ", remaining,
                        " left: truncated file?");
  const auto* start = reinterpret_cast<const uint8_t*>(bytes.data()) + sizeof prefix;
  if (Checksum(start, prefix.header_size) != prefix.header_checksum)
    return InvalidModel("the header is damaged: its checksum does not match");
  flatbuffers::Verifier verifier(start, prefix.header_size, 1024, 100000000);
  if (!fb::VerifyHeaderBuffer(verifier)) return InvalidModel("the header is not well formed");
  const size_t data_at = sizeof prefix + AlignTern(prefix.header_size);
  const size_t data_size = data_at <= bytes.size() ? bytes.size() - data_at : 0;
  return Opened{fb::GetHeader(start), bytes.Slice(bytes.size() - data_size, data_size)};
}

}  // namespace

bool LooksLikeTern(const void* data, size_t size) {
  return size >= sizeof kTernMagic && !std::memcmp(data, kTernMagic, sizeof kTernMagic);
}

Result<std::unique_ptr<Graph>> LoadTernBytes(const Buffer& bytes, const LoadOptions& options) {
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    TERN_ASSIGN(Opened file, OpenHeader(bytes));
    if (!file.header->graph()) return InvalidModel("the header has no graph");
    auto graph = std::make_unique<Graph>(TextOf(file.header->graph()->name()));
    Reader reader(*file.header, file.data);
    TERN_TRY(reader.ReadBlobs(options));
    TERN_TRY(reader.ReadGraph(*file.header->graph(), *graph, 0));
    reader.ForgetStale();
    TERN_TRY(VerifyGraph(*graph));
    TERN_TRY(InferGraph(*graph));
    return graph;
  });
}

Result<std::unique_ptr<Graph>> LoadTern(const std::string& path, const LoadOptions& options) {
  TERN_ASSIGN(Buffer bytes, Buffer::MapFile(path));
  auto graph = LoadTernBytes(bytes, options);
  if (!graph.ok()) return graph.TakeStatus().While(StrCat("loading '", path, "'"));
  return graph;
}

Result<uint64_t> SourceHashOf(const std::string& path) {
  TERN_ASSIGN(Buffer bytes, Buffer::MapFile(path));
  return Guard([&]() -> Result<uint64_t> {
    TERN_ASSIGN(const Opened file, OpenHeader(bytes));
    return file.header->source_hash();
  });
}

Status CheckTern(const std::string& path) {
  TERN_ASSIGN(Buffer bytes, Buffer::MapFile(path));
  return Guard([&]() -> Status {
    TERN_ASSIGN(Opened file, OpenHeader(bytes));
    return Reader(*file.header, file.data)
        .ReadBlobs({.verify_up_to = SIZE_MAX})
        .While(StrCat("checking '", path, "'"));
  });
}

}  // namespace tern
