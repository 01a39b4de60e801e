// Applies rules wherever they match, node by node in topological order, until nothing changes.
#pragma once
#include <memory>
#include <vector>

#include "passes/context.h"
#include "passes/rewrite/rule.h"

namespace tern {

// Rules by the op and kind of their root, in the given order: the first that matches is applied.
class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<const Rule*>& rules);
  const std::vector<const Rule*>& For(const Node& node) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// Returns the number of rewrites, those in nested graphs included. Stops when the context's budget is spent,
// which happens only when rules undo each other; the graph is valid then too.
Result<int> ApplyRules(Graph& graph, const RuleIndex& rules, PassContext& context);

}  // namespace tern
