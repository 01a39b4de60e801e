#include "server/generate/template/evaluator.h"

#include <algorithm>

namespace tern::server {
namespace {

using EKind = Expression::Kind;
using SKind = Statement::Kind;
constexpr int64_t kMaxSteps = 2'000'000;
constexpr int kMaxMacroDepth = 16;

// Adds the line to the message of an error that names no line yet.
Status AtLine(int line, Status status) {
  if (status.ok() || status.message().starts_with("line ")) return status;
  return Status(status.code(), StrCat("line ", line, ": ", status.message()));
}

// Returns whether the value is or contains the mapping `target`. A mapping that contained itself would never
// be freed.
bool Reaches(const TemplateValue& value, const TemplateValue& target) {
  if (value.is_list())
    return std::any_of(value.list().begin(), value.list().end(),
                       [&](const TemplateValue& v) { return Reaches(v, target); });
  return value.is_object() && (&value.members() == &target.members() ||
                               std::any_of(value.members().begin(), value.members().end(),
                                           [&](const auto& m) { return Reaches(m.second, target); }));
}

// Returns whether a value is small and flat enough to be copied and printed. Values that are made step by
// step could be nested without end, or have very many elements that are shared.
bool Fits(const TemplateValue& value, int depth, int64_t& budget) {
  if (--budget < 0 || depth > 200) return false;
  if (value.is_list())
    return std::all_of(value.list().begin(), value.list().end(),
                       [&](const TemplateValue& v) { return Fits(v, depth + 1, budget); });
  return !value.is_object() || std::all_of(value.members().begin(), value.members().end(),
                                           [&](const auto& m) { return Fits(m.second, depth + 1, budget); });
}

}  // namespace

Status TemplateEvaluator::Write(std::string_view text) {
  if (out_.size() + text.size() > kMaxTemplateText)
    return InvalidArgument("the output has more than ", kMaxTemplateText, " bytes");
  out_ += text;
  return {};
}

TemplateValue TemplateEvaluator::Find(const std::string& name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    if (i < bottom_ && i > 0) continue;
    if (const auto found = scopes_[i].find(name); found != scopes_[i].end()) return found->second;
  }
  const TemplateValue found = variables_.Member(name);
  // Templates ask whether a function is defined.
  const bool function = found.undefined() && (IsTemplateFunction(name) || macros_.count(name));
  return function ? TemplateValue::Text(StrCat("<function ", name, ">")) : found;
}

Status TemplateEvaluator::Run(const Statements& statements) {
  for (const Statement& statement : statements) {
    if (++steps_ > kMaxSteps) return InvalidArgument("the template runs for more than ", kMaxSteps, " steps");
    TERN_TRY(AtLine(statement.line, RunOne(statement)));
    if (jump_ != Jump::kNone) return {};
  }
  return {};
}

Status TemplateEvaluator::RunOne(const Statement& s) {
  switch (s.kind) {
    case SKind::kText:
      return Write(s.text);
    case SKind::kOutput: {
      TERN_ASSIGN(const TemplateValue value, Evaluate(*s.value));
      return Write(value.ToText());
    }
    case SKind::kIf:
      return RunIf(s);
    case SKind::kFor:
      return RunFor(s);
    case SKind::kSet:
      return RunSet(s);
    case SKind::kSetBlock: {
      TERN_ASSIGN(std::string text, Captured(s.bodies[0]));
      scopes_.back()[s.names[0]] = TemplateValue::Text(std::move(text));
      return {};
    }
    case SKind::kFilterBlock: {
      TERN_ASSIGN(std::string text, Captured(s.bodies[0]));
      scopes_.emplace_back()[kCapturedName] = TemplateValue::Text(std::move(text));
      auto filtered = Evaluate(*s.value);
      scopes_.pop_back();
      return filtered.ok() ? Write(filtered->ToText()) : filtered.TakeStatus();
    }
    case SKind::kMacro:
      macros_[s.text] = &s;
      return {};
    case SKind::kBreak:
    case SKind::kContinue:
      jump_ = s.kind == SKind::kBreak ? Jump::kBreak : Jump::kContinue;
      return {};
    case SKind::kBody:
      return Run(s.bodies[0]);
  }
  return {};
}

Status TemplateEvaluator::RunIf(const Statement& s) {
  for (size_t i = 0; i < s.bodies.size(); ++i) {
    if (i < s.conditions.size()) {
      TERN_ASSIGN(const TemplateValue condition, Evaluate(*s.conditions[i]));
      if (!condition.truth()) continue;
    }
    return Run(s.bodies[i]);
  }
  return {};
}

Status TemplateEvaluator::Unpack(const Statement& s, const TemplateValue& element, Scope& scope) {
  if (s.names.size() == 1) {
    scope[s.names[0]] = element;
    return {};
  }
  if (!element.is_list() || element.list().size() != s.names.size())
    return InvalidArgument("a value of kind ", element.kind(), " cannot be assigned to ", s.names.size(),
                           " names");
  for (size_t i = 0; i < s.names.size(); ++i) scope[s.names[i]] = element.list()[i];
  return {};
}

