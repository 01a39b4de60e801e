#include "import/torch/export/program.h"

#include "import/torch/aten/emit.h"
#include "import/torch/export/buffers.h"
#include "import/torch/export/output_keys.h"
#include "ir/exact_symbols.h"

namespace tern::torch {
namespace {

constexpr int64_t kMaxNodes = 1'000'000;                          // once nested graphs are inlined
constexpr const char* kOld = "serialized_exported_program.json";  // torch 2.7 and older

// A program of the archive: its entry, and its name, which is part of the names of the entries with its
// weights. The name is empty for archives of torch 2.7 and older.
struct Model {
  std::string entry, name;
};

Result<Model> ModelOf(const Archive& archive, const std::string& wanted) {
  if (archive.Has(kOld)) return Model{kOld, ""};
  std::vector<std::string> names;
  for (const std::string& entry : archive.NamesIn("models/"))
    if (EndsWith(entry, ".json")) names.push_back(entry.substr(7, entry.size() - 7 - 5));
  if (names.empty()) return InvalidModel("the archive has no program (models/*.json)");
  for (const std::string& name : names)
    if (name == wanted || (wanted.empty() && (names.size() == 1 || name == "model")))
      return Model{StrCat("models/", name, ".json"), name};
  return InvalidArgument(wanted.empty()
                             ? std::string("the archive has several programs; choose one as signature")
                             : StrCat("the archive has no program '", wanted, "'"),
                         ": ", Join(names, ", "));
}

class ProgramReader {
 public:
  ProgramReader(const Archive& archive, load::ReadContext& options) : archive_(archive), options_(options) {}

  Result<std::unique_ptr<Graph>> Read() {
    TERN_ASSIGN(const Model model, ModelOf(archive_, options_.signature));
    TERN_ASSIGN(const std::string text, archive_.ReadText(model.entry));
    simdjson::dom::parser parser;
    Json program;
    const auto error = parser.parse(text).get(program);
    if (error) return InvalidModel("'", model.entry, "' is not JSON: ", simdjson::error_message(error));
    TERN_TRY(CheckVersion(program));
    TERN_ASSIGN(module_, Member(program, "graph_module"));
    TERN_ASSIGN(const Json graph, Member(module_, "graph"));
    TERN_ASSIGN(const Json signature, Member(module_, "signature"));
    import::UnsupportedOperators missing;
    TERN_ASSIGN(nodes_, ListUnsupported(graph, missing));
    TERN_TRY(missing.status());
    TERN_ASSIGN(const auto weights, OpenWeights(archive_, model.name));
    Buffers buffers(*weights);
    buffers_ = &buffers;
    TERN_TRY(MarkReturnedBuffers(signature));
    const size_t warnings = options_.warnings.size();
    while (true) {
      auto out = std::make_unique<Graph>("main");
      AddMetadata(program, *out);
      SetExactSymbols(*out);  // torch checks the sizes of a program's inputs
      TERN_ASSIGN(const bool done, Import(graph, signature, *out));
      if (done) {
        out->RemoveDeadNodes();
        out->RemoveUnusedConstants();
        return out;
      }
      options_.warnings.resize(warnings);
      buffers.Restart();
    }
  }

 private:
  static Status CheckVersion(Json program) {
    const auto version = Find(program, "schema_version");
    if (!version) return {};
    TERN_ASSIGN(const Json json, Member(*version, "major"));
    TERN_ASSIGN(const int64_t major, IntOf(json));
    if (major != 8 && major != 7)
      return Unsupported("version ", major,
                         " of the program's schema; Tern reads versions 7 and 8 (PyTorch 2.8 and later)");
    return {};
  }

  static void AddMetadata(Json program, Graph& graph) {
    const auto version = Find(program, "torch_version");
    std::string_view text;
    graph.metadata.emplace_back("producer", "torch.export");
    if (version && !version->get(text)) graph.metadata.emplace_back("producer_version", text);
  }

