// Applies a rule: finds the pattern that matches, computes its constants, emits the replacement.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {

class Emitter {
 public:
  Emitter(const Rule& rule, Match& match, Rewrite& rewrite)
      : rule_(rule), to_(rule.replacement), match_(match), rewrite_(rewrite), values_(to_.values.size()) {}

  bool Run() {
    for (size_t i = 0; i < to_.nodes.size(); ++i) EmitNode(to_.nodes[i]);
    const PatternNode& from = match_.pattern_->root();
    std::vector<Value*> outputs;
    for (int variable : from.outputs)
      outputs.push_back(Made(match_.pattern_->values[static_cast<size_t>(variable)]));
    return rewrite_.Replace(outputs);
  }

 private:
  using Kind = PatternOperand::Kind;

  Value* Made(const std::string& name) {
    const auto it = std::find(to_.values.begin(), to_.values.end(), name);
    TERN_CHECK(it != to_.values.end(), "rule '", rule_.name, "' does not make %", name);
    return values_[static_cast<size_t>(it - to_.values.begin())];
  }

  void EmitNode(const PatternNode& p) {
    std::vector<Value*> inputs(p.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!IsNumber(p.inputs[i])) inputs[i] = Input(p.inputs[i]);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (IsNumber(p.inputs[i])) inputs[i] = Number(p.inputs[i], inputs);
    std::vector<Value*> made = inputs;  // %y = %x
    if (p.op) {
      while (!inputs.empty() && !inputs.back()) inputs.pop_back();
      const size_t outputs = std::max<size_t>(1, p.outputs.size());
      made = rewrite_.Ops(*p.op, AttrsFor(p), inputs, static_cast<int>(outputs));
    }
    by_node_.push_back(made);
    for (size_t i = 0; i < p.outputs.size(); ++i) values_[static_cast<size_t>(p.outputs[i])] = made[i];
  }

  static bool IsNumber(const PatternOperand& o) {
    return o.kind == Kind::kLiteral || o.kind == Kind::kAttribute;
  }

  // Makes a constant with the dtype of the other operands.
  Value* Number(const PatternOperand& o, const std::vector<Value*>& beside) {
    DType dtype = DType::kF32;
    for (const Value* v : beside)
      if (v) dtype = v->type.dtype;
    const double number = o.kind == Kind::kLiteral ? o.literal : AttributeNumber(o);
    return rewrite_.Scalar(dtype, number);
  }

  double AttributeNumber(const PatternOperand& o) {
    const AttrValue v = Attribute(o.variable);
    if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
    return std::get<double>(v);
  }

  Value* Input(const PatternOperand& o) {
    if (o.kind == Kind::kAbsent) return nullptr;
    if (o.kind == Kind::kNode) return by_node_[static_cast<size_t>(o.node)][static_cast<size_t>(o.output)];
    Value*& value = values_[static_cast<size_t>(o.variable)];
    if (value) return value;
    const std::string& name = to_.values[static_cast<size_t>(o.variable)];
    for (const auto& [made, tensor] : match_.made_)
      if (made == name) return value = tensor.defined() ? rewrite_.Const(tensor) : nullptr;
    return value = match_.At(name);
  }

  AttrValue Attribute(int variable) {
    const std::string& name = to_.attributes[static_cast<size_t>(variable)];
    for (const auto& [made, v] : match_.made_attrs_)
      if (made == name) return v;
    return match_.Attr(name);
  }

  Attrs AttrsFor(const PatternNode& p) {
    Attrs attrs = p.op->defaults;
    if (p.all_attrs >= 0) attrs = match_.AttrsOf(to_.attr_sets[static_cast<size_t>(p.all_attrs)]);
    for (const PatternAttr& a : p.attrs) {
      const Status status = attrs.Set(a.name, a.value ? *a.value : Attribute(a.variable));
      TERN_CHECK(status.ok(), "rule '", rule_.name, "': ", status.message());
    }
    return attrs;
  }

  const Rule& rule_;
  const Pattern& to_;
  Match& match_;
  Rewrite& rewrite_;
  std::vector<Value*> values_;  // values_[i] has the name to_.values[i]
  std::vector<std::vector<Value*>> by_node_;
};

bool ApplyRule(const Rule& rule, Rewrite& rewrite) {
  if (rule.apply) return rule.apply(rewrite);
  MatchFailure failure;
  const auto accept = [&](const Match& m) { return !rule.when || rule.when(m); };
  for (const Pattern& pattern : rule.patterns) {
    if (!rewrite.explains() && !MayMatch(rewrite.root(), pattern)) continue;
    Match match(pattern);
    if (!MatchAt(rewrite.root(), match, accept, rewrite.explains() ? &failure : nullptr)) continue;
    if (rule.compute) rule.compute(match);
    return Emitter(rule, match, rewrite).Run();
  }
  return rewrite.Skip(failure.reason);
}

}  // namespace tern
