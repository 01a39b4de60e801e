// Runs TorchScript's code at import time. Numbers, lists and modules that do not depend on the model's inputs
// are computed; operators on tensors become nodes of the graph.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/torch/aten/call.h"
#include "import/torch/script/code.h"
#include "import/torch/script/item.h"

namespace tern::torch::script {

using KeywordItems = std::vector<std::pair<std::string, Item>>;

// A call of an operator.
struct CallSite {
  std::string op;  // "aten::add", "prim::min"
  std::vector<Item> args;
  KeywordItems keywords;

  const Item* Keyword(std::string_view name) const;
};

// Statements that remain to be run: the rest of a block, or the remaining iterations of an unrolled loop.
struct Work {
  const Block* block = nullptr;
  size_t next = 0;                  // the statement to run next
  const Statement* loop = nullptr;  // `block` is the body of this loop
  int64_t iteration = 0, trips = 0;
};

// A function that is being run.
struct Frame {
  std::string name;  // qualified, for messages
  std::string path;  // of the module: "encoder.layers.0"
  int line = 0;
  std::map<std::string, Item> variables;
  std::vector<Work> work;
  bool returned = false;
  Item result;
};

// Makes the values that the code reads but that are not arguments.
class InputSource {
 public:
  virtual ~InputSource() = default;
  // Reads a new key of a dict that is a parameter of the model.
  virtual Result<Item> DictInput(const std::string& parameter, const std::string& key) = 0;
  // Returns whether the caller names the key as an input.
  virtual bool HasDictInput(const std::string& parameter, const std::string& key) const = 0;
  // Called before an operator reads tensors. Decides about inputs without a declared shape.
  virtual Status BeforeUse(const CallSite& call) = 0;
};

class Interpreter {
 public:
  Interpreter(Code& code, Heap& heap, TorchContext& context, InputSource& inputs)
      : code(code), heap(heap), context(context), inputs(inputs) {}

  Code& code;
  Heap& heap;
  TorchContext& context;
  InputSource& inputs;
  std::vector<Item> constants;    // CONSTANTS.c0, …
  int64_t version = 10;           // of the file's operators
  std::set<std::string> modules;  // the classes of the model's modules

  // Calls a function or method. `self` is null for a function.
  Result<Item> CallFunction(const Function& function, const std::string& name, Cell* self,
                            std::vector<Item> args, KeywordItems keywords);
  // Calls a method of an object. Fails if the object's class has no such method.
  Result<Item> CallMethod(const Item& object, const std::string& method, std::vector<Item> args,
                          KeywordItems keywords);
  Result<Item> CallOp(CallSite call);
  // Calls an operator on tensors (aten/call.h).
  Result<Item> CallAten(const std::string& op, const std::vector<Item>& args,
                        const KeywordItems& keywords = {});

  Item NewList(std::vector<Item> items);
  Item NewTuple(std::vector<Item> items, std::string type = "");
  // Converts an item to an argument of an operator. Fails for dicts, objects and other things.
  Result<Arg> ToArg(const Item& item);
  Item FromArg(const Arg& arg);
  // Returns the number as a condition; fails if the item is not a number or a tensor.
  Result<Arg> ToBool(const Item& item);
  Result<Value*> ValueOf(const Arg& arg, Builder& b);
  // Returns a sequence value of the list's tensors.
  Result<Value*> SequenceOf(const Item& list);
  Result<Item> GetAttribute(const Item& object, const std::string& name);

  Builder NewBuilder(std::string_view op);
  Place PlaceOf(std::string_view op) const;
  template <class... A> Status Bad(const A&... a) const {
    return Status(tern::Code::kInvalidModel, Where() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(tern::Code::kUnsupported, Where() + ": " + StrCat(a...));
  }
  // The code raises an exception. A branch that does so is left out of the graph.
  Status Raise(const std::string& message);
  std::string Where() const;

 private:
  friend class BranchImporter;
  friend class LoopImporter;
  friend class DynamicLoop;

  Status Run(Frame& frame);  // until the frame's work is done or the function returns
  Status Step(Frame& frame);
  Status RunStatement(const Statement& statement, Frame& frame);
  Status RunIf(const Statement& statement, Frame& frame);
  Status RunLoop(const Statement& statement, Frame& frame);
  Status NextIteration(Frame& frame);
  Status Assign(const Expr& target, const Item& value, Frame& frame);
  Status AssignAttribute(const Item& object, const std::string& name, const Item& value);

  Result<Item> Eval(const Expr& expr, Frame& frame);
  Result<Item> EvalName(const Expr& expr, Frame& frame);
  Result<Item> EvalAttribute(const Expr& expr, Frame& frame);
  Result<Item> EvalSubscript(const Expr& expr, Frame& frame);
  Result<Item> EvalDict(const Expr& expr, Frame& frame);
  Result<Item> EvalOperator(const Expr& expr, Frame& frame);
  Result<Item> EvalTernary(const Expr& expr, Frame& frame);
  Result<Item> EvalCall(const Expr& expr, Frame& frame);
  Result<std::optional<Item>> EvalSpecialForm(const Expr& expr, Frame& frame);
  Result<Item> CallQualified(const std::string& name, std::vector<Item> args, KeywordItems keywords);
  Result<Item> CallItem(const Item& callee, std::vector<Item> args, KeywordItems keywords);
  Result<Item> ResolveQualified(const std::string& name);
  Result<Item> Annotate(const Expr& type, const Item& value);
  bool MatchesType(const Item& value, const Expr& type);
  Status BindParameters(const Function& function, Cell* self, std::vector<Item>& args, KeywordItems& keywords,
                        Frame& frame);

  Status CheckOperator(const std::string& op, const std::vector<Item>& args);

  std::vector<Frame*> frames_;
  std::map<const Function*, std::string> called_;  // functions that were called, with their names
  bool raised_ = false;
  int depth_ = 0;
  int64_t steps_ = 0;
};

}  // namespace tern::torch::script
