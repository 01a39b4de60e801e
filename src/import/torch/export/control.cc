// Converts higher-order operators, whose arguments include graphs.
#include "import/torch/aten/emit.h"
#include "import/torch/export/graph_reader.h"

namespace tern::torch {
namespace {

// The arguments of a higher-order operator, in order.
struct Operand {
  std::optional<Json> graph;
  Arg arg;
};

Result<std::vector<Operand>> OperandsOf(const GraphReader& reader, Json node) {
  std::vector<Operand> out;
  TERN_ASSIGN(const auto inputs, ArrayIn(node, "inputs"));
  for (const Json input : inputs) {
    TERN_ASSIGN(const Json json, Member(input, "arg"));
    Operand o;
    if (const auto graph = Find(json, "as_graph")) {
      TERN_ASSIGN(const Json body, Member(*graph, "graph"));
      o.graph = body;
    } else {
      TERN_ASSIGN(o.arg, ReadArgument(json, reader.names));
    }
    out.push_back(std::move(o));
  }
  return out;
}

struct HigherOrder {
  GraphReader& reader;
  const Place& place;
  std::vector<Operand> operands;

  Status Bad(std::string_view what) const {
    return InvalidModel("node '", place.name, "' (", place.origin, "): ", what);
  }
  bool GraphAt(size_t i) const { return i < operands.size() && operands[i].graph.has_value(); }
  bool ListAt(size_t i) const { return i < operands.size() && operands[i].arg.list(); }
  Builder Start() const {
    Builder b(reader.context.graph());
    b.At(place.name, place.origin);
    return b;
  }
};

Result<std::vector<Value*>> ValuesOf(const HigherOrder& h, const std::vector<Arg>& args, Builder& b) {
  std::vector<Value*> values;
  for (const Arg& a : args) {
    TERN_ASSIGN(Value * v, h.reader.ValueOf(a, b));
    values.push_back(v);
  }
  return values;
}

std::vector<Arg> Tensors(const std::vector<Value*>& values, const std::vector<Arg>* like = nullptr) {
  std::vector<Arg> out;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool number = like && i < like->size() && (*like)[i].number();
    out.push_back(number ? Arg::Computed(values[i]) : Arg::Of(TorchContext::NewTensor(values[i])));
  }
  return out;
}

std::vector<Arg> Joined(const std::vector<Arg>& a, const std::vector<Arg>& b) {
  std::vector<Arg> out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

Result<Value*> Condition(const HigherOrder& h, const Arg& arg, Builder& b) {
  TERN_ASSIGN(Value * v, h.reader.ValueOf(arg, b));
  Emit e(b);
  v = e.Cast(v, DType::kBool);
  return v->type.shape.rank() == 0 ? v : b.Op("Reshape", {v, b.Ints({})});
}

// cond(predicate, true graph, false graph, operands)
Result<std::vector<Arg>> Cond(HigherOrder& h) {
  if (!h.GraphAt(1) || !h.GraphAt(2) || !h.ListAt(3))
    return h.Bad("cond needs a condition, two graphs and a list");
  const std::vector<Arg>& args = h.operands[3].arg.items;
  const Arg& predicate = h.operands[0].arg;
  if (predicate.known()) return h.reader.Inline(*h.operands[predicate.integer ? 1 : 2].graph, args);
  Builder b = h.Start();
  TERN_ASSIGN(Value * condition, Condition(h, predicate, b));
  TERN_ASSIGN(const auto outputs, ArrayIn(*h.operands[1].graph, "outputs"));
  Node* node = b.Open("If", {condition}, {}, static_cast<int>(outputs.size()));
  std::vector<Arg> shown;
  for (const int branch : {1, 2}) {
    Graph* sub = b.graph().AddSubgraph(node, branch == 1 ? "then" : "else");
    TERN_TRY(h.reader.FillSubgraph(*sub, h.place, [&]() -> Result<std::vector<Arg>> {
      TERN_ASSIGN(auto results, h.reader.Inline(*h.operands[static_cast<size_t>(branch)].graph, args));
      shown = results;
      return results;
    }));
    if (sub->outputs().size() != node->outputs().size())
      return h.Bad("the branches differ in their number of results");
  }
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  return Tensors(node->outputs(), &shown);
}

// while_loop(condition graph, body graph, carried values, additional values)
Result<std::vector<Arg>> WhileLoop(HigherOrder& h) {
  if (!h.GraphAt(0) || !h.GraphAt(1) || !h.ListAt(2)) return h.Bad("while_loop needs two graphs and a list");
  const std::vector<Arg> carried = h.operands[2].arg.items;
  const std::vector<Arg> more = h.ListAt(3) ? h.operands[3].arg.items : std::vector<Arg>();
  const Json test = *h.operands[0].graph, step = *h.operands[1].graph;
  Builder b = h.Start();
  TERN_ASSIGN(const std::vector<Value*> states, ValuesOf(h, carried, b));
  TERN_ASSIGN(const auto first, h.reader.Inline(test, Joined(carried, more)));
  if (first.size() != 1) return h.Bad("the condition must have one result");
  TERN_ASSIGN(Value * start, Condition(h, first[0], b));
  std::vector<Value*> inputs = {nullptr, start};
  inputs.insert(inputs.end(), states.begin(), states.end());
  Node* node = b.Open("Loop", inputs, {}, static_cast<int>(states.size()));
  Graph* sub = b.graph().AddSubgraph(node, "body");
  sub->AddInput("iteration", Type::TensorOf(DType::kI64, Shape(std::vector<Dim>{})));
  sub->AddInput("condition", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  std::vector<Value*> inner;
  for (size_t i = 0; i < states.size(); ++i)
    inner.push_back(sub->AddInput(StrCat("state_", i), states[i]->type));
  TERN_TRY(h.reader.FillSubgraph(*sub, h.place, [&]() -> Result<std::vector<Arg>> {
    TERN_ASSIGN(const auto next, h.reader.Inline(step, Joined(Tensors(inner, &carried), more)));
    if (next.size() != states.size()) return h.Bad("the body does not return all carried values");
    TERN_ASSIGN(const auto again, h.reader.Inline(test, Joined(next, more)));
    Builder inside(*sub);
    TERN_ASSIGN(Value * flag, Condition(h, again.at(0), inside));
    TERN_TRY(Status(inside.status()));
    return Joined({Arg::Of(TorchContext::NewTensor(flag))}, next);
  }));
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  return Tensors(node->outputs(), &carried);
}

// The type of a slice of x along axis 0.
Type SliceType(const Value* x) {
  Type t = x->type;
  if (t.shape.ranked && !t.shape.dims.empty()) t.shape.dims.erase(t.shape.dims.begin());
  return t;
}

// Emits a Scan of `body` over axis 0 of `xs`.
Result<std::vector<Arg>> EmitScan(HigherOrder& h, Json body, const std::vector<Arg>& init,
                                  const std::vector<Arg>& xs, const std::vector<Arg>& more) {
  Builder b = h.Start();
  TERN_ASSIGN(const std::vector<Value*> states, ValuesOf(h, init, b));
  TERN_ASSIGN(const std::vector<Value*> scanned, ValuesOf(h, xs, b));
  std::vector<Value*> inputs = states;
  inputs.insert(inputs.end(), scanned.begin(), scanned.end());
  TERN_ASSIGN(const auto outputs, ArrayIn(body, "outputs"));
  Node* node = b.Open("Scan", inputs, {{"scan_inputs", static_cast<int64_t>(scanned.size())}},
                      static_cast<int>(outputs.size()));
  Graph* sub = b.graph().AddSubgraph(node, "body");
  std::vector<Value*> inner;
  for (size_t i = 0; i < states.size(); ++i)
    inner.push_back(sub->AddInput(StrCat("state_", i), states[i]->type));
  for (size_t i = 0; i < scanned.size(); ++i)
    inner.push_back(sub->AddInput(StrCat("slice_", i), SliceType(scanned[i])));
  TERN_TRY(h.reader.FillSubgraph(*sub, h.place,
                                 [&] { return h.reader.Inline(body, Joined(Tensors(inner), more)); }));
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  return Tensors(node->outputs());
}

// scan(body graph, initial states, scanned values, additional values)
Result<std::vector<Arg>> Scan(HigherOrder& h) {
  if (!h.GraphAt(0) || !h.ListAt(1) || !h.ListAt(2)) return h.Bad("scan needs a graph and two lists");
  return EmitScan(h, *h.operands[0].graph, h.operands[1].arg.items, h.operands[2].arg.items,
                  h.ListAt(3) ? h.operands[3].arg.items : std::vector<Arg>());
}

// map_impl(body graph, mapped values, additional values)
Result<std::vector<Arg>> Map(HigherOrder& h) {
  if (!h.GraphAt(0) || !h.ListAt(1)) return h.Bad("map needs a graph and a list");
  return EmitScan(h, *h.operands[0].graph, {}, h.operands[1].arg.items,
                  h.ListAt(2) ? h.operands[2].arg.items : std::vector<Arg>());
}

// Operators that call a graph. The arguments after the graph are its inputs. The arguments before the graph,
// such as a mode of PyTorch, do not change results and are ignored.
Result<std::vector<Arg>> Wrap(HigherOrder& h) {
  for (size_t i = 0; i < h.operands.size(); ++i) {
    if (!h.GraphAt(i)) continue;
    std::vector<Arg> args;
    for (size_t k = i + 1; k < h.operands.size(); ++k) args.push_back(h.operands[k].arg);
    if (args.size() == 1 && args[0].list()) args = std::vector<Arg>(args[0].items);
    return h.reader.Inline(*h.operands[i].graph, args);
  }
  return h.Bad("a graph is missing");
}

// invoke_subgraph(graph, identifier, operands …).
Result<std::vector<Arg>> InvokeSubgraph(HigherOrder& h) {
  if (h.operands.size() < 2 || !h.GraphAt(0) || h.GraphAt(1))
    return h.Bad("a graph or its identifier is missing");
  h.operands.erase(h.operands.begin() + 1);
  return Wrap(h);
}

// with_effects(token, operator, arguments …) calls an operator that has a side effect, such as assertions.
// The token orders these calls. Tern ignores it, because the order does not change results.
Result<std::vector<Arg>> WithEffects(HigherOrder& h) {
  if (h.operands.size() < 2 || h.operands[1].arg.kind != Arg::Kind::kString)
    return h.Bad("an operator is missing");
  std::vector<Arg> args;
  for (size_t i = 2; i < h.operands.size(); ++i) args.push_back(h.operands[i].arg);
  std::string op = OperatorOfTarget(h.operands[1].arg.text);
  if (op.empty()) op = h.operands[1].arg.text;
  TERN_ASSIGN(const auto results, Call(h.reader.context, op, args, {}, h.place));
  return Joined({Arg::None()}, results);
}

using Function = Result<std::vector<Arg>> (*)(HigherOrder&);
const std::map<std::string, Function>& Functions() {
  static const auto* table = new std::map<std::string, Function>{{"cond", Cond},
                                                                 {"while_loop", WhileLoop},
                                                                 {"scan", Scan},
                                                                 {"map", Map},
                                                                 {"map_impl", Map},
                                                                 {"wrap_with_set_grad_enabled", Wrap},
                                                                 {"wrap_with_autocast", Wrap},
                                                                 {"wrap", Wrap},
                                                                 {"tag_activation_checkpoint", Wrap},
                                                                 {"with_effects", WithEffects},
                                                                 {"invoke_subgraph", InvokeSubgraph}};
  return *table;
}

}  // namespace

bool SupportsHigherOrder(const std::string& name) { return Functions().count(name) > 0; }

Result<std::vector<Arg>> CallHigherOrder(GraphReader& reader, const std::string& name, Json node,
                                         const Place& place) {
  const auto it = Functions().find(name);
  if (it == Functions().end()) return Unsupported("operator ", name, " of node '", place.name, "'");
  TERN_ASSIGN(std::vector<Operand> operands, OperandsOf(reader, node));
  HigherOrder h{reader, place, std::move(operands)};
  return it->second(h);
}

}  // namespace tern::torch
