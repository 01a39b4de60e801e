#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "ir/verify.h"
#include "kernel_api/target.h"
#include "passes/fold/cse.h"
#include "passes/fold/fold_constants.h"
#include "passes/layout/channels_last.h"
#include "passes/quant/unsigned.h"
#include "passes/rewrite/driver.h"
#include "passes/rewrite/names.h"
#include "passes/widen/widen_half.h"

namespace tern {
namespace {

Result<int> RemoveDead(Graph& graph, PassContext& context) {
  int removed = 0;
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) {
      TERN_ASSIGN(const int inside, RemoveDead(*sub, context));
      removed += inside;
    }
  removed += graph.RemoveDeadNodes();
  graph.RemoveUnusedConstants();
  return removed;
}

// Removes constants without readers. A rewrite that fails may have added some.
void DropConstants(Graph& graph) {
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) DropConstants(*sub);
  graph.RemoveUnusedConstants();
}

class Optimizer {
 public:
  Optimizer(Graph& graph, const OptimizeOptions& options) : graph_(graph), options_(options) {}

  Result<OptimizeReport> Run() {
    TERN_TRY(Configure());
    std::vector<std::string> groups;
    for (const Stage& stage : AllStages()) {
      if (stage.level > options_.level) continue;
      groups.insert(groups.end(), stage.groups.begin(), stage.groups.end());
      TERN_TRY(RunStage(groups, stage).While(StrCat("stage '", stage.name, "' of the optimizer")));
      report_.stages.push_back(stage.name);
      if (options_.after_stage) options_.after_stage(stage.name, graph_);
      if (stage.name == options_.stop_after) break;
    }
    MakeNamesUnique(graph_);
    report_.hits = context_.hits();
    report_.why_not = context_.answers();
    report_.attempts = context_.attempts();
    return std::move(report_);
  }

 private:
  Status Configure() {
    for (const auto& name : options_.disable) TERN_TRY(Expand(name, context_.disabled));
    for (const auto& name : options_.only) TERN_TRY(Expand(name, context_.only));
    for (const auto& name : options_.enable) TERN_TRY(Expand(name, context_.requested));
    if (!options_.why_not.empty()) {
      const size_t at = options_.why_not.find('@');
      context_.why_rule = options_.why_not.substr(0, at);
      if (at != std::string::npos) context_.why_node = options_.why_not.substr(at + 1);
      if (!FindRule(context_.why_rule))
        return NotFound("no rule is called '", context_.why_rule, "'; see tern passes");
    }
    const auto names = StageNames();
    if (!options_.stop_after.empty() &&
        std::find(names.begin(), names.end(), options_.stop_after) == names.end())
      return NotFound("no stage is called '", options_.stop_after, "'; there are: ", Join(names, ", "));
    if (options_.after_change)
      context_.after_change = [this](const std::string& name) { options_.after_change(name, graph_); };
    context_.eager = options_.eager;
    if (options_.target) context_.layout_costs = options_.target->layout_costs();
    context_.SetBudget(2000 + 20 * graph_.NodeCount());
    return {};
  }

  // Adds the rule or pass of this name, or all rules of the group of this name.
  static Status Expand(const std::string& name, std::set<std::string>& into) {
    bool found = false;
    for (const Rule* rule : AllRules()) {
      if (rule->name != name && rule->group != name) continue;
      into.insert(rule->name);
      found = true;
    }
    for (const Pass& pass : AllPasses()) {
      if (pass.name != name) continue;
      into.insert(name);
      found = true;
    }
    return found ? Status() : NotFound("no rule, pass or group is called '", name, "'; see tern passes");
  }

  Status RunStage(const std::vector<std::string>& groups, const Stage& stage) {
    std::vector<const Rule*> rules = RulesOf(groups, options_.level);
    rules.insert(rules.end(), options_.more_rules.begin(), options_.more_rules.end());
    const RuleIndex index(rules);
    for (int changes = 1; changes > 0;) {
      changes = 0;
      if (!inferred_) TERN_TRY(InferGraph(graph_));
      for (const auto* passes : {&AllPasses(), &options_.more_passes})
        for (const Pass& pass : *passes) {
          if (pass.level > stage.level || (!pass.stage.empty() && pass.stage != stage.name)) continue;
          TERN_ASSIGN(const int changed, RunPass(pass));
          changes += changed;
        }
      TERN_ASSIGN(const int applied, RunRules(index));
      changes += applied;
      inferred_ = changes == 0;
      if (context_.exhausted()) return GiveUp();
    }
    return {};
  }