  // Programs without in-place operators return the new contents of buffers as outputs.
  Status MarkReturnedBuffers(Json signature) {
    TERN_ASSIGN(const auto specs, ArrayIn(signature, "output_specs"));
    for (const Json json : specs) {
      TERN_ASSIGN(const Union spec, UnionOf(json));
      if (spec.kind != "buffer_mutation" && spec.kind != "parameter_mutation") continue;
      TERN_ASSIGN(const std::string path, MutatedBuffer(spec));
      buffers_->MarkWritten(path);
    }
    return {};
  }

  static Result<std::string> MutatedBuffer(const Union& spec) {
    return TextIn(spec.value, spec.kind == "buffer_mutation" ? "buffer_name" : "parameter_name");
  }

  // Returns false if the program writes a buffer that was not known to be written.
  Result<bool> Import(Json graph, Json signature, Graph& out) {
    symbols_.clear();
    TorchContext context(out, &options_.warnings);
    import::InlinedLimit nodes(nodes_, kMaxNodes);
    GraphReader reader(context, symbols_, nodes, 0);
    TERN_ASSIGN(const auto inputs, ArrayIn(signature, "input_specs"));
    TERN_ASSIGN(const Json metas, Member(graph, "tensor_values"));
    for (const Json spec : inputs) TERN_TRY(AddInput(spec, metas, graph, out, reader));
    TERN_TRY(reader.ReadNodes(graph));
    if (!buffers_->AllKnown()) return false;
    TERN_TRY(SetOutputs(graph, signature, out, reader));
    return true;
  }

  Status AddInput(Json json, Json metas, Json graph, Graph& out, GraphReader& reader) {
    TERN_ASSIGN(const Union spec, UnionOf(json));
    if (spec.kind == "user_input") {
      TERN_ASSIGN(const Json arg, Member(spec.value, "arg"));
      return AddUserInput(arg, metas, graph, out, reader);
    }
    if (spec.kind == "constant_input") {
      TERN_ASSIGN(const std::string name, TextIn(spec.value, "name"));
      TERN_ASSIGN(const Json value, Member(spec.value, "value"));
      TERN_ASSIGN(reader.names[name], ReadArgument(value, reader.names));
      return {};
    }
    if (spec.kind == "token") {  // a token only orders operators with side effects
      TERN_ASSIGN(const Json arg, Member(spec.value, "arg"));
      TERN_ASSIGN(const std::string name, TextIn(arg, "name"));
      reader.names[name] = Arg::None();
      return {};
    }
    const bool parameter = spec.kind == "parameter", buffer = spec.kind == "buffer";
    if (!parameter && !buffer && spec.kind != "tensor_constant")
      return Unsupported("a program with inputs of the kind '", spec.kind, "'");
    TERN_ASSIGN(const Json arg, Member(spec.value, "arg"));
    TERN_ASSIGN(const std::string name, TextIn(arg, "name"));
    TERN_ASSIGN(const std::string path, TextIn(spec.value, parameter ? "parameter_name"
                                                           : buffer  ? "buffer_name"
                                                                     : "tensor_constant_name"));
    TERN_ASSIGN(const TensorPtr tensor, buffers_->Add(path, out));
    reader.names[name] = Arg::Of(tensor);
    return {};
  }

  Status AddUserInput(Json arg, Json metas, Json graph, Graph& out, GraphReader& reader) {
    std::vector<std::string> names;
    TERN_TRY(NamesOfOutput(arg, names));
    TERN_ASSIGN(const Union kind, UnionOf(arg));
    if (names.size() != 1 || names[0].empty()) return {};  // the input is a constant of the program
    const std::string& name = names[0];
    if (reader.names.count(name)) return InvalidModel("the program has two inputs named '", name, "'");
    if (kind.kind != "as_tensor") return AddNumber(kind.kind, name, graph, out, reader);
    TERN_ASSIGN(const Json json, Member(metas, name));
    TERN_ASSIGN(const TensorMeta meta, ReadTensorMeta(json));
    if (meta.complex) return Unsupported("input '", name, "' has complex elements");
    for (const Dim& d : meta.sizes) {
      std::vector<std::string> used;
      d.CollectSymbols(used);
      symbols_.insert(used.begin(), used.end());
    }
    TensorPtr tensor = TorchContext::NewTensor(out.AddInput(name, meta.type()));
    tensor->dense = true;
    reader.names[name] = Arg::Of(tensor);
    return {};
  }

