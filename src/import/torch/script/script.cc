#include "import/torch/script/script.h"

#include "import/torch/script/inputs.h"
#include "import/torch/script/outputs.h"
#include "import/torch/script/state.h"

namespace tern::torch {
namespace script {
namespace {

constexpr size_t kMaxPickle = size_t{1} << 28;  // bytes; pickles contain no weights

Result<Pickle> ReadPickle(const Archive& archive, const std::string& name) {
  TERN_ASSIGN(const Buffer bytes, archive.Read(name));
  if (bytes.size() > kMaxPickle) return Unsupported(name, " has ", bytes.size(), " bytes");
  auto pickle = Pickle::Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, archive.size());
  if (!pickle.ok()) return pickle.TakeStatus().While(StrCat("reading ", name));
  return pickle;
}

class ScriptReader {
 public:
  ScriptReader(const Archive& archive, load::ReadContext& context)
      : archive_(archive), context_(context), code_(archive), weights_(archive) {}

  Result<std::unique_ptr<Graph>> Read() {
    if (archive_.big_endian())
      return Unsupported("the file was written on a machine with big-endian numbers");
    TERN_ASSIGN(data_, ReadPickle(archive_, "data.pkl"));
    if (archive_.Has("constants.pkl")) {
      TERN_ASSIGN(constants_, ReadPickle(archive_, "constants.pkl"));
      if (!constants_->root().Is(Pickled::Kind::kTuple) && !constants_->root().Is(Pickled::Kind::kList))
        return InvalidModel("constants.pkl is not a list of constants");
    }
    TERN_TRY(ReadTracedInputs());
    TERN_TRY(ReadVersion());
    auto graph = Attempts();
    context_.warnings.insert(context_.warnings.end(), warnings_.begin(), warnings_.end());
    return graph;
  }

 private:
  Status ReadVersion() {
    if (!archive_.Has("version")) return {};
    TERN_ASSIGN(const std::string text, archive_.ReadText("version"));
    if (!ParseInt(text.substr(0, text.find_last_not_of("\r\n ") + 1), version_))
      return InvalidModel("the version ", QuoteText(text.substr(0, 20)), " is not a number");
    return {};
  }

  // The arguments of the example that the model was traced with. Their contents are not stored.
  Status ReadTracedInputs() {
    if (!archive_.Has("traced_inputs.pkl")) return {};
    TERN_ASSIGN(traced_pickle_, ReadPickle(archive_, "traced_inputs.pkl"));
    const Pickled* forward = traced_pickle_->root().Find("forward");
    if (forward && forward->Is(Pickled::Kind::kList)) traced_ = forward;
    return {};
  }

  // Imports with the most general assumptions that work. If no assumptions work, returns the first error.
  Result<std::unique_ptr<Graph>> Attempts() {
    auto first = WithHints({});
    if (first.ok()) return first;
    if (used_traced_) {
      auto next = WithHints({.traced_batch = true});
      if (next.ok()) return next;
    }
    for (const int rank : {3, 4, 2, 1, 5}) {
      if (!guessed_) break;
      auto next = WithHints({.rank = rank});
      if (next.ok()) return next;
    }
    if (!guessed_) return first;
    Status status = first.TakeStatus();
    return Status(status.code(),
                  StrCat(status.message(),
                         "\n  the file declares no shapes; if the error is about shapes or element "
                         "types, give those of the inputs (such as --shape NAME=f32[1,3,224,224])"));
  }

  // Later uses of an input may imply more about the input than its first use. If so, the import is repeated.
  Result<std::unique_ptr<Graph>> WithHints(Assumptions assumptions) {
    constexpr int kMaxAttempts = 4;
    for (int i = 1;; ++i) {
      auto graph = Import(assumptions);
      if (i == kMaxAttempts || hints_ == assumptions.hints) return graph;
      assumptions.hints = hints_;
    }
  }

  Result<std::unique_ptr<Graph>> Import(const Assumptions& assumptions) {
    auto graph = std::make_unique<Graph>("forward");
    std::vector<std::string> warnings;
    TorchContext tensors(*graph, &warnings);
    Heap heap;
    Inputs inputs(*graph, context_.input_types, traced_, assumptions);
    Interpreter in(code_, heap, tensors, inputs);
    in.version = version_;
    Status status = Run(in, inputs);
    used_traced_ |= inputs.used_traced();
    guessed_ |= inputs.guessed();
    hints_ = inputs.hints();
    TERN_TRY(std::move(status));
    TERN_TRY(inputs.CheckNames());
    graph->RemoveDeadNodes();
    graph->RemoveUnusedConstants();
    if (inputs.guessed())
      warnings.push_back(StrCat("the file declares no shapes; Tern assumes ", Join(inputs.Guesses(), ", ")));
    warnings_ = std::move(warnings);
    return graph;
  }

  Status Run(Interpreter& in, Inputs& inputs) {
    TERN_ASSIGN(const Item model, StateReader(in, weights_, "data").Read(data_->root(), ""));
    if (!model.Is(Item::Kind::kObject))
      return InvalidModel("data.pkl contains ", model.Describe(), " instead of a module");
    if (constants_) {
      StateReader reader(in, weights_, "constants");
      for (size_t i = 0; i < constants_->root().items.size(); ++i) {
        TERN_ASSIGN(Item constant, reader.Read(*constants_->root().items[i], StrCat("CONSTANTS.c", i)));
        in.constants.push_back(std::move(constant));
      }
    }
    TERN_ASSIGN(const Class* type, code_.FindClass(model.cell->type));
    std::string method = "forward";
    const Function* forward = Code::MethodOf(*type, method);
    if (!forward) forward = Code::MethodOf(*type, method = "forward__0");
    if (!forward) return Unsupported("the model's class ", model.cell->type, " has no method 'forward'");
    for (const auto& field : type->fields)
      if (field->target->IsName("__forward_hooks__") || field->target->IsName("__forward_pre_hooks__"))
        return Unsupported("the model has hooks that run before or after forward");
    TERN_ASSIGN(KeywordItems arguments, inputs.Arguments(in, *forward));
    TERN_ASSIGN(const Item result, in.CallFunction(*forward, StrCat(model.cell->type, ".", method),
                                                   model.cell, {}, std::move(arguments)));
    return SetOutputs(in, result);
  }

  const Archive& archive_;
  load::ReadContext& context_;
  Code code_;
  Weights weights_;
  std::optional<Pickle> data_, constants_, traced_pickle_;
  const Pickled* traced_ = nullptr;
  int64_t version_ = 10;
  Hints hints_;                        // of the last attempt
  std::vector<std::string> warnings_;  // of the last attempt that succeeded
  bool used_traced_ = false, guessed_ = false;
};

}  // namespace
}  // namespace script

Result<std::unique_ptr<Graph>> ReadScript(const load::Source& source, load::ReadContext& context) {
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    const bool mapped = !source.path.empty() && source.bytes.owned();
    TERN_ASSIGN(const Archive archive, Archive::Open(source.bytes, mapped));
    return script::ScriptReader(archive, context).Read();
  });
}

}  // namespace tern::torch
