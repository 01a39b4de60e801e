#include "passes/rewrite/match.h"

#include <algorithm>

#include "passes/rewrite/facts.h"

namespace tern {
namespace {

int Find(const std::vector<std::string>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  TERN_CHECK(it != names.end(), "the pattern has no '", name, "'");
  return static_cast<int>(it - names.begin());
}

}  // namespace

Match::Match(const Pattern& pattern)
    : pattern_(&pattern),
      values_(pattern.values.size()),
      bound_(pattern.values.size()),
      attributes_(pattern.attributes.size()),
      attribute_bound_(pattern.attributes.size()),
      attr_sets_(pattern.attr_sets.size()),
      nodes_(pattern.nodes.size()) {}

Value* Match::At(std::string_view name) const {
  return values_[static_cast<size_t>(Find(pattern_->values, name))];
}
const Tensor& Match::operator[](std::string_view name) const { return At(name)->constant; }
const AttrValue& Match::Attr(std::string_view name) const {
  return attributes_[static_cast<size_t>(Find(pattern_->attributes, name))];
}
double Match::Number(std::string_view name) const {
  const AttrValue& v = Attr(name);
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return std::get<double>(v);
}
int64_t Match::Int(std::string_view name) const { return std::get<int64_t>(Attr(name)); }
std::string Match::Text(std::string_view name) const { return std::get<std::string>(Attr(name)); }
std::vector<int64_t> Match::Ints(std::string_view name) const {
  return std::get<std::vector<int64_t>>(Attr(name));
}
const Attrs& Match::AttrsOf(std::string_view set) const {
  return attr_sets_[static_cast<size_t>(Find(pattern_->attr_sets, set))];
}
void Match::Set(std::string name, Tensor constant) {
  made_.emplace_back(std::move(name), std::move(constant));
}
void Match::SetAttr(std::string name, AttrValue value) {
  made_attrs_.emplace_back(std::move(name), std::move(value));
}

// A backtracking matcher. A goal is a pattern operand and the value that it must match. Solve() handles the
// last goal of its list. It tries each alternative for this goal until the other goals match too.
class Matcher {
 public:
  Matcher(Match& match, const std::function<bool(const Match&)>& accept, MatchFailure* failure)
      : pattern_(*match.pattern_), match_(match), accept_(accept), failure_(failure) {
    match_.why_ = failure ? &reason_ : nullptr;
  }

  bool Run(Node& root) {
    const int last = static_cast<int>(pattern_.nodes.size()) - 1;
    const bool fits = TakeNode(last, root, {});
    match_.why_ = nullptr;
    return fits;
  }

 private:
  using Kind = PatternOperand::Kind;
  struct Goal {
    const PatternOperand* operand;
    Value* value;
  };

  // Returns false. Stores the reason if this attempt has matched more nodes than all earlier attempts.
  // Callers write `failure_ && Fail(…)`, so that costly arguments are computed only if the reason is wanted.
  template <class... A> bool Fail(const A&... reason) {
    if (!failure_) return false;
    int depth = bonus_;
    for (const Node* node : match_.nodes_) depth += node != nullptr;
    if (depth > failure_->depth) *failure_ = {depth, StrCat(reason...)};
    return false;
  }

  bool TakeNode(int index, Node& node, std::vector<Goal> goals) {
    const PatternNode& p = pattern_.nodes[static_cast<size_t>(index)];
    if (Node* before = match_.nodes_[static_cast<size_t>(index)]; before)
      return before == &node ? Solve(std::move(goals))
                             : Fail("the pattern needs the same node twice, but found two different nodes");
    if (node.op != p.op)
      return failure_ && Fail("found ", node.Describe(), " where ", p.op->name, " is needed");
    if (ChannelsLast(node)) return failure_ && Fail(node.Describe(), " has channels last");
    if (node.outputs().size() < p.outputs.size())
      return failure_ && Fail(node.Describe(), " has too few outputs");
    for (size_t i = p.inputs.size(); i < node.inputs().size(); ++i)
      if (node.inputs()[i])
        return failure_ && Fail(node.Describe(), " has one more input than the pattern (input ", i, ")");
    if (LiteralRaisesRank(p, node))
      return failure_ &&
             Fail(node.Describe(), " has a constant of one element with more axes than the other operands");
    const Match saved = match_;
    match_.nodes_[static_cast<size_t>(index)] = &node;
    const bool fits = TakeAttrs(p, node) && TakeOutputs(p, node) && TakeInputs(p, node, goals);
    if (!fits) match_ = saved;
    return fits;
  }

