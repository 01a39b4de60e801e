// Finds the loops and conditions of TF1 in a body.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "import/tensorflow/body.h"

namespace tern::tensorflow {

// Returns the inputs of a node without its control inputs.
std::vector<std::string> DataInputs(const pb::NodeDef& node);

// A variable of a loop: Enter → Merge → Switch → (body) → NextIteration → Merge, and Switch → Exit.
struct LoopVariable {
  std::string enter, merge, next;
  std::string branch;              // the Switch, or empty if only the condition reads the variable
  std::vector<std::string> exits;  // usually one
};

struct LoopFrame {
  std::vector<LoopVariable> variables;
  std::string condition;               // the LoopCond node
  std::vector<std::string> constants;  // Enter nodes of values that do not change
};

// Conditions that a tensor depends on: pairs of the number of a predicate and the side (0 or 1), in ascending
// order. In a chain of Switches, each node has the guards of all Switches before it. kMaxGuards therefore
// limits their number.
using Guards = std::vector<std::pair<int, int>>;
inline constexpr size_t kMaxGuards = 256;

class Frames {
 public:
  static Result<Frames> Of(const Body& body);

  // Returns the frame of an Exit, or null.
  const LoopFrame* LoopOf(const std::string& exit) const;
  bool IsLoopMerge(const std::string& node) const { return loop_merges_.count(node) > 0; }
  // Returns whether the Switch belongs to a loop.
  bool IsLoopSwitch(const pb::NodeDef& node) const;
  // Returns the predicate of a Switch, as "node:0". Follows the second input of the Switch through nodes that
  // return their input.
  std::string PredicateOf(const pb::NodeDef& node) const;
  // Returns whether a node runs in a loop or in a branch, so that its result may be missing or belong to one
  // iteration.
  bool IsInside(const std::string& node) const;
  // Returns the guards of one output of a node.
  Guards GuardsOf(const std::string& tensor) const;
  // Returns whether a guard of the tensor has this predicate.
  bool DependsOn(const std::string& tensor, const std::string& predicate) const;
  const std::string& PredicateName(int number) const { return predicates_[static_cast<size_t>(number)]; }

 private:
  Status FindLoops(const Body& body);
  Status FindGuards(const Body& body);
  void FindPredicates(const Body& body);
  std::string FollowPredicate(const pb::NodeDef& node) const;
  Guards Combine(const pb::NodeDef& node) const;
  int DepthOf(const pb::NodeDef& node) const;
  std::vector<std::string> Sources(const pb::NodeDef& node) const;

  const Body* body_ = nullptr;
  std::map<std::string, LoopFrame> loops_;          // by name of the frame
  std::map<std::string, std::string> exits_;        // Exit → name of the frame
  std::map<std::string, std::string> loop_merges_;  // Merge → its Enter
  std::map<std::string, int> depths_;               // the number of loops around a node
  std::vector<std::string> predicates_;             // in ascending order
  std::map<std::string, int> switches_;             // Switch that is not in a loop → its predicate's number
  std::map<std::string, Guards> guards_;            // by node, without the side of a Switch's own output
};

// Returns "x:0" for "x" and "^x".
std::string Canonical(const std::string& tensor);
std::string NodeOf(const std::string& tensor);

}  // namespace tern::tensorflow
