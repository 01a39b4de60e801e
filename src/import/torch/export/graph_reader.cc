#include "import/torch/export/graph_reader.h"

#include "import/torch/aten/emit.h"
#include "import/torch/export/expression.h"

namespace tern::torch {
namespace {

constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

// Returns the path of the module that the node belongs to, from text such as
// "L__self__,,Net;L__self___l1,l1,torch.nn.modules.linear.Linear".
std::string ModuleOf(Json node) {
  const auto metadata = Find(node, "metadata");
  const auto stack = metadata ? Find(*metadata, "nn_module_stack") : std::nullopt;
  std::string_view text;
  if (!stack || stack->get(text)) return {};
  text.remove_prefix(text.rfind(';') + 1);  // npos + 1 is 0
  const size_t first = text.find(','),
               second = first == std::string_view::npos ? first : text.find(',', first + 1);
  if (second == std::string_view::npos) return {};
  const std::string_view path = text.substr(first + 1, second - first - 1);
  return StartsWith(path, "_empty_nn_module") ? std::string() : std::string(path);
}

Result<Place> PlaceOf(Json node, const std::string& target, int index) {
  std::string name;
  if (const auto given = Find(node, "name")) {
    TERN_ASSIGN(name, TextOf(*given));
  }
  if (name.empty()) {
    std::vector<std::string> outputs;
    TERN_ASSIGN(const auto array, ArrayIn(node, "outputs"));
    for (const Json o : array) TERN_TRY(NamesOfOutput(o, outputs));
    name = outputs.empty() ? StrCat("#", index) : outputs[0];
  }
  const std::string module = ModuleOf(node);
  return Place{module.empty() ? name : StrCat(module, "/", name), StrCat(target, ", pt2 node #", index)};
}

}  // namespace

std::string OperatorOfTarget(const std::string& target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!StartsWith(target, kOps) || StartsWith(target, kHigherOrder)) return {};
  const std::string rest = target.substr(kOps.size());
  const size_t dot = rest.find('.');
  return dot == std::string::npos ? std::string() : StrCat(rest.substr(0, dot), "::", rest.substr(dot + 1));
}

std::string ScalarKindOfTarget(const std::string& target) {
  static const std::map<std::string, const char*> kKinds = {{"_operator.add", "add"},
                                                            {"_operator.sub", "sub"},
                                                            {"_operator.mul", "mul"},
                                                            {"_operator.truediv", "truediv"},
                                                            {"_operator.floordiv", "floordiv"},
                                                            {"_operator.mod", "mod"},
                                                            {"_operator.pow", "pow"},
                                                            {"_operator.eq", "eq"},
                                                            {"_operator.ne", "ne"},
                                                            {"_operator.lt", "lt"},
                                                            {"_operator.le", "le"},
                                                            {"_operator.gt", "gt"},
                                                            {"_operator.ge", "ge"},
                                                            {"_operator.and_", "and"},
                                                            {"_operator.or_", "or"},
                                                            {"_operator.xor", "xor"},
                                                            {"_operator.neg", "neg"},
                                                            {"_operator.not_", "not"},
                                                            {"_operator.pos", "to_same"},
                                                            {"torch.sym_float", "to_float"},
                                                            {"torch.sym_int", "to_int"},
                                                            {"torch.sym_not", "not"},
                                                            {"torch.sym_max", "max"},
                                                            {"torch.sym_min", "min"},
                                                            {"math.trunc", "trunc"},
                                                            {"math.floor", "floor"},
                                                            {"math.ceil", "ceil"},
                                                            {"math.sqrt", "sqrt"},
                                                            {"torch._sym_sqrt", "sqrt"},
                                                            {"builtins.round", "round"},
                                                            {"builtins.abs", "abs"},
                                                            {"builtins.max", "max"},
                                                            {"builtins.min", "min"},
                                                            {"_operator.abs", "abs"}};
  const auto it = kKinds.find(target);
  return it == kKinds.end() ? std::string() : it->second;
}

