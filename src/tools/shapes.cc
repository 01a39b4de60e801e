#include "tools/shapes.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "load/input_types.h"
#include "passes/batch/set_batch.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

struct Assignment {
  std::string name, value;
};

Result<Assignment> SplitAssignment(const std::string& text, const char* option) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0)
    return InvalidArgument(option, " must be NAME=VALUE, got '", text, "'");
  return Assignment{text.substr(0, at), text.substr(at + 1)};
}

// Fails if a dim of an input has a fixed size other than `value`. If the dim is a symbol, sets the symbol to
// `value` in `symbols`, and fails if the symbol already has another size. `source` says in messages where the
// size comes from.
Status BindDim(const Value& input, size_t axis, int64_t value, const char* source, SymbolValues& symbols) {
  const Dim& dim = input.type.shape.dims[axis];
  if (dim.known() && dim.value() != value)
    return InvalidArgument(source, " sets dim ", axis, " of input '", input.name, "' to ", value,
                           ", but in the model it is ", dim.value());
  if (!dim.symbolic()) return {};
  std::vector<std::string> names;
  dim.CollectSymbols(names);
  if (names.size() != 1 || dim != Dim::Symbol(names[0])) return {};
  const auto [it, fresh] = symbols.emplace(names[0], value);
  if (!fresh && it->second != value)
    return InvalidArgument("dim '", names[0], "' is ", it->second, ", but it is ", value, " in input '",
                           input.name, "'");
  return {};
}

Status ApplyShape(Value& input, const Dims& dims, const char* source, SymbolValues& symbols) {
  Shape& shape = input.type.shape;
  if (!input.type.tensor())
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", not a tensor");
  if (shape.ranked && shape.dims.size() != dims.size())
    return InvalidArgument(source, " has ", dims.size(), " dims for input '", input.name,
                           "', but in the model it is ", shape.ToString());
  for (size_t i = 0; i < dims.size() && shape.ranked; ++i)
    TERN_TRY(BindDim(input, i, dims[i], source, symbols));
  shape = Shape::Of(dims);
  return {};
}

std::set<std::string> OpenSymbols(const Graph& graph) {
  std::set<std::string> names;
  for (const Value* v : graph.inputs()) {
    std::vector<std::string> found;
    for (const Dim& d : v->type.shape.dims) d.CollectSymbols(found);
    names.insert(found.begin(), found.end());
  }
  return names;
}

// Replaces symbols by sizes in the types of all values. Inference does not do this for declared types that it
// cannot derive.
void Substitute(Graph& graph, const SymbolValues& symbols) {
  for (const auto& v : graph.values())
    for (Dim& d : v->type.shape.dims) d = d.Substitute(symbols);
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) Substitute(*sub, symbols);
}

std::string Names(const std::set<std::string>& names) {
  return Join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

Status UnknownDim(const std::string& text, const std::set<std::string>& known) {
  if (!known.empty()) return NotFound("--dim ", text, ": the model's open dims are: ", Names(known));
  return NotFound("--dim ", text, ": the model has no open dim with a name; use --shape NAME=… to set the ",
                  "dims of an input");
}

// Sets the open dims of the inputs to `size`. Returns their names in the form "input[axis]".
Result<std::vector<std::string>> CloseUnnamed(const Graph& graph, int64_t size) {
  std::vector<std::string> closed;
  for (Value* v : graph.inputs()) {
    if (!v->type.tensor()) continue;
    if (!v->type.shape.ranked)
      return InvalidArgument("the rank of input '", v->name, "' is unknown; use --shape ", v->name, "=…");
    for (size_t i = 0; i < v->type.shape.dims.size(); ++i) {
      Dim& d = v->type.shape.dims[i];
      if (d.known()) continue;
      closed.push_back(StrCat(v->name, "[", i, "]"));
      d = size;
    }
  }
  return closed;
}

// Converts the error "invalid model" to "invalid argument", because the cause is a size that the user chose.
Status Chosen(Status status, const std::string& source) {
  if (status.code() != Code::kInvalidModel) return status;
  return InvalidArgument("the model does not run with the sizes of ", source, ": ", status.message());
}

void SayClosed(const std::string& names, int64_t size, const char* option) {
  if (!names.empty())
    std::fprintf(stderr, "tern: note: open dims set to %lld: %s (choose with %s)\n",
                 static_cast<long long>(size), Printable(names).c_str(), option);
}

}  // namespace

namespace {

// Parses the value of --shape: dims such as 1x3x224x224, or a type such as f32[N,3,224,224].
Result<Type> ParseShape(const std::string& text) {
  if (text.find('[') == std::string::npos) {
    TERN_ASSIGN(const Dims dims, ParseDims(text));
    return Type::TensorOf(DType::kInvalid, Shape::Of(dims));
  }
  return load::ParseInputType(text);
}

}  // namespace

Result<std::map<std::string, Type>> ShapeOptions::InputTypes() const {
  std::map<std::string, Type> types;
  for (const std::string& text : shapes_) {
    TERN_ASSIGN(const Assignment a, SplitAssignment(text, "--shape"));
    TERN_ASSIGN(types[a.name], ParseShape(a.value));
  }
  return types;
}

