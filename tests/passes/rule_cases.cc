// tern_rules FOLDER [--only TEXT] runs every .rule file below the folder. For every rule there must be a
// graph in which it fires and a graph in which it does not fire.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "equal_graphs.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "passes/example.h"
#include "passes/pipeline.h"
#include "passes/rewrite/driver.h"
#include "rule_file.h"

namespace fs = std::filesystem;
using namespace tern;

namespace {

void AppendOps(const Graph& graph, std::string& out) {
  for (const auto& node : graph.nodes()) {
    out += StrCat(out.empty() ? "" : " ", node->op->name);
    if (!KindName(*node).empty()) out += ":" + KindName(*node);
    for (const auto& sub : node->subgraphs()) AppendOps(*sub, out);
  }
}

Result<int> Apply(const RuleCase& c, Graph& graph, PassContext& context) {
  if (c.is_pass) {
    for (const Pass& pass : AllPasses())
      if (pass.name == c.rule) return pass.run(graph, context);
    return NotFound("no pass is called '", c.rule, "'");
  }
  const Rule* rule = FindRule(c.rule);
  if (!rule) return NotFound("no rule is called '", c.rule, "'");
  context.why_rule = rule->name;
  context.requested.insert(rule->name);
  context.SetBudget(1000);
  TERN_ASSIGN(const int hits, ApplyRules(graph, RuleIndex({rule}), context));
  if (context.exhausted()) return InvalidArgument("the rule fires without end");
  return hits;
}

std::string CheckFires(const RuleCase& c, const Graph& before, Graph& after, int hits) {
  if (hits == 0) return "the rule did not fire";
  after.RemoveUnusedConstants();
  std::string ops;
  AppendOps(after, ops);
  if (ops != c.ops) return StrCat("the rewritten graph has the ops ", ops, "\n", PrintGraph(after));
  for (unsigned seed : {1u, 2u})
    if (auto error = CompareGraphs(before, after, c.symbols, seed); !error.empty())
      return StrCat(error, "\n", PrintGraph(after));
  return "";
}

std::string CheckMisses(const RuleCase& c, int hits, const PassContext& context) {
  if (hits) return "the rule fired";
  if (c.is_pass) return "";
  for (const WhyNot& answer : context.answers())
    if (answer.reason.find(c.reason) != std::string::npos) return "";
  std::string heard;
  for (const WhyNot& answer : context.answers()) heard += StrCat("\n  ", answer.node, ": ", answer.reason);
  return StrCat("no reason contains \"", c.reason, "\"; the reasons are:", heard);
}

std::string Run(const RuleCase& c) {
  auto before = ParseGraph(c.graph);
  if (!before.ok()) return before.status().ToString();
  if (Status inferred = InferGraph(**before); !inferred.ok()) return inferred.ToString();
  auto after = (*before)->Clone();
  PassContext context;
  auto hits = Guard([&] { return Apply(c, *after, context); });
  if (!hits.ok()) return hits.status().ToString();
  if (Status sound = VerifyGraph(*after); !sound.ok()) return sound.ToString();
  if (Status inferred = InferGraph(*after); !inferred.ok()) return inferred.ToString();
  return c.fires ? CheckFires(c, **before, *after, *hits) : CheckMisses(c, *hits, context);
}

// Checks the example in the documentation of a rule that is written in C++ instead of as a pattern. The rule
// must fire on the example, and the results must not change.
std::string CheckExample(const Rule& rule) {
  const auto example = RunExample(rule);
  return example.ok() ? CompareGraphs(*example->before, *example->after, {}, 1) : example.status().ToString();
}

// Returns a message for each rule that has no case in which it fires or no case in which it misses.
std::vector<std::string> Untested(const std::vector<RuleCase>& cases) {
  std::set<std::pair<std::string, bool>> seen;
  for (const RuleCase& c : cases) seen.insert({c.rule, c.fires});
  std::vector<std::string> names;
  for (const Rule* rule : AllRules())
    for (bool fires : {true, false})
      if (!seen.count({rule->name, fires}))
        names.push_back(StrCat(rule->name, fires ? " has no case that fires" : " has no case that misses"));
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tern_rules FOLDER [--only TEXT]\n");
    return 2;
  }
  InitOps();
  const std::string only = argc > 3 && !std::strcmp(argv[2], "--only") ? argv[3] : "";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1]))
    if (entry.path().extension() == ".rule") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int passed = 0, failed = 0;
  const auto count = [&](const std::string& what, const std::string& error) {
    ++(error.empty() ? passed : failed);
    if (!error.empty()) std::printf("FAIL %s: %s\n", what.c_str(), error.c_str());
  };
  std::vector<RuleCase> all;
  for (const fs::path& file : files) {
    auto cases = ReadRuleFile(file.string());
    if (!cases.ok()) {
      count(file.string(), cases.status().message());
      continue;
    }
    for (RuleCase& c : *cases) {
      if ((c.place + " " + c.rule).find(only) != std::string::npos) count(c.place + " " + c.rule, Run(c));
      all.push_back(std::move(c));
    }
  }
  for (const Rule* rule : AllRules())
    if (rule->apply && rule->name.find(only) != std::string::npos)
      count("the example of " + rule->name, CheckExample(*rule));
  if (only.empty())
    for (const std::string& name : Untested(all)) count(name, "add a .rule case");
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed || !passed;
}