  Status AddNumber(const std::string& kind, const std::string& name, Json, Graph& out, GraphReader& reader) {
    const DType type = kind == "as_sym_int"     ? DType::kI64
                       : kind == "as_sym_float" ? DType::kF32
                       : kind == "as_sym_bool"  ? DType::kBool
                                                : DType::kInvalid;
    if (type == DType::kInvalid) return Unsupported("input '", name, "' is of the kind '", kind, "'");
    Value* v = out.AddInput(name, Type::TensorOf(type, Shape(std::vector<Dim>{})));
    reader.names[name] = Arg::Computed(v);
    return {};
  }

  static bool IsResult(const std::string& kind) { return kind == "user_output" || kind == "loss_output"; }

  // Returns the keys of the user's outputs, in order; an empty text for an output without keys.
  Result<std::vector<std::string>> KeysOfResults(simdjson::dom::array specs) const {
    size_t count = 0;
    for (const Json json : specs) {
      TERN_ASSIGN(const Union spec, UnionOf(json));
      count += IsResult(spec.kind) ? 1 : 0;
    }
    std::vector<std::string> keys = OutputKeys(module_, count);
    keys.resize(count);
    return keys;
  }

  Status SetOutputs(Json graph, Json signature, Graph& out, GraphReader& reader) {
    TERN_ASSIGN(const auto specs, ArrayIn(signature, "output_specs"));
    TERN_ASSIGN(const auto results, ArrayIn(graph, "outputs"));
    if (specs.size() != results.size())
      return InvalidModel("the signature lists ", specs.size(), " outputs, the graph ", results.size());
    OutputList outputs(out);
    TERN_ASSIGN(const std::vector<std::string> keys, KeysOfResults(specs));
    auto key = keys.begin();
    auto next = results.begin();
    int index = -1;  // of the output
    for (const Json json : specs) {
      ++index;
      if (next == results.end()) return WrongJson("an output");  // size() is limited to 2^24 - 1
      const Json result = *next;
      ++next;
      TERN_ASSIGN(const Union spec, UnionOf(json));
      if (spec.kind == "token") continue;
      if (spec.kind == "user_input_mutation") {
        options_.warnings.push_back(
            "the program changes one of its inputs; the changed input is not an output");
        continue;
      }
      if (spec.kind == "buffer_mutation" || spec.kind == "parameter_mutation") {
        TERN_ASSIGN(const std::string path, MutatedBuffer(spec));
        TERN_ASSIGN(const Arg arg, ReadArgument(result, reader.names));
        Builder b(out);
        TERN_ASSIGN(Value * value, reader.ValueOf(arg, b));
        buffers_->SetResult(path, value);
        continue;
      }
      if (!IsResult(spec.kind)) return Unsupported("a program with outputs of the kind '", spec.kind, "'");
      const std::string& name = *key++;
      TERN_ASSIGN(const Arg arg, ReadArgument(result, reader.names));
      if (arg.none()) continue;
      if (arg.is_tensor() && arg.tensor->complex) return Unsupported("an output with complex elements");
      std::vector<std::string> names;
      TERN_TRY(NamesOfOutput(result, names));
      Builder b(out);
      TERN_ASSIGN(Value * v, reader.ValueOf(arg, b));
      if (name.empty())
        TERN_TRY(outputs.Add(v, names.empty() || names[0].empty() ? StrCat("output_", index) : names[0]));
      else
        TERN_TRY(outputs.AddKeyed(v, name));
    }
    TERN_TRY(buffers_->AddStates(reader.context, out, outputs));
    return outputs.Finish();
  }

  const Archive& archive_;
  load::ReadContext& options_;
  Json module_;
  std::set<std::string> symbols_;
  int64_t nodes_ = 0;  // in the file
  Buffers* buffers_ = nullptr;
};

}  // namespace

bool IsProgram(const Archive& archive) {
  return archive.Has(kOld) || archive.Has("archive_format") || !archive.NamesIn("models/").empty();
}

Result<std::unique_ptr<Graph>> ReadProgram(const Archive& archive, load::ReadContext& context) {
  return ProgramReader(archive, context).Read();
}

}  // namespace tern::torch