void ShapeOptions::Declare(Args& args, const std::string& effect) {
  const std::string suffix = effect.empty() ? "" : ", " + effect;
  args.Option("--shape", shapes_, "NAME=1x3x224x224",
              "set the dims of an input" + suffix +
                  "; NAME=f32[N,3,8,8] gives a type to a model without types (repeatable)");
  args.Option("--dim", dims_, "N=8", "set the size of a symbolic dim" + suffix + " (repeatable)");
  args.Option("--batch", batch_, "N", "set the batch size, also of a model with a fixed batch size" + suffix,
              1, INT64_MAX);
}

Result<Dims> ParseDims(const std::string& text) {
  Dims dims;
  if (text.empty() || text == "scalar") return dims;
  for (const std::string& part : SplitText(text, 'x')) {
    int64_t v = 0;
    if (!ParseInt(part, v) || v < 0)
      return InvalidArgument("'", text, "' is not a list of dims such as 1x3x224x224");
    dims.push_back(v);
  }
  if (!CheckedCount(dims, DType::kF64)) return InvalidArgument("a tensor with dims ", text, " is too large");
  return dims;
}

Result<Value*> FindInput(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const auto* list : {&graph.inputs(), &graph.overridable()})
    for (Value* v : *list) {
      if (v->name == name) return v;
      if (list == &graph.inputs()) names.push_back(v->name);
    }
  return NotFound("the model has no input '", name,
                  "'; its inputs are: ", names.empty() ? "none" : Join(names, ", "));
}

Status ShapeOptions::ApplyBatch(Graph& graph) const {
  return batch_ ? SetBatch(graph, batch_).While(StrCat("setting --batch ", batch_)) : Status();
}

Status ShapeOptions::Apply(Graph& graph) const {
  TERN_TRY(ApplyBatch(graph));
  if (shapes_.empty() && dims_.empty()) return {};
  SymbolValues symbols;
  const std::set<std::string> known = OpenSymbols(graph);
  for (const std::string& text : dims_) {
    TERN_ASSIGN(const Assignment a, SplitAssignment(text, "--dim"));
    int64_t v = 0;
    if (!ParseInt(a.value, v) || v < 0)
      return InvalidArgument("--dim ", text, ": '", a.value, "' is not a size");
    if (!known.count(a.name)) return UnknownDim(text, known);
    const auto [it, fresh] = symbols.emplace(a.name, v);
    if (!fresh && it->second != v)
      return InvalidArgument("--dim sets '", a.name, "' to ", it->second, " and to ", v);
  }
  for (const std::string& text : shapes_) {
    TERN_ASSIGN(const Assignment a, SplitAssignment(text, "--shape"));
    TERN_ASSIGN(Value * input, FindInput(graph, a.name));
    TERN_ASSIGN(const Type type, ParseShape(a.value));
    const bool same = type.ToString() == input->type.ToString();
    if (type.dtype != DType::kInvalid &&
        (type.dtype != input->type.dtype || (!type.shape.fully_known() && !same)))
      return InvalidArgument("--shape ", text, ": input '", a.name, "' is ", input->type.ToString());
    if (!same) TERN_TRY(ApplyShape(*input, type.shape.Concrete(), "--shape", symbols));
  }
  Substitute(graph, symbols);
  return Chosen(InferGraph(graph), "--shape and --dim").While("inferring shapes from --shape and --dim");
}

Status CloseOpenDims(Graph& graph, const Feeds& given) {
  const auto is_given = [&](const Value* v) { return given.count(v->name) > 0; };
  if (std::all_of(graph.inputs().begin(), graph.inputs().end(), is_given)) return {};
  SymbolValues symbols;
  for (Value* v : graph.inputs()) {
    const auto it = given.find(v->name);
    if (it != given.end() && it->second.is_tensor() && v->type.tensor())
      TERN_TRY(ApplyShape(*v, it->second.tensor.dims(), "the file", symbols));
  }
  Substitute(graph, symbols);
  const std::set<std::string> named = OpenSymbols(graph);
  const int64_t size = SmallestSize(graph);
  SymbolValues sizes;
  for (const std::string& name : named) sizes[name] = size;
  Substitute(graph, sizes);
  TERN_ASSIGN(const std::vector<std::string> unnamed, CloseUnnamed(graph, size));
  SayClosed(Names(named), size, "--dim or --shape");
  SayClosed(Join(unnamed, ", "), size, "--shape");
  if (symbols.empty() && given.empty() && named.empty() && unnamed.empty()) return {};
  return Chosen(InferGraph(graph), StrCat("the given inputs, and ", size, " for open dims"))
      .While("inferring shapes for random inputs");
}

int64_t SmallestSize(const Graph& graph) {
  for (int64_t size : {1, 2, 16, 64, 512, 4096, 16000}) {
    std::unique_ptr<Graph> copy = graph.Clone();
    if (FillOpenDims(*copy, size).ok()) return size;
  }
  return 1;
}

Status FillOpenDims(Graph& graph, int64_t size) {
  SymbolValues sizes;
  for (const std::string& name : OpenSymbols(graph)) sizes[name] = size;
  Substitute(graph, sizes);
  TERN_TRY(CloseUnnamed(graph, size).TakeStatus());
  return InferGraph(graph).While(StrCat("inferring shapes with open dims at ", size));
}

Result<std::pair<std::string, std::string>> SplitPair(const std::string& text, const char* form) {
  const size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0)
    return InvalidArgument("'", text, "' is not of the form ", form);
  return std::pair(text.substr(0, equal), text.substr(equal + 1));
}

}  // namespace tern::tools