Status TemplateEvaluator::RunFor(const Statement& s) {
  TERN_ASSIGN(const TemplateValue value, Evaluate(*s.value));
  if (!value.is_list() && !value.is_text() && !value.is_object() && !value.undefined())
    return InvalidArgument("a loop over a value of kind ", value.kind());
  ValueList elements;
  if (value.is_list()) elements = value.list();
  if (value.is_text()) elements = CharactersOf(value.text());
  if (value.is_object())
    for (const auto& [key, unused] : value.members()) elements.push_back(TemplateValue::Text(key));
  if (s.filter) {
    ValueList kept;
    for (const TemplateValue& element : elements) {
      scopes_.emplace_back();
      const Status unpacked = Unpack(s, element, scopes_.back());
      auto holds = unpacked.ok() ? Evaluate(*s.filter) : Result<TemplateValue>(unpacked);
      scopes_.pop_back();
      TERN_TRY(holds.status());
      if (holds->truth()) kept.push_back(element);
    }
    elements = std::move(kept);
  }
  if (!elements.empty()) return RunLoop(s, elements);
  return s.bodies.size() > 1 ? Run(s.bodies[1]) : Status();
}

Status TemplateEvaluator::RunLoop(const Statement& s, const ValueList& elements) {
  const auto size = static_cast<int64_t>(elements.size());
  for (int64_t i = 0; i < size; ++i) {
    if (++steps_ > kMaxSteps) return InvalidArgument("the template runs for more than ", kMaxSteps, " steps");
    const auto at = static_cast<size_t>(i);
    Scope scope;
    TERN_TRY(Unpack(s, elements[at], scope));
    scope["loop"] = TemplateValue::Object({{"index", TemplateValue::Int(i + 1)},
                                           {"index0", TemplateValue::Int(i)},
                                           {"revindex", TemplateValue::Int(size - i)},
                                           {"revindex0", TemplateValue::Int(size - i - 1)},
                                           {"first", TemplateValue::Bool(i == 0)},
                                           {"last", TemplateValue::Bool(i + 1 == size)},
                                           {"length", TemplateValue::Int(size)},
                                           {"previtem", i > 0 ? elements[at - 1] : TemplateValue()},
                                           {"nextitem", i + 1 < size ? elements[at + 1] : TemplateValue()}});
    scopes_.push_back(std::move(scope));
    const Status status = Run(s.bodies[0]);
    scopes_.pop_back();
    TERN_TRY(status);
    if (std::exchange(jump_, Jump::kNone) == Jump::kBreak) break;
  }
  return {};
}

Status TemplateEvaluator::RunSet(const Statement& s) {
  TERN_ASSIGN(TemplateValue value, Evaluate(*s.value));
  int64_t budget = kMaxTemplateList;
  if (!Fits(value, 0, budget))
    return InvalidArgument("the value of '", s.names[0], "' is nested too deep or too large");
  if (s.member.empty()) return Unpack(s, value, scopes_.back());
  const TemplateValue target = Find(s.names[0]);
  if (!target.is_object())
    return InvalidArgument("'", s.names[0], "' is ", target.kind(), ", so that it has no member to set");
  if (Reaches(value, target)) return InvalidArgument("'", s.names[0], "' cannot contain itself");
  target.Set(s.member, std::move(value));
  return {};
}

Result<std::string> TemplateEvaluator::Captured(const Statements& statements) {
  std::string before = std::exchange(out_, {});
  scopes_.emplace_back();
  const Status status = Run(statements);
  scopes_.pop_back();
  std::string made = std::exchange(out_, std::move(before));
  TERN_TRY(status);
  return made;
}

Result<TemplateArguments> TemplateEvaluator::ArgumentsOf(const Expression& e) {
  TemplateArguments out;
  for (const ExpressionPtr& arg : e.args) {
    TERN_ASSIGN(TemplateValue value, Evaluate(*arg));
    out.values.push_back(std::move(value));
  }
  for (const auto& [name, arg] : e.named) {
    TERN_ASSIGN(TemplateValue value, Evaluate(*arg));
    out.named.emplace_back(name, std::move(value));
  }
  return out;
}

