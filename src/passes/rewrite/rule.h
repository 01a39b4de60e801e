// A rewrite rule: a pattern and its replacement in the IR's text form, or a function where text is not
// enough. One file per rule or family of rules, under src/passes/<group>; the build finds TERN_RULE lines.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "passes/level.h"
#include "passes/rewrite/match.h"
#include "passes/rewrite/rewrite.h"

namespace tern {

struct Rule {
  const char* summary = "";
  Level level = Level::kBasic;
  bool on_request = false;  // runs only when OptimizeOptions::enable or `only` names it

  // A rule in text. Alternative patterns share their variables; the first that matches is used.
  std::vector<const char*> match;
  const char* emit = "";
  std::function<bool(const Match&)> when;  // may not change anything; m.Skip("reason") says no
  std::function<void(Match&)> compute;     // sets the constants and attributes that `emit` names

  // A rule in code: the ops whose nodes are tried, "Binary:add" for one kind, and the function to call. It
  // returns false without having changed anything, or true after Replace.
  std::vector<const char*> roots;
  std::function<bool(Rewrite&)> apply;
  const char* example = "";  // for the documentation: a graph where a rule in code fires

  // Filled by the table.
  std::string name, group;
  std::vector<Pattern> patterns;
  Pattern replacement;
};

// All rules, by group and name. CHECKs that their texts parse.
const std::vector<const Rule*>& AllRules();
const Rule* FindRule(std::string_view name);
std::vector<const Rule*> RulesOf(const std::vector<std::string>& groups, Level level);
// Parses the texts; for rules made by tests.
Status PrepareRule(Rule& rule);

// Applies the rule at the root of `rewrite` if it matches. Returns whether it did.
bool ApplyRule(const Rule& rule, Rewrite& rewrite);

}  // namespace tern

// Defines the rule. Its group is the folder's name.
#define TERN_RULE(Name) Rule TernRule_##Name()