Result<int64_t> ListUnsupported(Json graph, import::UnsupportedOperators& missing, int depth) {
  if (depth > kMaxGraphDepth) return InvalidModel("graphs nest deeper than ", kMaxGraphDepth);
  TERN_ASSIGN(const auto nodes, ArrayIn(graph, "nodes"));
  int index = 0;
  int64_t inside = 0;  // the number of nodes in nested graphs
  for (const Json node : nodes) {
    TERN_ASSIGN(const std::string target, TextIn(node, "target"));
    TERN_ASSIGN(const auto inputs, ArrayIn(node, "inputs"));
    for (const Json input : inputs) {
      const auto arg = Find(input, "arg");
      const auto inner = arg ? Find(*arg, "as_graph") : std::nullopt;
      const auto body = inner ? Find(*inner, "graph") : std::nullopt;
      if (!body) continue;
      TERN_ASSIGN(const int64_t count, ListUnsupported(*body, missing, depth + 1));
      inside += count;
    }
    const std::string op = OperatorOfTarget(target);
    const bool known = !op.empty() ? Supports(op)
                       : StartsWith(target, kHigherOrder)
                           ? SupportsHigherOrder(target.substr(kHigherOrder.size()))
                           : !ScalarKindOfTarget(target).empty();
    TERN_ASSIGN(const Place place, PlaceOf(node, target, index++));
    if (!known) missing.Add(op.empty() ? target : op, StrCat("'", place.name, "'"));
  }
  return index + inside;
}

Result<Value*> GraphReader::ValueOf(const Arg& arg, Builder& b) const {
  if (arg.is_tensor()) return context.Read(*arg.tensor, b);
  if (arg.number()) return ScalarValue(b, arg);
  return Unsupported("a tensor or number is needed, got ", arg.Describe());
}

Result<std::vector<Arg>> GraphReader::CallAten(const std::string& op, Json node, const Place& place) {
  std::vector<Arg> positional;
  Keywords keywords;
  TERN_ASSIGN(const auto inputs, ArrayIn(node, "inputs"));
  for (const Json input : inputs) {
    TERN_ASSIGN(std::string name, TextIn(input, "name"));
    TERN_ASSIGN(const Json json, Member(input, "arg"));
    auto arg = ReadArgument(json, names);
    if (!arg.ok())
      return Status(arg.status().code(),
                    StrCat("node '", place.name, "' (", place.origin, "): ", arg.status().message()));
    if (name.empty())
      positional.push_back(std::move(*arg));
    else
      keywords.emplace_back(std::move(name), std::move(*arg));
  }
  return Call(context, op, positional, keywords, place);
}

Result<std::vector<Arg>> GraphReader::RunTarget(const std::string& target, Json node, const Place& place) {
  const std::string op = OperatorOfTarget(target);
  if (!op.empty()) return CallAten(op, node, place);
  if (StartsWith(target, kHigherOrder))
    return CallHigherOrder(*this, target.substr(kHigherOrder.size()), node, place);
  const std::string kind = ScalarKindOfTarget(target);
  if (kind.empty()) return Unsupported("operator ", target, " of node '", place.name, "'");
  std::vector<Arg> args;
  TERN_ASSIGN(const auto inputs, ArrayIn(node, "inputs"));
  for (const Json input : inputs) {
    TERN_ASSIGN(const Json json, Member(input, "arg"));
    TERN_ASSIGN(Arg arg, ReadArgument(json, names));
    args.push_back(std::move(arg));
  }
  if (kind == "to_same") return args;
  TERN_ASSIGN(Arg result, ScalarOp(context, kind, args, place));
  return std::vector<Arg>{std::move(result)};
}

// Returns whether the strides are those of row-major order. The strides of dims of size 1 do not matter.
static bool RowMajor(const TensorMeta& meta) {
  Dim expected(1);
  for (size_t i = meta.sizes.size(); i-- > 0;) {
    if (!meta.sizes[i].Is(1) && !(meta.strides[i] == expected)) return false;
    expected = expected * meta.sizes[i];
  }
  return true;
}

// Completes the inferred type of a value by the sizes in the file. Sizes with symbols that occur in no input
// become unknown, because nothing would bind these symbols.
void GraphReader::Refine(Json graph, const std::string& name) {
  const auto it = names.find(name);
  const auto metas = Find(graph, "tensor_values");
  const auto json = metas ? Find(*metas, name) : std::nullopt;
  if (it == names.end() || !it->second.is_tensor() || !json) return;
  Builder b(context.graph());
  auto value = context.Read(*it->second.tensor, b);
  auto meta = ReadTensorMeta(*json);
  if (!value.ok() || !meta.ok() || (*value)->is_constant()) return;
  if (context.graph().parent == nullptr && (*value)->name.empty()) (*value)->name = name;
  if (meta->strides.size() == meta->sizes.size() && !meta->sizes.empty())
    it->second.tensor->dense = RowMajor(*meta);
  for (Dim& d : meta->sizes)
    if (!OnlyUses(d, symbols_)) d = Dim::Unknown();
  if (it->second.tensor->complex != meta->complex) return;
  RefineType((*value)->type, meta->type());
}