Result<TemplateValue> TemplateEvaluator::CallMacro(const Statement& macro, const TemplateArguments& a) {
  if (++macro_depth_ > kMaxMacroDepth)
    return InvalidArgument("macros are nested more than ", kMaxMacroDepth, " deep");
  if (a.values.size() > macro.names.size())
    return InvalidArgument("the macro '", macro.text, "' has ", macro.names.size(), " parameters, got ",
                           a.values.size());
  Scope scope;
  for (size_t i = 0; i < macro.names.size(); ++i) {
    TemplateValue& value = scope[macro.names[i]];
    const auto named = std::find_if(a.named.begin(), a.named.end(),
                                    [&](const auto& pair) { return pair.first == macro.names[i]; });
    const size_t first_default = macro.names.size() - macro.defaults.size();
    if (i < a.values.size()) {
      value = a.values[i];
    } else if (named != a.named.end()) {
      value = named->second;
    } else if (i >= first_default) {
      TERN_ASSIGN(value, Evaluate(*macro.defaults[i - first_default]));
    }
  }
  const size_t bottom = std::exchange(bottom_, scopes_.size());
  scopes_.push_back(std::move(scope));
  auto text = Captured(macro.bodies[0]);
  scopes_.pop_back();
  bottom_ = bottom;
  --macro_depth_;
  jump_ = Jump::kNone;
  TERN_TRY(text.status());
  return TemplateValue::Text(std::move(*text));
}

Result<TemplateValue> TemplateEvaluator::Evaluate(const Expression& e) {
  if (++steps_ > kMaxSteps) return InvalidArgument("the template runs for more than ", kMaxSteps, " steps");
  auto value = EvaluateHere(e);
  if (value.ok()) {
    // A long value takes as long as several steps.
    if (value->is_text()) steps_ += static_cast<int64_t>(value->text().size() / 256);
    if (value->is_list()) steps_ += static_cast<int64_t>(value->list().size() / 4);
    return value;
  }
  return AtLine(e.line, value.TakeStatus());
}

Result<TemplateValue> TemplateEvaluator::EvaluateHere(const Expression& e) {
  switch (e.kind) {
    case EKind::kConstant:
      return e.constant;
    case EKind::kName:
      return Find(e.name);
    case EKind::kMember: {
      TERN_ASSIGN(const TemplateValue value, Evaluate(*e.args[0]));
      if (value.undefined())
        return InvalidArgument("the member '", e.name, "' of an undefined value is used");
      return value.Member(e.name);
    }
    case EKind::kIndex: {
      TERN_ASSIGN(const TemplateValue value, Evaluate(*e.args[0]));
      TERN_ASSIGN(const TemplateValue index, Evaluate(*e.args[1]));
      return Subscript(value, index);
    }
    case EKind::kSlice:
      return EvaluateSlice(e);
    case EKind::kUnary:
      return EvaluateUnary(e);
    case EKind::kBinary:
      return EvaluateBinary(e);
    case EKind::kConditional: {
      TERN_ASSIGN(const TemplateValue condition, Evaluate(*e.args[0]));
      return Evaluate(*e.args[condition.truth() ? 1 : 2]);
    }
    default:
      break;
  }
  TERN_ASSIGN(const TemplateArguments a, ArgumentsOf(e));
  if (e.kind == EKind::kList) return TemplateValue::List(a.values);
  if (e.kind == EKind::kObject) {
    TemplateValue out = TemplateValue::Object();
    for (size_t i = 0; i + 1 < a.values.size(); i += 2) out.Set(a.values[i].ToText(), a.values[i + 1]);
    return out;
  }
  if (e.kind == EKind::kMethod) return CallMethod(e.name, a);
  if (e.kind == EKind::kFilter) return ApplyFilter(e.name, a);
  if (e.kind == EKind::kTest) {
    TERN_ASSIGN(const bool holds, ApplyTest(e.name, a));
    return TemplateValue::Bool(holds);
  }
  if (const auto macro = macros_.find(e.name); macro != macros_.end()) return CallMacro(*macro->second, a);
  if (!IsTemplateFunction(e.name)) return InvalidArgument("the macro '", e.name, "' is not defined yet");
  return CallFunction(e.name, a);
}

Result<TemplateValue> TemplateEvaluator::EvaluateSlice(const Expression& e) {
  TemplateValue parts[4];
  for (size_t i = 0; i < 4; ++i)
    if (e.args[i]) {
      TERN_ASSIGN(parts[i], Evaluate(*e.args[i]));
    }
  return Slice(parts[0], parts[1], parts[2], parts[3]);
}

Result<TemplateValue> TemplateEvaluator::EvaluateUnary(const Expression& e) {
  TERN_ASSIGN(const TemplateValue value, Evaluate(*e.args[0]));
  if (e.name == "not") return TemplateValue::Bool(!value.truth());
  return ApplyOperator(e.name, TemplateValue::Int(0), value);
}

Result<TemplateValue> TemplateEvaluator::EvaluateBinary(const Expression& e) {
  TERN_ASSIGN(const TemplateValue a, Evaluate(*e.args[0]));
  if ((e.name == "and" && !a.truth()) || (e.name == "or" && a.truth())) return a;
  TERN_ASSIGN(const TemplateValue b, Evaluate(*e.args[1]));
  return e.name == "and" || e.name == "or" ? b : ApplyOperator(e.name, a, b);
}

}  // namespace tern::server
