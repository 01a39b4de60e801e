// Reads .rule files. A file contains graphs in which a rule must fire and graphs in which it must not fire.
//
//   rule RecomposeGelu
//   fires -> Gelu
//   graph @g(%x: f32[3,5]) -> (%y) { … #w: f32[4,4] = rand(7) … }
//   misses "is also read by"
//   graph @g(…) …
// The words after `->` are the ops of the rewritten graph, in order. An op that has a kind is written as
// Op:kind, as in Unary:relu. Sizes of symbols may precede `->`, as in `fires N=4 -> Gelu`. The text after
// `misses` is part of the reason why the rule does not fire. rand(SEED) or rand(SEED, LOW, HIGH) fills a
// constant with random numbers. `pass NAME` instead of `rule NAME` tests a pass that is not a rule. Then
// no text may follow `misses`, because passes report no reasons.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace tern {

struct RuleCase {
  std::string place;  // file:line
  std::string rule;   // name of the rule or pass
  bool is_pass = false;
  bool fires = false;
  std::string ops;     // if the rule must fire, the ops of the rewritten graph
  std::string reason;  // if a rule must not fire, a part of the reason; empty for a pass
  std::map<std::string, int64_t> symbols;
  std::string graph;
};

Result<std::vector<RuleCase>> ReadRuleFile(const std::string& path);

}  // namespace tern