Status GraphReader::ReadNode(Json node, int index) {
  if (!nodes_.Count())  // the condition of each while_loop is inlined twice
    return Unsupported("the program has more than ", nodes_.most(),
                       " nodes once its nested graphs are inlined");
  TERN_ASSIGN(const std::string target, TextIn(node, "target"));
  TERN_ASSIGN(const Place place, PlaceOf(node, target, index));
  TERN_ASSIGN(const std::vector<Arg> results, RunTarget(target, node, place));
  TERN_ASSIGN(const auto outputs, ArrayIn(node, "outputs"));
  if (outputs.size() == 1 && results.size() > 1) {
    const Status bound = BindOutput(outputs.at(0), Arg::List(results), names);
    if (bound.ok()) return bound;
  }
  if (outputs.size() > results.size() && results.size() == 1 && results[0].list()) {
    size_t i = 0;
    for (const Json o : outputs)
      if (i < results[0].items.size()) TERN_TRY(BindOutput(o, results[0].items[i++], names));
    return {};
  }
  size_t i = 0;
  for (const Json o : outputs) {
    if (i >= results.size() && Find(o, "as_none")) continue;
    if (i >= results.size())
      return InvalidModel("node '", place.name, "' (", place.origin, ") declares ", outputs.size(),
                          " results, but the operator has ", results.size());
    TERN_TRY(BindOutput(o, results[i++], names));
  }
  return {};
}

Status GraphReader::ReadNodes(Json graph) {
  TERN_ASSIGN(const auto nodes, ArrayIn(graph, "nodes"));
  int index = 0;
  for (const Json node : nodes) {
    TERN_TRY(ReadNode(node, index++));
    std::vector<std::string> outputs;
    TERN_ASSIGN(const auto array, ArrayIn(node, "outputs"));
    for (const Json o : array) TERN_TRY(NamesOfOutput(o, outputs));
    for (const std::string& name : outputs) Refine(graph, name);
  }
  return {};
}

Result<std::vector<Arg>> GraphReader::Outputs(Json graph) const {
  std::vector<Arg> results;
  TERN_ASSIGN(const auto outputs, ArrayIn(graph, "outputs"));
  for (const Json o : outputs) {
    TERN_ASSIGN(Arg arg, ReadArgument(o, names));
    results.push_back(std::move(arg));
  }
  return results;
}

Result<std::vector<Arg>> GraphReader::Inline(Json graph, const std::vector<Arg>& inputs) const {
  if (depth_ >= kMaxGraphDepth) return InvalidModel("graphs nest deeper than ", kMaxGraphDepth);
  GraphReader inner(context, symbols_, nodes_, depth_ + 1);
  TERN_ASSIGN(const auto declared, ArrayIn(graph, "inputs"));
  if (declared.size() != inputs.size())
    return InvalidModel("a nested graph has ", declared.size(), " inputs, but gets ", inputs.size());
  size_t i = 0;
  for (const Json d : declared) TERN_TRY(BindOutput(d, inputs[i++], inner.names));
  TERN_TRY(inner.ReadNodes(graph));
  return inner.Outputs(graph);
}

Status GraphReader::SetOutputs(Graph& subgraph, const std::vector<Arg>& results,
                               const TorchContext::Scope& scope, const Place& place) const {
  if (!scope.WrittenRoots().empty())
    return Unsupported("node '", place.name, "' (", place.origin,
                       "): a nested graph that writes to a tensor of the outer graph");
  Builder b(subgraph);
  b.At(place.name, place.origin);
  std::vector<Value*> values;
  std::set<const Value*> taken;
  for (const Arg& r : results) {
    TERN_ASSIGN(Value * v, ValueOf(r, b));
    if (v->graph != &subgraph || !v->producer || !taken.insert(v).second) v = b.Op("Identity", {v});
    values.push_back(v);
  }
  TERN_TRY(Status(b.status()));
  subgraph.SetOutputs(values);
  return {};
}

}  // namespace tern::torch