  Result<int> RunPass(const Pass& pass) {
    if (!context_.Enabled(pass.name)) return 0;
    TERN_ASSIGN(const int changed, pass.run(graph_, context_));
    if (changed) context_.Hit(pass.name, changed);
    if (changed) TERN_TRY(VerifyGraph(graph_).While(StrCat("pass '", pass.name, "'")));
    return changed;
  }

  Result<int> RunRules(const RuleIndex& index) {
    const auto before = context_.hits();
    TERN_ASSIGN(const int applied, ApplyRules(graph_, index, context_));
    DropConstants(graph_);
    if (applied) TERN_TRY(VerifyGraph(graph_).While(StrCat("rules that fired:", Fired(before))));
    return applied;
  }

  // Returns the names of the rules and passes with more hits than in `before`.
  std::string Fired(const std::map<std::string, int>& before) const {
    std::string names;
    for (const auto& [name, hits] : context_.hits()) {
      const auto it = before.find(name);
      if (it == before.end() || it->second < hits) names += StrCat(" '", name, "'");
    }
    return names.empty() ? " none" : names;
  }

  // Adds a warning when the rewrite budget is spent. The graph is valid, but may not be fully optimized.
  Status GiveUp() {
    if (!report_.warnings.empty()) return {};
    std::vector<std::pair<int, std::string>> busy;
    for (const auto& [name, hits] : context_.hits()) busy.emplace_back(-hits, name);
    std::sort(busy.begin(), busy.end());
    std::string text = "the optimizer stopped because the rules do not converge; most rewrites:";
    for (size_t i = 0; i < busy.size() && i < 3; ++i)
      text += StrCat(" ", busy[i].second, " (", -busy[i].first, ")");
    report_.warnings.push_back(text);
    return {};
  }

  Graph& graph_;
  const OptimizeOptions& options_;
  PassContext context_;
  OptimizeReport report_;
  bool inferred_ = false;  // the graph has not changed since its types were inferred
};

}  // namespace

const std::vector<Pass>& AllPasses() {
  static const auto* passes = new std::vector<Pass>{
      {"FoldConstants", "folds nodes that depend on constants only", Level::kBasic, FoldConstants},
      {"FoldShapes",
       "replaces the results of shape computations by constants where shape inference knows them",
       Level::kBasic, FoldShapes},
      {"ShareConstants", "merges equal constants", Level::kBasic, ShareConstants},
      {"ShareNodes", "computes common subexpressions once", Level::kBasic, ShareNodes},
      {"RemoveDead", "removes nodes and constants without readers", Level::kBasic, RemoveDead},
      {"WidenHalf", "computes f16 and bf16 nodes in f32; inputs, outputs and Casts keep their types",
       Level::kLayout, WidenHalf},
      {"UnsignedActivations",
       "quantized tensors between ops become u8 instead of i8, because integer kernels multiply u8 by i8",
       Level::kLayout, UnsignedActivations, "layout"},
      {"ChannelsLast",
       "convolutions and the nodes between them work on [N, spatial…, C], where that saves more than the "
       "Transposes at the borders cost",
       Level::kLayout, ChannelsLastRegions, "layout"},
  };
  return *passes;
}

const std::vector<Stage>& AllStages() {
  static const auto* stages = new std::vector<Stage>{
      {"clean", Level::kBasic, {"control", "redundant", "algebra", "quant"}},
      {"widen", Level::kLayout, {}},  // before "linear", so that folded weights are not rounded to f16
      {"linear", Level::kBasic, {"linear"}},
      {"recompose", Level::kExtended, {"recompose", "move"}},
      {"replace", Level::kExtended, {"replace"}},
      {"integer", Level::kExtended, {"integer"}},  // before "fuse", which uses the epilogues of float ops
      {"fuse", Level::kExtended, {"fuse"}},
      {"weights", Level::kExtended, {"weights"}},  // after "fuse", so that MatMul has its epilogue
      {"layout", Level::kLayout, {"layout"}},
  };
  return *stages;
}

std::vector<std::string> StageNames() {
  std::vector<std::string> names;
  for (const Stage& stage : AllStages()) names.push_back(stage.name);
  return names;
}

Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options) {
  return Guard([&]() -> Result<OptimizeReport> {
    const auto start = std::chrono::steady_clock::now();
    OptimizeReport report;
    if (options.level != Level::kNone) {
      graph.FixOverridable();
      TERN_ASSIGN(report, Optimizer(graph, options).Run());
    }
    report.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

}  // namespace tern
