#include "runtime/exec/input_check.h"

#include "ir/exact_symbols.h"

namespace tern {
namespace {

struct Binding {
  int64_t value;
  std::string input;
  size_t dim;
};

// The values of the symbols, and a description of the first dim that contradicts them.
struct Bindings {
  std::map<std::string, Binding> symbols;
  std::string conflict;
};

Status Mismatch(const Value& v, const Datum& d, const std::string& why) {
  return InvalidArgument("input '", v.name, "' must be ", v.type.ToString(), ", got ", d.Describe(), why);
}

// Sets the symbol to the size of dim i, unless the symbol has a value already.
void BindDim(const Value& v, const Tensor& t, size_t i, const std::string& name, Bindings& bindings) {
  const auto [it, added] = bindings.symbols.emplace(name, Binding{t.dims()[i], v.name, i});
  if (added || it->second.value == t.dims()[i] || !bindings.conflict.empty()) return;
  bindings.conflict = StrCat("input '", v.name, "': dimension ", i, " (", name, ") is ", t.dims()[i],
                             ", but input '", it->second.input, "' has ", it->second.value, " for ", name,
                             " in dimension ", it->second.dim, "; ", v.name, " is ", v.type.ToString());
}

// Returns the name of the dim if the dim is a plain symbol, else an empty string.
std::string SymbolOf(const Dim& d) {
  std::vector<std::string> names;
  d.CollectSymbols(names);
  return names.size() == 1 && d == Dim::Symbol(names[0]) ? names[0] : "";
}

Status CheckTensor(const Value& v, const Type& type, const Datum& d, Bindings& bindings) {
  const Tensor& t = d.tensor;
  if (type.dtype != DType::kInvalid && t.dtype() != type.dtype) return Mismatch(v, d, "");
  if (!type.shape.ranked) return {};
  if (type.shape.rank() != t.rank())
    return Mismatch(v, d, StrCat(": rank ", t.rank(), " instead of ", type.shape.rank()));
  for (size_t i = 0; i < t.dims().size(); ++i) {
    const Dim& want = type.shape.dims[i];
    if (want.known() && want.value() != t.dims()[i])
      return Mismatch(v, d, StrCat(": dimension ", i, " is ", t.dims()[i], " instead of ", want.value()));
    const std::string symbol = SymbolOf(want);
    if (!symbol.empty()) BindDim(v, t, i, symbol, bindings);
  }
  return {};
}

// Evaluates dims that are expressions, such as N + 1. If a dim of the input has another size, stores a
// description of the first such dim in `conflict`.
void CheckExpressions(const Value& v, const Datum& d, const SymbolValues& values, std::string& conflict) {
  if (!d.is_tensor() || !v.type.tensor() || v.type.shape.rank() != d.tensor.rank()) return;
  for (size_t i = 0; i < v.type.shape.dims.size(); ++i) {
    const auto want = v.type.shape.dims[i].Evaluate(values);
    if (want && *want != d.tensor.dims()[i] && conflict.empty())
      conflict = Mismatch(v, d, StrCat(": dimension ", i, " is ", d.tensor.dims()[i], " instead of ", *want))
                     .message();
  }
}

Status CheckElements(const Value& v, const Type& type, const Datum& d, const Datum& whole);

// Checks an element of a sequence or a value of a map. `whole` is the input that contains it.
Status CheckElement(const Value& v, const Type& type, const Datum& d, const Datum& whole) {
  if (!type.tensor()) return CheckElements(v, type, d, whole);
  if (type.dtype == DType::kInvalid || (d.is_tensor() && d.tensor.dtype() == type.dtype)) return {};
  return Mismatch(v, whole, StrCat(" with element ", d.Describe()));
}

Status CheckElements(const Value& v, const Type& type, const Datum& d, const Datum& whole) {
  const std::string inside = &d == &whole ? "" : StrCat(" with element ", d.Describe());
  if (type.kind == Type::Kind::kSequence) {
    if (!d.is_sequence()) return Mismatch(v, whole, inside);
    for (const Datum& item : *d.sequence)
      if (type.element) TERN_TRY(CheckElement(v, *type.element, item, whole));
  }
  if (type.kind == Type::Kind::kMap) {
    if (d.kind != Datum::Kind::kMap) return Mismatch(v, whole, inside);
    if (type.dtype != DType::kInvalid && d.map->keys.dtype() != type.dtype)
      return Mismatch(v, whole, StrCat(" with keys of type ", DTypeName(d.map->keys.dtype())));
    for (const Datum& item : d.map->values)
      if (type.element) TERN_TRY(CheckElement(v, *type.element, item, whole));
  }
  return {};
}

Status CheckOne(const Value& v, const Datum& d, Bindings& bindings) {
  Type type = v.type;
  if (d.kind == Datum::Kind::kEmpty)
    return InvalidArgument("input '", v.name, "' (", type.ToString(), ") was not fed");
  if (type.kind == Type::Kind::kOptional) {
    if (d.is_none()) return {};
    type = type.element ? *type.element : Type();
  }
  if (type.kind != Type::Kind::kTensor) return CheckElements(v, type, d, d);
  return d.is_tensor() ? CheckTensor(v, type, d, bindings) : Mismatch(v, d, "");
}

bool HasUnknownDims(const Type& type) { return type.tensor() && !type.shape.fully_known(); }

}  // namespace

Status BlameInputs(Status status, const Graph& graph, const std::vector<const Datum*>& inputs) {
  if (status.code() != Code::kInvalidModel) return status;
  std::string given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = *graph.inputs()[i];
    if (HasUnknownDims(v.type) && inputs[i]->is_tensor())
      given += StrCat(given.empty() ? "" : ", ", "input '", v.name, "' got ", inputs[i]->Describe(), " for ",
                      v.type.ToString());
  }
  if (given.empty()) return status;
  return InvalidArgument("the model does not run with these dims: ", given, "; ", status.message());
}

Result<std::string> CheckInputs(const Graph& graph, const std::vector<const Datum*>& inputs) {
  Bindings bindings;
  for (size_t i = 0; i < inputs.size(); ++i) TERN_TRY(CheckOne(*graph.inputs()[i], *inputs[i], bindings));
  SymbolValues values;
  for (const auto& [name, binding] : bindings.symbols) values[name] = binding.value;
  for (size_t i = 0; i < inputs.size(); ++i)
    CheckExpressions(*graph.inputs()[i], *inputs[i], values, bindings.conflict);
  if (!bindings.conflict.empty() && HasExactSymbols(graph)) return InvalidArgument(bindings.conflict);
  return bindings.conflict;
}

}  // namespace tern
