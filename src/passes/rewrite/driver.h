// Applies rules to nodes in topological order until no rule fires.
#pragma once
#include <memory>
#include <vector>

#include "passes/context.h"
#include "passes/rewrite/rule.h"

namespace tern {

// Finds the rules to try at a node, by the op and kind of their root. Rules are tried in the given order, and
// the first one that matches is applied.
class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<const Rule*>& rules);
  const std::vector<const Rule*>& For(const Node& node) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// Returns the number of rewrites, including those in nested graphs. Stops when the context's rewrite budget
// is spent, which happens only when rules undo each other. The graph is still valid then.
Result<int> ApplyRules(Graph& graph, const RuleIndex& rules, PassContext& context);

}  // namespace tern
