// A rewrite rule is either text (a pattern and its replacement in the IR's text form) or a function. Rules
// are defined in files under src/passes/<group>. The build finds the TERN_RULE lines.
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
  bool on_request = false;  // runs only when OptimizeOptions::enable or `only` names the rule

  // Fields of a rule in text. `match` lists alternative patterns, and the first one that matches is used.
  // Every pattern must define the variables that `emit` reads.
  std::vector<const char*> match;
  const char* emit = "";
  std::function<bool(const Match&)> when;  // may not change anything; returns m.Skip("reason") to refuse
  std::function<void(Match&)> compute;     // sets the constants and attributes that `emit` names

  // Fields of a rule in code. The rule is tried at nodes of the ops in `roots`. "Binary:add" names an op and
  // a kind. `apply` returns true after a successful Replace, or false if it changed nothing.
  std::vector<const char*> roots;
  std::function<bool(Rewrite&)> apply;
  const char* example = "";  // a graph on which a rule in code fires, shown in the documentation

  // PrepareRule and the table of rules set these fields.
  std::string name, group;
  std::vector<Pattern> patterns;
  Pattern replacement;
};

// Returns all rules, sorted by group and name. CHECKs that their texts parse.
const std::vector<const Rule*>& AllRules();
const Rule* FindRule(std::string_view name);
std::vector<const Rule*> RulesOf(const std::vector<std::string>& groups, Level level);
// Parses the patterns and the replacement, and checks that the ops in `roots` exist. Only rules outside of
// the table, such as those of tests, need this call.
Status PrepareRule(Rule& rule);

// Applies the rule at the root of `rewrite` if it matches. Returns true if the rule was applied.
bool ApplyRule(const Rule& rule, Rewrite& rewrite);

}  // namespace tern

// Defines the rule. Its group is the folder's name.
#define TERN_RULE(Name) Rule TernRule_##Name()