  // True if a number of the pattern would match a constant that raises the rank of the result. An example is
  // a constant of shape [1,1] beside a vector.
  static bool LiteralRaisesRank(const PatternNode& p, const Node& node) {
    const auto is_literal = [](const PatternOperand& o) { return o.kind == Kind::kLiteral; };
    if (std::none_of(p.inputs.begin(), p.inputs.end(), is_literal)) return false;
    int most = 0;
    for (const Value* v : node.inputs())
      if (v && !ScalarOf(v)) most = std::max(most, v->type.shape.rank());
    return std::any_of(node.inputs().begin(), node.inputs().end(),
                       [&](const Value* v) { return ScalarOf(v) && v->constant.rank() > most; });
  }

  bool TakeAttrs(const PatternNode& p, const Node& node) {
    if (p.all_attrs >= 0) match_.attr_sets_[static_cast<size_t>(p.all_attrs)] = node.attrs;
    if (p.attrs.empty()) return true;
    for (const PatternAttr& a : p.attrs) {
      const AttrValue found = node.attrs.Get(a.name);
      if (a.value) {
        if (!SameNumberOrText(found, *a.value))
          return failure_ && Fail(node.Describe(), " has ", a.name, "=", AttrToText(found), ", but ",
                                  AttrToText(*a.value), " is needed");
        continue;
      }
      const auto v = static_cast<size_t>(a.variable);
      if (match_.attribute_bound_[v] && !SameAttr(match_.attributes_[v], found))
        return failure_ && Fail(node.Describe(), " has ", a.name, "=", AttrToText(found),
                                ", but elsewhere it is ", AttrToText(match_.attributes_[v]));
      match_.attribute_bound_[v] = true;
      match_.attributes_[v] = found;
    }
    return true;
  }

  static bool SameNumberOrText(const AttrValue& a, const AttrValue& b) {
    const auto number = [](const AttrValue& v) -> std::optional<double> {
      if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
      if (const auto* d = std::get_if<double>(&v)) return *d;
      return std::nullopt;
    };
    const auto x = number(a), y = number(b);
    return x && y ? *x == *y : SameAttr(a, b);
  }

  bool TakeOutputs(const PatternNode& p, Node& node) {
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      match_.values_[static_cast<size_t>(p.outputs[i])] = node.outputs()[i];
      match_.bound_[static_cast<size_t>(p.outputs[i])] = true;
    }
    return true;
  }

  bool TakeInputs(const PatternNode& p, Node& node, const std::vector<Goal>& goals) {
    const auto with = [&](bool swapped) {
      std::vector<Goal> extended = goals;
      for (size_t k = p.inputs.size(); k-- > 0;) {
        const size_t from = swapped ? 1 - k : k;
        extended.push_back({&p.inputs[k], node.input(static_cast<int>(from))});
      }
      return extended;
    };
    if (Solve(with(false))) return true;
    return p.commutative && node.input(0) != node.input(1) && Solve(with(true));
  }

  bool Solve(std::vector<Goal> goals) {
    if (goals.empty()) return Finish();
    const Goal goal = goals.back();
    goals.pop_back();
    const PatternOperand& o = *goal.operand;
    if (o.kind == Kind::kAbsent)
      return goal.value ? Fail("an input is present that the pattern forbids") : Solve(std::move(goals));
    if (!goal.value && !o.optional) return Fail("an input is absent that the pattern needs");
    if (o.kind == Kind::kNode) {
      Node* producer = goal.value->producer;
      if (!producer || goal.value->output != o.output)
        return Fail("'", goal.value->name, "' is ", producer ? "another output" : "not made by a node",
                    ", but ", pattern_.nodes[static_cast<size_t>(o.node)].op->name, " is needed");
      return TakeNode(o.node, *producer, std::move(goals));
    }
    if (o.kind == Kind::kLiteral) {
      if (!IsScalar(goal.value, o.literal))
        return Fail("'", goal.value->name, "' is not the constant ", o.literal);
      return Solve(std::move(goals));
    }
    return TakeVariable(o, goal.value, std::move(goals));
  }

