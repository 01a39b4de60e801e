#include "passes/rewrite/driver.h"

#include <algorithm>
#include <unordered_map>

#include "passes/rewrite/names.h"

namespace tern {

struct RuleIndex::Impl {
  // The rules to try at the nodes of an op, in order. `by_kind` has an entry for each kind that is named by
  // a rule. `any` is used for all other kinds.
  struct Rules {
    std::vector<const Rule*> any;
    std::unordered_map<std::string, std::vector<const Rule*>> by_kind;
  };
  std::unordered_map<const OpDef*, Rules> by_op;
  std::vector<const Rule*> none;
};

namespace {

struct Root {
  const OpDef* op;
  std::string kind;  // an empty kind means any kind
};

std::vector<Root> RootsOf(const Rule& rule) {
  std::vector<Root> roots;
  for (const Pattern& p : rule.patterns) {
    Root root{p.root().op, ""};
    for (const PatternAttr& a : p.root().attrs)
      if (a.name == "kind" && a.value) root.kind = std::get<std::string>(*a.value);
    roots.push_back(std::move(root));
  }
  for (const std::string root : rule.roots) {
    const size_t colon = root.find(':');
    roots.push_back(
        {FindOp(root.substr(0, colon)), colon == std::string::npos ? "" : root.substr(colon + 1)});
  }
  return roots;
}

void AddOnce(std::vector<const Rule*>& list, const Rule* rule) {
  if (list.empty() || list.back() != rule) list.push_back(rule);
}

}  // namespace

RuleIndex::RuleIndex(const std::vector<const Rule*>& rules) {
  auto impl = std::make_shared<Impl>();
  std::vector<std::vector<Root>> roots;
  for (const Rule* rule : rules)
    for (const Root& root : roots.emplace_back(RootsOf(*rule)))
      if (!root.kind.empty()) impl->by_op[root.op].by_kind[root.kind];
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule* rule = rules[i];
    for (const Root& root : roots[i]) {
      Impl::Rules& of = impl->by_op[root.op];
      if (!root.kind.empty()) {
        AddOnce(of.by_kind[root.kind], rule);
        continue;
      }
      AddOnce(of.any, rule);
      for (auto& [kind, list] : of.by_kind) AddOnce(list, rule);  // a rule for any kind applies to each kind
    }
  }
  impl_ = std::move(impl);
}

const std::vector<const Rule*>& RuleIndex::For(const Node& node) const {
  if (ChannelsLast(node)) return impl_->none;
  const auto of = impl_->by_op.find(node.op);
  if (of == impl_->by_op.end()) return impl_->none;
  if (of->second.by_kind.empty()) return of->second.any;
  const auto it = of->second.by_kind.find(KindName(node));
  return it == of->second.by_kind.end() ? of->second.any : it->second;
}

namespace {

class Sweep {
 public:
  Sweep(const RuleIndex& rules, PassContext& context) : rules_(rules), context_(context) {}

  // Visits every node once. After a rewrite it continues at the first new node.
  Status Run(Graph& graph) {
    const int dead = dead_;
    TERN_TRY(Visit(graph));
    if (dead_ > dead) graph.RemoveDeadNodes();
    return {};
  }

  int hits() const { return hits_; }

 private:
  Status Visit(Graph& graph) {
    for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
      Node& node = **it;
      if (node.unused()) {
        ++it;
        continue;
      }
      for (const auto& sub : node.subgraphs()) TERN_TRY(Run(*sub));
      const auto next = std::next(it);
      Node* first_new = nullptr;
      TERN_ASSIGN(const bool changed, At(node, first_new));
      if (!changed) {
        ++it;
        continue;
      }
      if (!context_.Spend()) return {};
      if (made_ >= kDropConstantsAfter) {  // frees old weights that new constants have replaced
        graph.RemoveUnusedConstants();
        made_ = 0;
      }
      it = next;  // the rewrite has removed `node`, but no node after it
      // Goes back to first_new. If the rewrite has sorted the nodes, first_new may come later in the list.
      // In this case the sweep continues at the front.
      while (first_new && it != graph.nodes().begin() && std::prev(it)->get() != first_new) --it;
      if (first_new && it != graph.nodes().begin()) --it;
    }
    return {};
  }

  Result<bool> At(Node& node, Node*& first_new) {
    for (const Rule* rule : rules_.For(node)) {
      if (!context_.Enabled(rule->name)) continue;
      if (rule->on_request && !context_.requested.count(rule->name) && !context_.only.count(rule->name))
        continue;
      context_.Attempt();
      Rewrite rewrite(node, rule->name);
      const bool asked = context_.Asks(*rule, node);
      if (asked) rewrite.Explain();
      if (context_.halves_are_wide) rewrite.RefuseHalf();
      const bool applied = ApplyRule(*rule, rewrite);
      made_ += rewrite.constant_bytes();
      TERN_TRY(Status(rewrite.status()));
      if (asked) context_.Answer(node, applied ? "the rule was applied" : rewrite.why());
      if (!applied) continue;
      TERN_CHECK(rewrite.done(), "rule '", rule->name, "' returned true but replaced nothing");
      rewrite.DropUnread();
      if (!rewrite.emitted().empty()) first_new = rewrite.emitted().front();
      ++hits_;
      dead_ += rewrite.leaves_dead();
      std::vector<ReplacedNode> replaced;
      RemoveUnread(node, replaced);
      NameAfterReplaced(rewrite.emitted(), replaced);
      context_.Hit(rule->name);
      return true;
    }
    return false;
  }

  static constexpr size_t kDropConstantsAfter = size_t{4} << 20;  // bytes
  const RuleIndex& rules_;
  PassContext& context_;
  int hits_ = 0, dead_ = 0;
  size_t made_ = 0;  // bytes of constants made since unused constants were last removed
};

}  // namespace

Result<int> ApplyRules(Graph& graph, const RuleIndex& rules, PassContext& context) {
  int total = 0;
  for (;;) {
    Sweep sweep(rules, context);
    TERN_TRY(sweep.Run(graph));
    total += sweep.hits();
    if (sweep.hits() == 0 || context.exhausted()) break;
  }
  return total;
}

}  // namespace tern
