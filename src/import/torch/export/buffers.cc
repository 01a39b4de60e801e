#include "import/torch/export/buffers.h"

#include <algorithm>

#include "ir/infer_context.h"
#include "ir/state.h"

namespace tern::torch {
namespace {

bool AllZero(const Tensor& t) {
  const auto* bytes = static_cast<const std::byte*>(t.raw());
  return std::all_of(bytes, bytes + t.bytes(), [](std::byte b) { return b == std::byte{0}; });
}

// Returns a name that no input except `self` has.
std::string InputName(const Graph& graph, const Value* self, std::string name) {
  const auto taken = [&](const std::string& text) {
    return std::any_of(graph.inputs().begin(), graph.inputs().end(),
                       [&](const Value* v) { return v != self && v->name == text; });
  };
  while (taken(name)) name += "_past";
  return name;
}

}  // namespace

void Buffers::Restart() {
  results_.clear();
  kept_.clear();
  started_ = nullptr;
}

Result<TensorPtr> Buffers::Add(const std::string& path, Graph& out) {
  auto weight = weights_.Find(path);
  if (!weight.ok())
    return Status(weight.status().code(), StrCat("weight '", path, "': ", weight.status().message()));
  Kept kept{path, nullptr, nullptr};
  if (!written_.count(path)) {
    kept.tensor = TorchContext::NewTensor(out.AddConstant(std::move(weight->tensor), path));
  } else {
    if (weight->complex) return Unsupported("the program changes the complex buffer '", path, "'");
    const Type type = Type::TensorOf(weight->tensor.dtype(), Shape::Of(weight->tensor.dims()));
    kept.past = out.AddInput(path, type);
    TERN_ASSIGN(Value * start, StartValue(path, kept.past, std::move(weight->tensor), out));
    kept.tensor = TorchContext::NewTensor(start);
  }
  kept.tensor->complex = weight->complex;
  kept_.push_back(kept);
  return kept.tensor;
}

// States are zero before the first run. A buffer with other contents is replaced in the first run.
Result<Value*> Buffers::StartValue(const std::string& path, Value* past, Tensor initial, Graph& out) {
  if (AllZero(initial)) return past;
  Builder b(out);
  b.At(path, "buffer");
  if (!started_) started_ = out.AddInput("started", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  Value* value = b.Op("Where", {started_, past, out.AddConstant(std::move(initial), path)});
  TERN_TRY(Status(b.status()));
  return value;
}

bool Buffers::AllKnown() {
  bool known = true;
  for (const Kept& k : kept_)
    if (k.tensor->writes() > 0) known &= !written_.insert(k.path).second;
  return known;
}

Status Buffers::AddStates(TorchContext& context, Graph& out, OutputList& outputs) {
  // The program's inputs keep their names, and all of them exist now.
  for (const Kept& k : kept_)
    if (k.past) k.past->name = InputName(out, k.past, k.past->name);
  if (started_) started_->name = InputName(out, started_, started_->name);
  const auto add = [&](Value* past, Value* present, const std::string& name) -> Status {
    RefineType(present->type, past->type);
    out.AddState({past, outputs.size(), -1});
    return outputs.Add(present, StrCat(name, ".next"));
  };
  for (const Kept& k : kept_) {
    if (!k.past) continue;
    Builder b(out);
    b.At(k.path, "buffer");
    const auto returned = results_.find(k.path);
    Value* present = returned == results_.end() ? nullptr : returned->second;
    if (!present) {
      TERN_ASSIGN(present, context.Read(*k.tensor, b));
    }
    if (!MayBeState(k.past->type, present->type))
      return InvalidModel("the program writes ", present->type.ToString(), " to the buffer '", k.path, "' ",
                          k.past->type.ToString());
    TERN_TRY(add(k.past, present, k.path));
  }
  if (!started_) return {};
  Builder b(out);
  return add(started_, b.Scalar(DType::kBool, 1), started_->name);
}

}  // namespace tern::torch