  bool TakeVariable(const PatternOperand& o, Value* value, std::vector<Goal> goals) {
    const auto v = static_cast<size_t>(o.variable);
    if (o.kind == Kind::kConstant && value && !value->is_constant())
      return Fail("'", value->name, "' is not a constant");
    if (match_.bound_[v]) {
      if (match_.values_[v] != value && !SameConstants(match_.values_[v], value))
        return Fail("the pattern needs the same value twice, but found two different values");
      return Solve(std::move(goals));
    }
    match_.bound_[v] = true;
    match_.values_[v] = value;
    if (Solve(std::move(goals))) return true;
    match_.bound_[v] = false;
    match_.values_[v] = nullptr;
    return false;
  }

  static bool SameConstants(const Value* a, const Value* b) {
    return a && b && a->is_constant() && b->is_constant() && SameTensor(a->constant, b->constant);
  }

  bool Finish() {
    bonus_ = 100;  // all nodes match, so reasons from here on take precedence
    const bool fits = Exclusive() && Accepted();
    bonus_ = 0;
    return fits;
  }

  bool Accepted() {
    reason_.clear();
    return accept_(match_) || Fail(reason_.empty() ? "the rule's condition does not hold" : reason_);
  }

  // True if nodes outside of the pattern read only the root's named outputs and values marked `shared`.
  bool Exclusive() {
    const Node& root = *match_.nodes_.back();
    for (size_t i = 0; i < pattern_.nodes.size(); ++i) {
      Node& node = *match_.nodes_[i];
      const bool is_root = i + 1 == pattern_.nodes.size();
      if (!is_root && pattern_.nodes[i].shared) continue;
      if (node.graph != root.graph)
        return failure_ && Fail(node.Describe(), " is outside the graph of the last node");
      for (size_t k = is_root ? pattern_.nodes[i].outputs.size() : 0; k < node.outputs().size(); ++k) {
        const Value& v = *node.outputs()[k];
        if (v.output_uses) return Fail("'", v.name, "' is an output of the graph");
        for (const auto& [reader, input] : v.uses)
          if (std::find(match_.nodes_.begin(), match_.nodes_.end(), reader) == match_.nodes_.end())
            return Fail("'", v.name, "' is also read by ", reader->Describe());
      }
    }
    return true;
  }

  const Pattern& pattern_;
  Match& match_;
  const std::function<bool(const Match&)>& accept_;
  MatchFailure* failure_;
  std::string reason_;
  int bonus_ = 0;
};

namespace {

// Returns false if v cannot match the operand. Checks only v and the op that produces v.
bool MayFit(const Pattern& pattern, const PatternOperand& o, const Value* v) {
  using Kind = PatternOperand::Kind;
  if (!v) return o.optional || o.kind == Kind::kAbsent;
  switch (o.kind) {
    case Kind::kAbsent:
      return false;
    case Kind::kConstant:
    case Kind::kLiteral:
      return v->is_constant();
    case Kind::kNode:
      return v->producer && v->producer->op == pattern.nodes[static_cast<size_t>(o.node)].op;
    default:
      return true;
  }
}

}  // namespace

bool MayMatch(const Node& root, const Pattern& pattern) {
  const PatternNode& p = pattern.root();
  if (root.op != p.op) return false;
  const auto fits = [&](bool swapped) {
    for (size_t k = 0; k < p.inputs.size(); ++k)
      if (!MayFit(pattern, p.inputs[k], root.input(static_cast<int>(swapped ? 1 - k : k)))) return false;
    return true;
  };
  return fits(false) || (p.commutative && fits(true));
}

bool MatchAt(Node& root, Match& match, const std::function<bool(const Match&)>& accept,
             MatchFailure* failure) {
  return Matcher(match, accept, failure).Run(root);
}

}  // namespace tern
