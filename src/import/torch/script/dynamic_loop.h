// Converts a loop to the op Loop.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/torch/script/frozen.h"

namespace tern::torch::script {

// The states of the op are the parts of variables, lists, attributes and tensors that an iteration changes.
// They are found by running the body several times, until no more changes are found.
class DynamicLoop {
 public:
  DynamicLoop(Interpreter& interpreter, Frame& frame, const Statement& statement)
      : in_(interpreter), frame_(frame), statement_(statement) {}

  // `trips` and `condition` may be null.
  Status Import(Value* trips, Value* condition);

 private:
  // A tensor, number or list of tensors that changes in the loop. The key in leaves_ says where it is: "x" is
  // a variable, "x/0" is part 0 of it, "#3/1" is part 1 of cells_[3], and "@2" is roots_[2].
  struct Leaf {
    Type type;
    Frozen start, end;        // before the loop, and after an iteration
    Value* input = nullptr;   // of the body
    Value* output = nullptr;  // of the body
    Value* result = nullptr;  // of the loop
  };

  Status FreezeStart();
  Status Round(Value* trips, Value* condition);
  Result<Node*> Open(Value* trips, Value* condition);
  Status RunBody(Graph& body);
  Status EnterBody(Frame& frame);
  Status LeaveBody(Frame& frame, Graph& body);
  Status NoteChanges(const Heap::Scope& cells, const TorchContext::Scope& tensors);
  Status AddNewSlots();
  // Returns the item with leaves replaced by the body's inputs, or by the loop's results.
  Item Replace(const Frozen& start, const std::string& key, Value* Leaf::*by);
  // Compares a part before and after an iteration.
  Status Compare(const Frozen& start, const Frozen& end, const std::string& key);
  Frozen Detach(const Frozen& end);
  Status SetOutput(Leaf& leaf, const Frozen& end);
  Status AddLeaf(const std::string& key, const Frozen& start, const Frozen& end);
  bool Changes(const std::string& key) const;  // whether the value with this key is or contains a leaf
  Status Finish(Node* node);

  Interpreter& in_;
  Frame& frame_;
  const Statement& statement_;
  std::map<std::string, Frozen> variables_;      // the variables that the body assigns, as before the loop
  std::vector<std::pair<Cell*, Frozen>> cells_;  // the cells that the body changes, as before the loop
  std::vector<TensorPtr> roots_;                 // the tensors that the body writes
  std::vector<Cell*> new_cells_;
  std::vector<TensorPtr> new_roots_;
  std::map<std::string, Leaf> leaves_;
  Graph types_;  // owns values that have types, but no contents
  Graph* body_ = nullptr;
  Value* condition_ = nullptr;  // after an iteration
  bool stable_ = false;
};

}  // namespace tern::torch::script
