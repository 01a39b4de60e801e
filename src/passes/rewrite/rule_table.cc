#include <algorithm>
#include <memory>
#include <unordered_map>

#include "ops/ops.h"
#include "passes/rewrite/rule.h"

namespace tern {

// The build generates this function from the TERN_RULE lines.
void CollectRules(void (*Add)(Rule, const char* name, const char* group));

namespace {

std::vector<std::unique_ptr<Rule>>& Table() {
  static auto* table = new std::vector<std::unique_ptr<Rule>>();
  return *table;
}

void AddToTable(Rule rule, const char* name, const char* group) {
  rule.name = name;
  rule.group = group;
  const Status status = PrepareRule(rule);
  TERN_CHECK(status.ok(), status.ToString());
  Table().push_back(std::make_unique<Rule>(std::move(rule)));
}

std::vector<const Rule*> MakeTable() {
  InitOps();
  CollectRules(AddToTable);
  std::vector<const Rule*> rules;
  for (const auto& rule : Table()) rules.push_back(rule.get());
  std::sort(rules.begin(), rules.end(), [](const Rule* a, const Rule* b) {
    return std::pair(a->group, a->name) < std::pair(b->group, b->name);
  });
  return rules;
}

}  // namespace

Status PrepareRule(Rule& rule) {
  const auto parse = [&](const char* text, Pattern& into) -> Status {
    auto pattern = ParsePattern(text);
    if (!pattern.ok()) return pattern.TakeStatus().While(StrCat("reading rule '", rule.name, "'"));
    into = std::move(*pattern);
    return {};
  };
  for (const char* text : rule.match) TERN_TRY(parse(text, rule.patterns.emplace_back()));
  if (!rule.match.empty()) return parse(rule.emit, rule.replacement);
  for (const char* root : rule.roots) {
    const std::string_view name(root);
    if (!FindOp(name.substr(0, name.find(':'))))
      return InvalidArgument("rule '", rule.name, "' is for an op '", root, "' that does not exist");
  }
  return {};
}

const std::vector<const Rule*>& AllRules() {
  static const auto* rules = new std::vector<const Rule*>(MakeTable());
  return *rules;
}

const Rule* FindRule(std::string_view name) {
  for (const Rule* rule : AllRules())
    if (rule->name == name) return rule;
  return nullptr;
}

static const std::unordered_map<std::string, std::vector<const Rule*>>& RulesByGroup() {
  static const auto* groups = [] {
    auto* all = new std::unordered_map<std::string, std::vector<const Rule*>>();
    for (const Rule* rule : AllRules()) (*all)[rule->group].push_back(rule);
    return all;
  }();
  return *groups;
}

std::vector<const Rule*> RulesOf(const std::vector<std::string>& groups, Level level) {
  std::vector<const Rule*> out;
  for (const std::string& group : groups)
    if (const auto found = RulesByGroup().find(group); found != RulesByGroup().end())
      for (const Rule* rule : found->second)
        if (rule->level <= level) out.push_back(rule);
  return out;
}

}  // namespace tern
