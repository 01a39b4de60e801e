#include "import/torch/script/interpreter.h"

#include "import/torch/aten/scalar.h"
#include "import/torch/script/branches.h"
#include "import/torch/script/loops.h"
#include "import/torch/script/nesting.h"

namespace tern::torch::script {
namespace {

// The most statements that an import runs. Unrolled loops run their bodies several times.
constexpr int64_t kMaxSteps = 2000000;

}  // namespace

const Item* CallSite::Keyword(std::string_view name) const {
  for (const auto& [key, value] : keywords)
    if (key == name) return &value;
  return nullptr;
}

std::string Interpreter::Where() const {
  if (frames_.empty()) return "the model";
  return StrCat(frames_.back()->name, ", line ", frames_.back()->line);
}

Place Interpreter::PlaceOf(std::string_view op) const {
  if (frames_.empty()) return {std::string(op), std::string(op)};
  const Frame& frame = *frames_.back();
  const std::string_view name = op.substr(std::min(op.size(), op.find("::") + 2));
  return {frame.path.empty() ? std::string(name) : frame.path, StrCat(op, ", ", Where())};
}

Builder Interpreter::NewBuilder(std::string_view op) {
  Builder builder(context.graph());
  const Place place = PlaceOf(op);
  builder.At(place.name, place.origin);
  return builder;
}

Status Interpreter::Raise(const std::string& message) {
  raised_ = true;
  return Bad("the model's code raises an error: ", message);
}

Item Interpreter::NewList(std::vector<Item> items) {
  Item list = heap.Make(Item::Kind::kList);
  list.cell->items = std::move(items);
  return list;
}

Item Interpreter::NewTuple(std::vector<Item> items, std::string type) {
  Item tuple = heap.Make(Item::Kind::kTuple, std::move(type));
  tuple.cell->items = std::move(items);
  return tuple;
}

Status Interpreter::BindParameters(const Function& function, Cell* self, std::vector<Item>& args,
                                   KeywordItems& keywords, Frame& frame) {
  if (self) args.insert(args.begin(), Item::Of(Item::Kind::kObject, self));
  const auto& parameters = function.parameters;
  if (args.size() > parameters.size())
    return Bad(frame.name, " takes ", parameters.size(), " arguments, got ", args.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    Item& variable = frame.variables[parameter.name];
    if (i < args.size()) {
      variable = std::move(args[i]);
      continue;
    }
    bool found = false;
    for (auto& [name, value] : keywords)
      if (name == parameter.name) {
        variable = value;
        found = true;
      }
    if (found) continue;
    if (!parameter.otherwise)
      return Bad("the argument '", parameter.name, "' of ", frame.name, " is missing");
    TERN_ASSIGN(variable, Eval(*parameter.otherwise, frame));
  }
  return {};
}

Result<Item> Interpreter::CallFunction(const Function& function, const std::string& name, Cell* self,
                                       std::vector<Item> args, KeywordItems keywords) {
  const Nesting nesting(depth_);
  if (!nesting.ok()) return Bad("functions and blocks are nested too deep");
  Frame frame;
  frame.name = name;
  frame.line = function.line;
  called_.emplace(&function, name);
  frame.path = self ? self->path : frames_.empty() ? "" : frames_.back()->path;
  TERN_TRY(BindParameters(function, self, args, keywords, frame));
  frame.work.push_back({&function.body, 0, nullptr, 0, 0});
  TERN_TRY(Run(frame));
  return std::move(frame.result);
}

Result<Item> Interpreter::CallMethod(const Item& object, const std::string& method, std::vector<Item> args,
                                     KeywordItems keywords) {
  TERN_ASSIGN(const Class* type, code.FindClass(object.cell->type));
  const Function* function = type ? Code::MethodOf(*type, method) : nullptr;
  if (!function) return Bad(object.cell->type, " has no method '", method, "'");
  return CallFunction(*function, StrCat(object.cell->type, ".", method), object.cell, std::move(args),
                      std::move(keywords));
}

Status Interpreter::Run(Frame& frame) {
  frames_.push_back(&frame);
  Status status;
  while (status.ok() && !frame.work.empty() && !frame.returned) status = Step(frame);
  frames_.pop_back();
  return status;
}

// Runs the next statement of the innermost block.
Status Interpreter::Step(Frame& frame) {
  Work& work = frame.work.back();
  if (work.next == work.block->size()) {
    if (work.loop) return NextIteration(frame);
    frame.work.pop_back();
    return {};
  }
  const Statement& statement = *(*work.block)[work.next++];
  frame.line = statement.line;
  if (++steps_ > kMaxSteps)
    return NotYet("the code runs more than ", kMaxSteps, " statements at import time");
  return RunStatement(statement, frame);
}

Status Interpreter::RunStatement(const Statement& statement, Frame& frame) {
  using Kind = Statement::Kind;
  const Nesting nesting(depth_);
  if (!nesting.ok()) return Bad("functions and blocks are nested too deep");
  switch (statement.kind) {
    case Kind::kPass:
    case Kind::kDeclare:
      return {};
    case Kind::kExpr: {
      TERN_ASSIGN([[maybe_unused]] const Item unused, Eval(*statement.value, frame));
      return {};
    }
    case Kind::kAssign: {
      TERN_ASSIGN(const Item value, Eval(*statement.value, frame));
      return Assign(*statement.target, value, frame);
    }
    case Kind::kIf:
      return RunIf(statement, frame);
    case Kind::kFor:
    case Kind::kWhile:
      return RunLoop(statement, frame);
    case Kind::kWith:  // contexts such as torch.no_grad() do not change results
      if (statement.target) {
        TERN_ASSIGN(const Item value, Eval(*statement.value, frame));
        TERN_TRY(Assign(*statement.target, value, frame));
      }
      frame.work.push_back({&statement.body, 0, nullptr, 0, 0});
      return {};
    case Kind::kReturn:
      if (statement.value) {
        TERN_ASSIGN(frame.result, Eval(*statement.value, frame));
      }
      frame.returned = true;
      return {};
    case Kind::kRaise:
      return Raise("an exception");
    case Kind::kAssert: {
      TERN_ASSIGN(const Item value, Eval(*statement.value, frame));
      TERN_ASSIGN(const Arg condition, ToBool(value));
      return condition.known() && !condition.integer ? Raise("an assertion fails") : Status();
    }
    case Kind::kDef: {
      Item function = Item::Of(Item::Kind::kFunction, nullptr);
      function.function = statement.function.get();
      function.text = statement.function->name;
      frame.variables[statement.function->name] = std::move(function);
      return {};
    }
    case Kind::kBreak:
    case Kind::kContinue:
      break;
  }
  return NotYet("'break' and 'continue', which torch.jit.save does not write");
}

Status Interpreter::RunIf(const Statement& statement, Frame& frame) {
  TERN_ASSIGN(const Item value, Eval(*statement.value, frame));
  TERN_ASSIGN(const Arg condition, ToBool(value));
  if (condition.value) return BranchImporter(*this, frame).Import(statement, condition.value);
  frame.work.push_back({condition.integer ? &statement.body : &statement.other, 0, nullptr, 0, 0});
  return {};
}

Status Interpreter::RunLoop(const Statement& statement, Frame& frame) {
  return LoopImporter(*this, frame).Start(statement);
}

Status Interpreter::NextIteration(Frame& frame) { return LoopImporter(*this, frame).Next(); }

Status Interpreter::Assign(const Expr& target, const Item& value, Frame& frame) {
  if (target.kind == Expr::Kind::kName) {
    frame.variables[target.text] = value;
    return {};
  }
  if (target.kind == Expr::Kind::kTuple) {
    Item list = value;
    if (value.tensor()) {
      TERN_ASSIGN(list, CallAten("aten::unbind", {value}));
    }
    if (!list.list_or_tuple() || list.cell->sequence || list.cell->items.size() != target.items.size())
      return Bad(value.Describe(), " cannot be assigned to ", target.items.size(), " variables");
    const std::vector<Item> items = list.cell->items;
    for (size_t i = 0; i < items.size(); ++i) TERN_TRY(Assign(*target.items[i], items[i], frame));
    return {};
  }
  TERN_ASSIGN(const Item container, Eval(*target.items[0], frame));
  if (target.kind == Expr::Kind::kAttribute) return AssignAttribute(container, target.text, value);
  TERN_ASSIGN(const Item index, Eval(*target.items[1], frame));
  TERN_ASSIGN([[maybe_unused]] const Item unused, CallOp({"aten::_set_item", {container, index, value}, {}}));
  return {};
}

Status Interpreter::AssignAttribute(const Item& object, const std::string& name, const Item& value) {
  if (!object.Is(Item::Kind::kObject)) return Bad(object.Describe(), " has no attributes to assign");
  heap.Touch(*object.cell);
  object.cell->attributes[name] = value;
  return {};
}

}  // namespace tern::torch::script
