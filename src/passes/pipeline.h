// The optimizer runs stages of passes and rules. It counts what fires and verifies the graph. Every pass and
// rule can be disabled by name.
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
// The passes that are not rules, in the order they run.
const std::vector<Pass>& AllPasses();

// A stage runs its groups of rules together until no rule fires. It also runs the groups of earlier stages,
// so that nodes left over by a fusion are cleaned up at once.
struct Stage {
  const char* name;
  Level level;
  std::vector<std::string> groups;
};
const std::vector<Stage>& AllStages();

struct OptimizeOptions {
  const Target* target = nullptr;  // provides the layout costs; if null, the costs are those of a generic CPU
  Level level = Level::kExtended;
  std::vector<std::string> disable, only;  // names of rules, passes or groups of rules
  std::vector<std::string> enable;         // names of rules marked on_request that run
  std::string stop_after;                  // the name of the last stage to run; if empty, all stages run
  std::string why_not;                     // RULE@NODE; NODE is the name of a node or of its output
  std::function<void(const std::string& stage, const Graph&)> after_stage;
  bool eager = false;                   // ignore costs and apply all legal changes; for tests
  std::vector<Pass> more_passes;        // run after the built-in passes
  std::vector<const Rule*> more_rules;  // prepared by PrepareRule; added to every stage
  // Called after every rewrite and after every pass that changed the graph.
  std::function<void(const std::string& name, const Graph&)> after_change;
};

struct OptimizeReport {
  std::map<std::string, int> hits;  // name of a rule or pass, and how often it fired (at least once)
  std::vector<std::string> stages;  // names of the stages that ran
  std::vector<WhyNot> why_not;
  std::vector<std::string> warnings;
  int64_t attempts = 0;  // how often a rule was tried at a node
  double milliseconds = 0;
};

// The names of the stages, in order: "clean", "widen", "linear", …
std::vector<std::string> StageNames();

// Optimizes the graph in place. The graph is verified after each pass and after each run of the rules. The
// error names the pass or rules that broke the graph. A second call changes nothing. Overridable constants
// become fixed.
Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options = {});

}  // namespace tern
