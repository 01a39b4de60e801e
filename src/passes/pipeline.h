// The optimizer: passes in a readable order, each counted, verified, switchable.
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

// A pure function on a graph with a name; or the rules of some groups.
struct Pass {
  std::string name;
  std::string summary;
  Level level = Level::kBasic;
  std::function<Result<int>(Graph&, PassContext&)> run;  // returns how much changed
  std::string stage = "";                                // runs in this one only; empty: in all of its level
};
// The passes that are not rules, in the order they run.
const std::vector<Pass>& AllPasses();

// Groups of rules that work side by side until none of them fires. Later stages keep the earlier groups, so
// what a fusion leaves behind is cleaned up at once.
struct Stage {
  const char* name;
  Level level;
  std::vector<std::string> groups;
};
const std::vector<Stage>& AllStages();

struct OptimizeOptions {
  const Target* target = nullptr;  // whose costs decide about layouts; null: those of a usual CPU
  Level level = Level::kExtended;
  std::vector<std::string> disable, only;  // names of rules, passes or groups of rules
  std::vector<std::string> enable;         // names of rules that run on request only
  std::string stop_after;                  // the name of a stage
  std::string why_not;                     // RULE@NODE; NODE is the name of a node or of its output
  std::function<void(const std::string& stage, const Graph&)> after_stage;
  bool eager = false;                   // passes that weigh costs do all that they can: for tests
  std::vector<Pass> more_passes;        // run behind Tern's own
  std::vector<const Rule*> more_rules;  // prepared ones, beside those of every stage
  // After every rewrite and every pass that changed something.
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

// Changes the graph in place. The graph is verified after each pass and each round of rules; what broke it is
// named in the error. Running it again changes nothing. Constants that callers could override become fixed.
Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options = {});

}  // namespace tern
