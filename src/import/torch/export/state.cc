#include "import/torch/export/state.h"

#include "import/torch/export/arguments.h"
#include "import/torch/script/state.h"
#include "import/torch/weights.h"
#include "ir/builder.h"

namespace tern::torch {
namespace {

// The weights as torch 2.8 and later write them: a file with the raw bytes of each storage, and a list of
// tensors in JSON.
class RawWeights : public Weights {
 public:
  explicit RawWeights(const Archive& archive) : archive_(archive) {}

  Status AddList(const std::string& folder, const std::string& entry) {
    if (!archive_.Has(entry)) return {};
    TERN_ASSIGN(const std::string text, archive_.ReadText(entry));
    simdjson::dom::parser parser;
    Json json;
    const auto error = parser.parse(text).get(json);
    if (error) return InvalidModel("'", entry, "' is not JSON: ", simdjson::error_message(error));
    TERN_ASSIGN(const Json config, Member(json, "config"));
    TERN_ASSIGN(const auto tensors, ObjectOf(config));
    for (const auto member : tensors) {
      Entry e;
      TERN_ASSIGN(const std::string file, TextIn(member.value, "path_name"));
      e.file = StrCat(folder, file);
      if (const auto pickled = tern::torch::Find(member.value, "use_pickle")) {
        TERN_ASSIGN(e.pickled, BoolOf(*pickled));
      }
      const auto meta = tern::torch::Find(member.value, "tensor_meta");
      e.known = meta.has_value();
      if (meta) {
        TERN_ASSIGN(e.meta, ReadTensorMeta(*meta));
      }
      entries_[std::string(member.key)] = std::move(e);
    }
    return {};
  }

  Result<Weight> Find(const std::string& path) override {
    const auto it = entries_.find(path);
    if (it == entries_.end()) return InvalidModel("the archive does not list it");
    const Entry& e = it->second;
    if (e.pickled || !e.known) return Unsupported("it is stored as a Python object");
    auto storage = storages_.find(e.file);
    if (storage == storages_.end()) {
      TERN_ASSIGN(Buffer bytes, archive_.Read(e.file));
      storage = storages_.emplace(e.file, std::move(bytes)).first;
    }
    Dims dims, strides;
    for (const Dim& d : e.meta.sizes) dims.push_back(d.known() ? d.value() : -1);
    for (const Dim& d : e.meta.strides) strides.push_back(d.known() ? d.value() : -1);
    const int64_t offset = e.meta.offset.known() ? e.meta.offset.value() : -1;
    TERN_ASSIGN(Tensor tensor, TensorOfStorage(storage->second, e.meta.dtype, dims, strides, offset));
    return Weight{std::move(tensor), e.meta.complex};
  }

 private:
  struct Entry {
    std::string file;
    bool pickled = false, known = false;
    TensorMeta meta;
  };
  const Archive& archive_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Buffer> storages_;
};

// The weights as torch 2.7 and older write them: dicts of torch.save, one for parameters and buffers and one
// for constants.
class PickledWeights : public Weights {
 public:
  // Does nothing if the archive does not have the entry, or if it is empty.
  Status AddDict(const Archive& outer, const std::string& entry) {
    if (!outer.Has(entry)) return {};
    TERN_ASSIGN(const Buffer bytes, outer.Read(entry));
    if (bytes.size() == 0) return {};
    auto archive = Archive::Open(bytes, true);
    if (!archive.ok()) return archive.TakeStatus().While(StrCat("reading '", entry, "'"));
    if (archive->big_endian()) return Unsupported("an archive with big-endian weights");
    auto dict = std::make_unique<Dict>(std::move(*archive));
    TERN_ASSIGN(const Buffer pickle, dict->archive.Read("data.pkl"));
    auto parsed =
        script::Pickle::Parse({reinterpret_cast<const char*>(pickle.data()), pickle.size()}, outer.size());
    if (!parsed.ok()) return parsed.TakeStatus().While(StrCat("reading '", entry, "'"));
    dict->pickle = std::move(*parsed);
    if (!dict->pickle.root().Is(script::Pickled::Kind::kDict))
      return InvalidModel("'", entry, "' is not a dict of tensors");
    dicts_.push_back(std::move(dict));
    return {};
  }

  Result<Weight> Find(const std::string& path) override {
    for (const auto& dict : dicts_) {
      const script::Pickled* tensor = dict->pickle.root().Find(path);
      if (!tensor) continue;
      if (!tensor->Is(script::Pickled::Kind::kTensor)) return Unsupported("it is not a tensor");
      TERN_ASSIGN(Tensor contents, dict->weights.Read(*tensor, "data"));
      return Weight{std::move(contents), false};
    }
    return InvalidModel("the archive does not list it");
  }

 private:
  struct Dict {
    explicit Dict(Archive from) : archive(std::move(from)), weights(archive) {}
    Archive archive;
    script::Weights weights;
    script::Pickle pickle;
  };
  std::vector<std::unique_ptr<Dict>> dicts_;
};

Result<std::unique_ptr<Weights>> OpenOlderWeights(const Archive& archive) {
  auto weights = std::make_unique<PickledWeights>();
  // torch 2.4 and older gave all entries the extension .json.
  for (const char* extension : {".pt", ".json"}) {
    TERN_TRY(weights->AddDict(archive, StrCat("serialized_state_dict", extension)));
    TERN_TRY(weights->AddDict(archive, StrCat("serialized_constants", extension)));
  }
  return std::unique_ptr<Weights>(std::move(weights));
}

}  // namespace

Result<std::unique_ptr<Weights>> OpenWeights(const Archive& archive, const std::string& model) {
  if (archive.big_endian()) return Unsupported("an archive with big-endian weights");
  if (model.empty()) return OpenOlderWeights(archive);
  auto weights = std::make_unique<RawWeights>(archive);
  TERN_TRY(weights->AddList("data/weights/", StrCat("data/weights/", model, "_weights_config.json")));
  TERN_TRY(weights->AddList("data/constants/", StrCat("data/constants/", model, "_constants_config.json")));
  return std::unique_ptr<Weights>(std::move(weights));
}

OutputList::OutputList(Graph& graph) : graph_(graph) {
  for (const Value* input : graph.inputs()) inputs_.insert(input->name);
}

Status OutputList::Add(Value* value, std::string name) { return Append(value, names_.Make(std::move(name))); }

Status OutputList::AddKeyed(Value* value, const std::string& key) {
  std::string name = names_.Make(key);
  while (inputs_.count(name)) name = names_.Make(key);
  return Append(value, std::move(name));
}

Status OutputList::Append(Value* value, std::string name) {
  if (value->graph != &graph_ || !value->producer || !taken_.insert(value).second) {
    Builder b(graph_);
    b.At(name, "graph output");
    value = b.Op("Identity", {value});
    TERN_TRY(Status(b.status()));
    taken_.insert(value);
  }
  value->name = std::move(name);
  outputs_.push_back(value);
  return {};
}

Status OutputList::Finish() {
  if (outputs_.empty()) return InvalidModel("the program has no outputs that are tensors or numbers");
  // Clears names of other values that equal the name of an output, because names of outputs must be unique.
  for (const auto& v : graph_.values())
    if (!taken_.count(v.get()) && !v->is_input && names_.Has(v->name)) v->name.clear();
  graph_.SetOutputs(outputs_);
  return {};
}

}  // namespace tern::torch
