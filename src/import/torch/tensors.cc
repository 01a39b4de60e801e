#include "import/torch/tensors.h"

#include <set>

namespace tern::torch {

TensorVar::TensorVar(Value* value, ViewOf view) : value_(value), view_(std::move(view)) {
  version_ = root().version_;
}

// A chain of views is released in a loop, because it may be too long for recursion.
TensorVar::~TensorVar() {
  TensorPtr base = std::move(view_.base);
  while (base && base.use_count() == 1) {
    TensorPtr next = std::move(base->view_.base);
    base = std::move(next);
  }
}

const TensorVar& TensorVar::root() const {
  const TensorVar* v = this;
  while (v->view_.base) v = v->view_.base.get();
  return *v;
}

TensorVar& TensorVar::root() { return const_cast<TensorVar&>(std::as_const(*this).root()); }

void TorchContext::Warn(std::string sentence) {
  if (warnings_) warnings_->push_back(std::move(sentence));
}

void TorchContext::Set(TensorVar& tensor, Value* value, int64_t version) {
  if (scope_) scope_->saved_.push_back({tensor.shared_from_this(), tensor.value_, tensor.version_});
  tensor.value_ = value;
  tensor.version_ = version;
}

// A chain of views is as long as the program makes it, so this function does not recurse over it.
Result<Value*> TorchContext::Read(TensorVar& tensor, Builder& b) {
  const int64_t now = tensor.root().version_;
  std::vector<TensorVar*> stale;
  TensorVar* v = &tensor;
  while (v->is_view() && v->version_ != now) {
    stale.push_back(v);
    v = v->view_.base.get();
  }
  for (; !stale.empty(); stale.pop_back()) {
    TERN_ASSIGN(Value * value, stale.back()->view_.apply(v->value_));
    TERN_TRY(Status(b.status()));
    v = stale.back();
    Set(*v, value, now);
  }
  return tensor.value_;
}

Status TorchContext::Write(TensorVar& tensor, Value* value, Builder& b) {
  const int64_t version = ++last_version_;
  std::vector<std::pair<TensorVar*, Value*>>
      fresh;  // the views on the way to the root, with their new values
  TensorVar* v = &tensor;
  while (v->is_view()) {
    fresh.emplace_back(v, value);
    TensorVar& base = *v->view_.base;
    TERN_ASSIGN(Value * old, Read(base, b));
    if (v->view_.put) {
      TERN_ASSIGN(value, v->view_.put(old, value));
    } else {
      TERN_ASSIGN(value, ScatterView(b, old, value, v->view_.apply));
    }
    TERN_TRY(Status(b.status()));
    v = &base;
  }
  Set(*v, value, version);
  for (auto& [view, written] : fresh) Set(*view, written, version);
  return {};
}

TorchContext::Scope::Scope(TorchContext& context, Graph& inner)
    : context_(context), outer_graph_(context.graph_), outer_scope_(context.scope_) {
  context.graph_ = &inner;
  context.scope_ = this;
}

TorchContext::Scope::~Scope() {
  for (auto it = saved_.rbegin(); it != saved_.rend(); ++it) {
    it->tensor->value_ = it->value;
    it->tensor->version_ = it->version;
  }
  context_.graph_ = outer_graph_;
  context_.scope_ = outer_scope_;
}

std::vector<TorchContext::Scope::Written> TorchContext::Scope::WrittenRoots() const {
  std::vector<Written> out;
  std::set<const TensorVar*> seen;
  for (const Saved& s : saved_) {
    const bool older = s.value && s.value->graph != context_.graph_;  // the tensor existed before the scope
    if (!s.tensor->is_view() && older && seen.insert(s.tensor.get()).second)
      out.push_back({s.tensor, s.tensor->value_});
  }
  return out;
}

Result<Value*> ScatterView(Builder& b, Value* base, Value* view,
                           const std::function<Result<Value*>(Value*)>& apply) {
  Value* shape = b.Op("Shape", {base});
  Value* count = b.Op("Size", {base});
  Value* flat = b.Op("Range", {b.Scalar(DType::kI64, 0), count, b.Scalar(DType::kI64, 1)});
  TERN_ASSIGN(Value * at, apply(b.Op("Reshape", {flat, shape}, {{"allow_zero", true}})));
  Value* line = b.Ints({-1});
  Value* updated = b.Op("ScatterElements", {b.Op("Reshape", {base, line}), b.Op("Reshape", {at, line}),
                                            b.Op("Reshape", {view, line})});
  return b.Op("Reshape", {updated, shape}, {{"allow_zero", true}});
}

}  // namespace tern::torch
