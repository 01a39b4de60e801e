// The optimizer: stages of passes and rules, each counted, verified and switchable.
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
  std::function<Result<int>(Graph&, PassContext&)> run;  // returns how much changed
  std::string stage = "";  // runs in this stage only; empty: in all stages of its level
};
// The passes that are not rules, in the order they run.
const std::vector<Pass>& AllPasses();

// Groups of rules that run together until none fires. A stage also runs the groups of earlier stages, so that
// nodes left over by a fusion are cleaned up at once.
struct Stage {
  const char* name;
  Level level;
  std::vector<std::string> groups;
};
const std::vector<Stage>& AllStages();

struct OptimizeOptions {
  const Target* target = nullptr;  // its costs decide about layouts; null: those of a generic CPU
  Level level = Level::kExtended;
  std::vector<std::string> disable, only;  // names of rules, passes or groups of rules
  std::vector<std::string> enable;         // names of rules that run on request only
  std::string stop_after;                  // the name of a stage
  std::string why_not;                     // RULE@NODE; NODE is the name of a node or of its output
  std::function<void(const std::string& stage, const Graph&)> after_stage;
  bool eager = false;                   // ignore costs and apply all legal changes; for tests
  std::vector<Pass> more_passes;        // run after the built-in ones
  std::vector<const Rule*> more_rules;  // from PrepareRule; added to every stage
  // Called after every rewrite and after every pass that changed the graph.
  std::function<void(const std::string& name, const Graph&)> after_change;
};

struct OptimizeReport {
  std::map<std::string, int> hits;  // by rule and pass; those that fired
  std::vector<std::string> stages;  // that ran
  std::vector<WhyNot> why_not;
  std::vector<std::string> warnings;
  int64_t attempts = 0;  // of rules at nodes
  double milliseconds = 0;
};

// The stages, in order: "clean", "recompose", "fuse", …
std::vector<std::string> StageNames();

// Optimizes the graph in place. The graph is verified after each pass and each sweep of rules; the error
// names the pass or rules that broke it. A second call changes nothing. Overridable constants become fixed.
Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options = {});

}  // namespace tern
