// Applies rules wherever they fit, node by node in topological order, until nothing changes.
#pragma once
#include <memory>
#include <vector>

#include "passes/context.h"
#include "passes/rewrite/rule.h"

namespace tern {

// Rules by the op and kind of their root. The order of rules is kept: the first that fits is applied.
class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<const Rule*>& rules);
  const std::vector<const Rule*>& For(const Node& node) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// Returns how often a rule was applied. Nested graphs too. Stops when the context's budget is spent, which
// happens only when rules undo each other's work; the graph is sound then too.
Result<int> ApplyRules(Graph& graph, const RuleIndex& rules, PassContext& context);

}  // namespace tern
