// Imports an `if` whose condition the graph computes.
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/torch/script/frozen.h"

namespace tern::torch::script {

class BranchImporter {
 public:
  BranchImporter(Interpreter& interpreter, Frame& frame) : in_(interpreter), frame_(frame) {}

  // Imports both branches, each into its own subgraph, and merges what they changed. If a variable cannot be
  // merged, such as one that is None in one branch, both branches also include the statements after the `if`.
  Status Import(const Statement& statement, Value* condition);

 private:
  // The state at the end of a branch.
  struct Branch {
    Graph* graph = nullptr;
    bool raises = false;
    Status error;
    bool returned = false;
    Frozen result;
    std::map<std::string, Frozen> variables;
    std::map<Cell*, Frozen> cells;
    std::vector<std::pair<TensorPtr, Value*>> roots;
  };
  // The merged state. `outputs` are the pairs of values that the node returns.
  struct Merged {
    Item result;
    std::map<std::string, Item> variables;
    std::vector<std::pair<Cell*, Item>> cells;
    std::vector<std::pair<TensorPtr, Value*>> roots;
    bool conflict = false;
  };

  Status Attempt(const Statement& statement, Value* condition, bool with_rest);
  Status RunBranch(const Block& block, bool with_rest, Branch& branch);
  Status FreezeState(const Frame& frame, const Heap::Scope& cells, const TorchContext::Scope& tensors,
                     Branch& branch);
  Status AddUnchanged();
  Result<Merged> MergeAll(const MergeOne& merge_one);
  Result<Value*> ValueIn(const Branch& branch, const TensorPtr& root);
  Status Finish(Node* scratch, Value* condition);
  Status Apply(const Merged& merged);

  Interpreter& in_;
  Frame& frame_;
  std::set<std::string> names_;  // variables that are merged after the branches
  bool with_rest_ = false;
  std::array<Branch, 2> branches_;
  std::vector<std::array<Value*, 2>> outputs_;
};

// Adds the variables that the statements of a block assign, also in nested blocks.
void CollectAssigned(const Block& block, std::set<std::string>& names);

}  // namespace tern::torch::script
