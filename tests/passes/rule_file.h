// Reads .rule files: for each rule, graphs where it fires and graphs where it must not.
//
//   rule RecomposeGelu
//   fires -> Gelu
//   graph @g(%x: f32[3,5]) -> (%y) { … #w: f32[4,4] = rand(7) … }
//   misses "is also read by"
//   graph @g(…) …
// After `->` come the remaining ops, in order; `Op:kind` names a kind. Before it come optional sizes of
// symbols: `fires N=4 -> Gelu`. rand(SEED) or rand(SEED, LOW, HIGH) fills a constant. `pass NAME` tests a
// pass that is not a rule.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace tern {

struct RuleCase {
  std::string place;  // file:line
  std::string rule;   // or pass
  bool is_pass = false;
  bool fires = false;
  std::string ops;     // when it fires
  std::string reason;  // when it does not
  std::map<std::string, int64_t> symbols;
  std::string graph;
};

Result<std::vector<RuleCase>> ReadRuleFile(const std::string& path);

}  // namespace tern
