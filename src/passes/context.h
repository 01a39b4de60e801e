// State that the passes of one optimization share: switches, counters, and the rewrite budget that guarantees
// termination.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernel_api/layout_costs.h"

namespace tern {

struct Rule;

struct WhyNot {
  std::string rule, node, reason;
};

class PassContext {
 public:
  std::set<std::string> disabled;        // rules and passes that do not run; no effect if `only` is set
  std::set<std::string> only;            // names of rules and passes; if not empty, no others run
  std::set<std::string> requested;       // names of the on_request rules that run
  std::string why_rule, why_node;        // of --why-not; why_node is empty if every node is meant
  size_t fold_limit = size_t{64} << 20;  // bytes; FoldConstants skips a node with a larger result
  double fold_operations = 5e8;          // FoldConstants skips a node that needs more operations
  LayoutCosts layout_costs;              // the costs of the target
  bool eager = false;                    // apply all legal changes, even if the graph becomes slower
  bool halves_are_wide = false;  // WidenHalf has run, so rules may not emit nodes that compute in f16 or bf16
  // Called after the rule or pass `name` changed the graph.
  std::function<void(const std::string& name)> after_change;

  bool Enabled(const std::string& name) const {
    return only.empty() ? disabled.count(name) == 0 : only.count(name) != 0;
  }
  void Hit(const std::string& name, int count = 1) {
    hits_[name] += count;
    if (after_change) after_change(name);
  }
  const std::map<std::string, int>& hits() const { return hits_; }

  // Counts the attempts to apply any rule at any node.
  void Attempt() { ++attempts_; }
  int64_t attempts() const { return attempts_; }

  // The budget is the number of rewrites that are left. Spend subtracts one rewrite and returns false if none
  // is left.
  void SetBudget(int rewrites) { budget_ = rewrites; }
  bool Spend() { return --budget_ > 0; }
  bool exhausted() const { return budget_ <= 0; }

  // Asks returns true if --why-not names this rule and node. Answer stores the reason for the report.
  bool Asks(const Rule& rule, const Node& node) const;
  void Answer(const Node& node, const std::string& reason);
  const std::vector<WhyNot>& answers() const { return answers_; }

 private:
  std::map<std::string, int> hits_;
  std::vector<WhyNot> answers_;
  int64_t attempts_ = 0;
  int budget_ = 1 << 30;
};

}  // namespace tern
