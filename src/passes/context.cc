#include "passes/context.h"

#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {

bool PassContext::Asks(const Rule& rule, const Node& node) const {
  if (why_rule.empty() || rule.name != why_rule) return false;
  if (why_node.empty() || node.name == why_node) return true;
  return std::any_of(node.outputs().begin(), node.outputs().end(),
                     [&](const Value* v) { return v->name == why_node; });
}

// Stores only the last reason for each node. An earlier reason may no longer be true after another rule
// changed the graph. "the rule was applied" is never overwritten.
void PassContext::Answer(const Node& node, const std::string& reason) {
  const std::string where = node.Describe();
  for (WhyNot& answer : answers_)
    if (answer.node == where) {
      if (answer.reason != "the rule was applied") answer.reason = reason;
      return;
    }
  answers_.push_back({why_rule, where, reason});
}

}  // namespace tern
