// The optimizer runs passes and rules in stages. It counts how often each rule fires, and verifies the
// graph. Every pass and rule can be disabled by name.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/context.h"
#include "passes/rewrite/rule.h"

namespace tern {

class Target;

// A named function that changes a graph in place.
struct Pass {
  std::string name;
  std::string summary;
  Level level = Level::kBasic;
  std::function<Result<int>(Graph&, PassContext&)> run;  // returns the number of changes
  // The name of the only stage that runs the pass. If it is empty, all stages of its level or above run it.
  std::string stage = "";
};
// Returns the built-in passes in the order in which they run.
const std::vector<Pass>& AllPasses();

// A stage runs passes and its groups of rules in turn until neither changes the graph. It also runs the
// groups of all earlier stages. For example, the stage "fuse" still removes nodes that a fusion made
// redundant.
struct Stage {
  const char* name;
  Level level;
  std::vector<std::string> groups;
};
const std::vector<Stage>& AllStages();

struct OptimizeOptions {
  const Target* target = nullptr;  // its layout costs are used; if null, the defaults of LayoutCosts
  Level level = Level::kExtended;
  // Names of rules, passes or groups of rules. If `only` is not empty, `disable` has no effect.
  std::vector<std::string> disable, only;
  std::vector<std::string> enable;  // names of the on_request rules that run
  std::string stop_after;           // the name of the last stage to run; if empty, all stages run
  std::string why_not;              // RULE or RULE@NODE; NODE names a node or its output
  std::function<void(const std::string& stage, const Graph&)> after_stage;
  bool eager = false;                   // ignore costs and apply all legal changes; for tests
  std::vector<Pass> more_passes;        // run after the built-in passes
  std::vector<const Rule*> more_rules;  // added to every stage; PrepareRule must have prepared them
  // Called after every rewrite and after every pass that changed the graph.
  std::function<void(const std::string& name, const Graph&)> after_change;
};

struct OptimizeReport {
  std::map<std::string, int> hits;  // how often each rule or pass fired; only those that fired
  std::vector<std::string> stages;  // names of the stages that ran
  std::vector<WhyNot> why_not;
  std::vector<std::string> warnings;
  int64_t attempts = 0;  // the number of attempts to apply any rule at any node
  double milliseconds = 0;
};

// Returns the names of the stages in order, such as "clean", "widen" and "linear".
std::vector<std::string> StageNames();

// Optimizes the graph in place. The graph is verified after each pass and each run of the rules that changed
// it. The error names the pass or rules that broke the graph. A second call changes nothing, unless the
// rewrite budget was spent. Overridable constants become fixed. At level none, the graph stays unchanged.
Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options = {});

}  // namespace tern
