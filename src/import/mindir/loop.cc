// Functions that call themselves become Loop. MindSpore writes `while` as a function H that ends with the
// call Switch(condition, B, A): B is the body, which ends with a call of H, and A is the rest of the program.
#include "import/mindir/graph_importer.h"

namespace tern::mindir {

struct GraphImporter::Loop {
  const pb::GraphProto& function;
  const std::vector<Item>& arguments;
  std::string name;
  size_t body_branch = 1;       // which function of the Switch is the body: 1 or 2
  std::vector<Value*> initial;  // the tensors of the arguments
  std::vector<bool> constant;   // per tensor: every iteration passes it on unchanged
  Value* condition = nullptr;   // whether the first iteration runs
  // Set for a loop that `break` or `return` may leave: zeros with the structure of the result of leaving the
  // loop. The loop then has further states, which are this result and a bool that says whether the loop was
  // left.
  std::optional<Item> leaving;
};

namespace {

// Returns the name of the node that computes the function's result. Skips Depend nodes, which return their
// first input. Returns "" if there is no such node.
std::string TailOf(const pb::GraphProto& function, const ModelContext& context) {
  if (function.output_size() != 1) return {};
  std::string name = function.output(0).name();
  for (int i = function.node_size(); i-- > 0;) {
    const pb::NodeProto& node = function.node(i);
    if (node.output_size() != 1 || node.output(0) != name) continue;
    if (FindPrimitive(context, node).name != "Depend" || node.input_size() == 0) return name;
    name = node.input(0);
  }
  return {};
}

// Returns the type of a state. A dim that MindSpore declares as variable may change in each iteration.
Type StateType(Type type, const pb::ValueInfoProto& declared) {
  if (declared.tensor_size() == 0) return type;
  const auto other = TypeFromMindir(declared.tensor(0), "");
  if (!other.ok()) return type;
  if (other->shape.rank() != type.shape.rank()) type.shape = Shape();
  for (size_t i = 0; i < type.shape.dims.size(); ++i)
    if (other->shape.dims[i].unknown()) type.shape.dims[i] = Dim::Unknown();
  return type;
}

}  // namespace

bool GraphImporter::Reaches(std::vector<const pb::GraphProto*> pending, const pb::GraphProto& target) const {
  std::set<const pb::GraphProto*> seen(context_.loops.begin(), context_.loops.end());
  while (!pending.empty()) {
    const pb::GraphProto* next = pending.back();
    pending.pop_back();
    if (next == &target) return true;
    if (!seen.insert(next).second) continue;
    const auto it = context_.references.find(next);
    if (it != context_.references.end()) pending.insert(pending.end(), it->second.begin(), it->second.end());
  }
  return false;
}

bool GraphImporter::StartsLoop(const pb::GraphProto& function) {
  const auto it = context_.references.find(&function);
  if (it == context_.references.end()) return false;
  const auto [place, fresh] = context_.starts_loop.try_emplace({context_.loops, &function});
  if (fresh) place->second = Reaches({it->second.begin(), it->second.end()}, function);
  return place->second;
}

Result<Item> GraphImporter::BindSwitch(const Item& callee, const std::vector<Item>& arguments) const {
  std::vector<Item> items = *callee.items;
  for (size_t i = 1; i < items.size(); ++i) {
    if (!items[i].is(Item::Kind::kFunction))
      return Unsupported("a loop with a Switch of ", items[i].Describe());
    std::vector<Item> bound;
    for (size_t k = 0; k < items[i].size(); ++k) bound.push_back(items[i][k]);
    bound.insert(bound.end(), arguments.begin(), arguments.end());
    items[i].items = std::make_shared<const std::vector<Item>>(std::move(bound));
  }
  return Item::Tuple(std::move(items), Item::Kind::kSwitch);
}

Result<Item> GraphImporter::CallUntilSwitch(const pb::GraphProto& function,
                                            const std::vector<Item>& arguments) {
  GraphImporter head(context_, graph_, this);
  if (head.depth_ > kMaxDepth) return Unsupported("function calls nest deeper than ", kMaxDepth);
  head.stop_at_ = TailOf(function, context_);
  TERN_TRY(head.BindArguments(function, arguments));
  TERN_ASSIGN(Item result, head.RunNodes(function));
  if (head.stop_at_.empty() || !result.is(Item::Kind::kSwitch))
    return Unsupported("function '", function.name(), "' calls itself, but is not a while loop");
  return result;
}

// Adds the inputs of the body. Returns the tensors of the arguments in the body.
Result<std::vector<Value*>> GraphImporter::AddStates(Loop& loop, Graph& body) const {
  body.AddInput("iteration", Type::TensorOf(DType::kI64, Shape(std::vector<Dim>{})));
  body.AddInput("condition", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  std::vector<Value*> states = loop.initial, leaving;
  Builder unused(graph_);
  size_t index = 0;
  for (size_t i = 0; i < loop.arguments.size(); ++i) {
    std::vector<Value*> tensors;
    TERN_TRY(Flatten(loop.arguments[i], unused, tensors));
    for (size_t k = 0; k < tensors.size(); ++k, ++index) {
      if (loop.constant[index]) continue;
      const Type type = StateType(states[index]->type, loop.function.input(static_cast<int>(i)));
      states[index] = body.AddInput(StrCat("state", index), type);
    }
  }
  if (loop.leaving) {
    TERN_TRY(Flatten(*loop.leaving, unused, leaving));
    for (const Value* v : leaving) body.AddInput(StrCat("result", body.inputs().size()), v->type);
    body.AddInput("left", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  }
  return states;
}

Status GraphImporter::FillLoopBody(Loop& loop, Graph& body) {
  TERN_ASSIGN(const std::vector<Value*> states, AddStates(loop, body));
  size_t used = 0;
  const Item arguments = Unflatten(Item::Tuple(loop.arguments), states, used);
  GraphImporter inner(context_, body, this);
  TERN_ASSIGN(Item choice, inner.CallUntilSwitch(loop.function, *arguments.items));
  TERN_ASSIGN(Item again, inner.CallItem(choice[loop.body_branch], {}, pb::NodeProto(), 0));
  const bool leaves = again.is(Item::Kind::kLeave);
  if ((!leaves && !again.is(Item::Kind::kCallAgain)) || again.graph != &loop.function)
    return Unsupported("the loop '", loop.name, "' has a body that does not end with its next iteration");
  const Item next = leaves ? again[1] : Item::Tuple(*again.items);
  if (!SameStructure(next, Item::Tuple(loop.arguments)))
    return Unsupported("the structure of the states of the loop '", loop.name, "' changes");
  TERN_ASSIGN(Item following, inner.CallUntilSwitch(loop.function, *next.items));
  Builder b(body), outside(graph_);
  std::vector<Value*> outputs, leaving;
  TERN_TRY(Flatten(next, b, outputs));
  std::vector<Value*> results = {ConditionOf(b, following[0], loop.body_branch == 2)};
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (loop.constant[i]) continue;
    loop.constant[i] = outputs[i] == states[i];
    results.push_back(outputs[i]);
  }
  if (leaves) {
    TERN_TRY(Flatten(again[2], b, leaving));
    results[0] = b.Op("Binary", {results[0], again[0].value}, {{"kind", "and"}});
    results.insert(results.end(), leaving.begin(), leaving.end());
    results.push_back(b.Op("Unary", {again[0].value}, {{"kind", "not"}}));
    if (!loop.leaving) loop.leaving = Placeholder(outside, again[2]);
  }
  TERN_TRY(Status(b.status()));
  TERN_TRY(Status(outside.status()));
  body.SetOutputs(std::move(results));
  return {};
}

Result<Node*> GraphImporter::AddLoop(Loop& loop) {
  Builder b(graph_);
  b.At(loop.name, "while loop");
  std::vector<Value*> inputs = {nullptr, loop.condition};
  for (size_t i = 0; i < loop.initial.size(); ++i)
    if (!loop.constant[i]) inputs.push_back(loop.initial[i]);
  if (loop.leaving) {
    TERN_TRY(Flatten(*loop.leaving, b, inputs));
    inputs.push_back(b.Const(Tensor::Scalar(DType::kBool, false)));
  }
  Node* node = b.Open("Loop", inputs, {}, static_cast<int>(inputs.size()) - 2);
  Graph* body = graph_.AddSubgraph(node, "body");
  context_.loops.push_back(&loop.function);
  Status filled = FillLoopBody(loop, *body);
  context_.loops.pop_back();
  TERN_TRY(std::move(filled));
  return node;
}

// Calls what follows a loop: the function of the loop's Switch that is not the body. If `break` or `return`
// left the loop, returns their result instead.
Result<Item> GraphImporter::CallRest(const Loop& loop, const Node& node, const pb::NodeProto& call,
                                     int index) {
  std::vector<Value*> final = loop.initial;
  size_t state = 0, used = 0;
  for (size_t i = 0; i < final.size(); ++i)
    if (!loop.constant[i]) final[i] = node.output(static_cast<int>(state++));
  const Item last = Unflatten(Item::Tuple(loop.arguments), final, used);
  const auto rest = [&](GraphImporter& into) -> Result<Item> {
    TERN_ASSIGN(Item choice, into.CallUntilSwitch(loop.function, *last.items));
    return into.CallItem(choice[3 - loop.body_branch], {}, call, index);
  };
  if (!loop.leaving) return rest(*this);
  const std::vector<Value*> leaving(node.outputs().begin() + static_cast<ptrdiff_t>(state),
                                    node.outputs().end() - 1);
  Builder b(graph_);
  b.At(loop.name, "while loop");
  Node* choice = b.Open("If", {node.outputs().back()}, {}, static_cast<int>(leaving.size()));
  graph_.AddSubgraph(choice, "then")->SetOutputs(leaving);
  Graph* other = graph_.AddSubgraph(choice, "else");
  GraphImporter inner(context_, *other, this);
  TERN_ASSIGN(const Item result, rest(inner));
  if (!SameStructure(result, *loop.leaving))
    return Unsupported("the loop '", loop.name, "' returns ", result.Describe(), " at its end, but ",
                       loop.leaving->Describe(), " where it is left");
  Builder inside(*other);
  std::vector<Value*> outputs;
  TERN_TRY(Flatten(result, inside, outputs));
  other->SetOutputs(std::move(outputs));
  b.Finish(choice);
  TERN_TRY(Status(b.status()));
  used = 0;
  return Unflatten(*loop.leaving, choice->outputs(), used);
}

// Builds the loop twice. The first loop finds the states that never change, such as weights, and whether the
// body may leave the loop. The second loop has only the states that change.
Result<Item> GraphImporter::CallLoop(const pb::GraphProto& function, const std::vector<Item>& arguments,
                                     const pb::NodeProto& call, int index) {
  TERN_ASSIGN(Item choice, CallUntilSwitch(function, arguments));
  if (const Tensor* constant = ConstantOf(choice[0]); constant && constant->size() != 1)
    return InvalidModel("the condition of the loop '", ShortName(call.name()), "' is ", constant->Describe());
  Loop loop{function, arguments, ShortName(call.name())};
  const bool first = choice[1].graph && Reaches({choice[1].graph}, function),
             second = choice[2].graph && Reaches({choice[2].graph}, function);
  if (first == second)
    return Unsupported("function '", function.name(), "' calls itself, but is not a while loop");
  loop.body_branch = first ? 1 : 2;
  Builder b(graph_);
  b.At(loop.name, "while loop");
  loop.condition = ConditionOf(b, choice[0], second);
  TERN_TRY(Flatten(Item::Tuple(arguments), b, loop.initial));
  TERN_TRY(Status(b.status()));
  loop.constant.assign(loop.initial.size(), false);
  TERN_ASSIGN(Node * trial, AddLoop(loop));
  graph_.RemoveNode(trial);
  TERN_ASSIGN(Node * node, AddLoop(loop));
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  return CallRest(loop, *node, call, index);
}

}  // namespace tern::mindir
