#include "tools/pass_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/tensor.h"
#include "ir/graph.h"
#include "passes/example.h"

namespace tern::tools {
namespace {

// Escapes characters that would end a quoted label of Mermaid or have a special meaning in it.
std::string Escape(const std::string& text) {
  static const std::map<char, const char*> kCodes = {
      {'"', "#quot;"}, {'#', "#35;"}, {'<', "#lt;"}, {'>', "#gt;"}, {'`', "#96;"}};
  std::string out;
  for (const char c : text) {
    const auto it = kCodes.find(c);
    out += it == kCodes.end() ? std::string(1, c) : it->second;
  }
  return out;
}

// Writes one side of the picture as Mermaid text, which consists of boxes with unique ids and of arrows.
class Sketch {
 public:
  explicit Sketch(const char* title) : id_(title[0]) {
    text_ = StrCat("  subgraph ", title, "\n    direction TB\n");
  }

  std::string Value(const std::string& label) { return Box("([", label, "])"); }
  std::string Constant(const std::string& label) { return Box("{{", label, "}}"); }
  std::string Op(const std::string& title, const std::vector<std::string>& lines) {
    std::string label = Escape(title);
    for (const std::string& line : lines) label += "<br>" + Escape(Shorten(line));
    return Raw("[", label, "]");
  }
  void Arrow(const std::string& from, const std::string& to, const std::string& label = "",
             bool dotted = false) {
    const std::string name = label.empty() ? "" : StrCat("|\"", Escape(label), "\"|");
    text_ += StrCat("    ", from, dotted ? " -.->" : " -->", name, " ", to, "\n");
  }
  void Open(const std::string& title) {
    text_ += StrCat("    subgraph ", Next(), " [\"", Escape(title), "\"]\n");
  }
  void Close() { text_ += "    end\n"; }
  std::string Take() { return text_ + "  end\n"; }

 private:
  static std::string Shorten(const std::string& text) {
    constexpr size_t kLongest = 60;
    return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
  }
  std::string Box(const char* open, const std::string& label, const char* close) {
    return Raw(open, Escape(Shorten(label)), close);
  }
  std::string Raw(const char* open, const std::string& label, const char* close) {
    const std::string id = Next();
    text_ += StrCat("    ", id, open, '"', label, '"', close, "\n");
    return id;
  }
  std::string Next() { return StrCat(id_, count_++); }

  char id_;
  int count_ = 0;
  std::string text_;
};

// Returns the title of an op's box, such as "add" for Binary with kind "add", and "Reduce sum" for Reduce
// with kind "sum".
std::string Title(const std::string& op, const std::string& kind) {
  if (kind.empty() || (op == "Softmax" && kind == "softmax")) return op;
  return op == "Unary" || op == "Binary" || op == "Activation" ? kind : StrCat(op, " ", kind);
}

// Returns the label of the arrow to an input of the op. The label is the name of the port. Returns "" if the
// op has one input, if the order of its inputs does not matter, or if the port is variadic.
std::string PortName(const OpDef& op, const std::string& kind, size_t input, size_t inputs) {
  if (inputs < 2 || (op.name == "Binary" && CommutativeKind(kind)) || input >= op.inputs.size()) return "";
  return op.inputs[input].arity == Port::Arity::kVariadic ? "" : op.inputs[input].name;
}

// Returns the formula of a value that a pattern computes only from constants, such as "(#a + #b)". Omits
// reshapes.
std::string Formula(const PatternNode& node, const std::string& kind,
                    const std::vector<std::string>& operands) {
  static const std::map<std::string, const char*> kSigns = {
      {"add", " + "}, {"sub", " - "}, {"mul", " * "}, {"div", " / "}};
  const auto sign = kSigns.find(kind);
  if (sign != kSigns.end() && operands.size() == 2)
    return StrCat("(", operands[0], sign->second, operands[1], ")");
  if (node.op->name == "Unary" && operands[0][0] == '(') return kind + operands[0];
  if (node.op->name == "Reshape" || node.op->name == "Unsqueeze" || node.op->name == "Expand")
    return operands.at(0);
  return StrCat(Title(node.op->name, kind), "(", Join(operands, ", "), ")");
}

std::string WithoutParentheses(const std::string& formula) {
  return formula[0] == '(' ? formula.substr(1, formula.size() - 2) : formula;
}

class PatternSketch {
 public:
  PatternSketch(const char* title, const Pattern& pattern) : sketch_(title), pattern_(pattern) {}

  // `results` are the values that the rule replaces.
  std::string Draw(const std::vector<std::string>& results) {
    results_ = results;
    for (const PatternNode& node : pattern_.nodes) Draw(node);
    for (const std::string& name : results)
      for (size_t i = 0; i < pattern_.values.size(); ++i)
        if (pattern_.values[i] == name) sketch_.Arrow(Variable(static_cast<int>(i)), sketch_.Value(name));
    return sketch_.Take();
  }

 private:
  using Kind = PatternOperand::Kind;

  void Draw(const PatternNode& node) {
    std::string box, formula;
    if (!node.op) {
      box = Operand(node.inputs.at(0));  // %y = %x
    } else if (formula = FormulaOf(node); formula.empty()) {
      box = Box(node);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].kind == Kind::kAbsent) continue;
        sketch_.Arrow(Operand(node.inputs[i]), box, PortName(*node.op, KindOf(node), i, node.inputs.size()),
                      node.inputs[i].optional);
      }
    }
    boxes_.push_back(box);
    formulas_.push_back(formula);
    for (const int v : node.outputs)
      if (v >= 0 && (!box.empty() || IsResult(v))) variables_[v] = BoxOf(boxes_.size() - 1);
  }

  bool IsResult(int variable) const {
    const std::string& name = pattern_.values[static_cast<size_t>(variable)];
    return std::find(results_.begin(), results_.end(), name) != results_.end();
  }

  // Returns the formula of the node if all its inputs are constant, otherwise "".
  std::string FormulaOf(const PatternNode& node) const {
    std::vector<std::string> operands;
    for (const PatternOperand& o : node.inputs) {
      if (o.kind == Kind::kAbsent) continue;
      operands.push_back(ConstantText(o));
      if (operands.back().empty()) return "";
    }
    return operands.empty() ? "" : Formula(node, KindOf(node), operands);
  }

  std::string ConstantText(const PatternOperand& o) const {
    if (o.kind == Kind::kNode) return formulas_[static_cast<size_t>(o.node)];
    if (o.kind == Kind::kLiteral) return AttrToText(o.literal);
    if (o.kind == Kind::kAttribute) return Attribute(o.variable);
    return o.kind == Kind::kConstant ? pattern_.values[static_cast<size_t>(o.variable)] : "";
  }

  std::string Box(const PatternNode& node) {
    std::vector<std::string> lines;
    for (const PatternAttr& a : node.attrs) {
      if (a.name == "kind" && a.value) continue;
      lines.push_back(StrCat(a.name, " = ", a.value ? AttrToText(*a.value) : Attribute(a.variable)));
    }
    return sketch_.Op(Title(node.op->name, KindOf(node)), lines);
  }

  static std::string KindOf(const PatternNode& node) {
    for (const PatternAttr& a : node.attrs)
      if (a.name == "kind" && a.value)
        if (const auto* text = std::get_if<std::string>(&*a.value)) return *text;
    return "";
  }

  const std::string& Attribute(int variable) const {
    return pattern_.attributes[static_cast<size_t>(variable)];
  }

  std::string Operand(const PatternOperand& o) {
    if (o.kind == Kind::kNode) return BoxOf(static_cast<size_t>(o.node));
    if (o.kind == Kind::kLiteral || o.kind == Kind::kAttribute) return sketch_.Constant(ConstantText(o));
    if (o.kind == Kind::kConstant && !variables_.count(o.variable))
      variables_[o.variable] = sketch_.Constant(pattern_.values[static_cast<size_t>(o.variable)]);
    return Variable(o.variable);
  }

  const std::string& BoxOf(size_t statement) {
    std::string& box = boxes_[statement];
    if (box.empty()) box = sketch_.Constant(WithoutParentheses(formulas_[statement]));
    return box;
  }

  const std::string& Variable(int i) {
    std::string& box = variables_[i];
    if (box.empty()) box = sketch_.Value(pattern_.values[static_cast<size_t>(i)]);
    return box;
  }

  Sketch sketch_;
  const Pattern& pattern_;
  std::vector<std::string> results_;
  std::vector<std::string> boxes_;        // id of each statement's box; empty if it is not drawn
  std::vector<std::string> formulas_;     // formula of each statement that is constant
  std::map<int, std::string> variables_;  // maps an index in Pattern::values to the id of the box
};

class GraphSketch {
 public:
  explicit GraphSketch(const char* title) : sketch_(title) {}

  std::string Draw(const Graph& graph) {
    Nodes(graph);
    for (const tern::Value* v : graph.outputs()) sketch_.Arrow(BoxOf(*v), sketch_.Value(v->name));
    return sketch_.Take();
  }

 private:
  void Nodes(const Graph& graph) {
    for (const tern::Value* v : graph.inputs())
      if (!v->unused()) boxes_[v] = sketch_.Value(StrCat(v->name, ": ", v->type.ToString()));
    for (const auto& node : graph.nodes()) Draw(*node);
  }

  void Draw(const Node& node) {
    std::vector<std::string> lines;
    for (const auto& entry : node.attrs.List())
      if (!entry.is_default && entry.name != "kind")
        lines.push_back(StrCat(entry.name, " = ", AttrToText(entry.value)));
    const std::string kind = node.attrs.Has("kind") ? node.attrs.Text("kind") : "";
    const std::string box = sketch_.Op(Title(node.op->name, kind), lines);
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (const tern::Value* v = node.inputs()[i])
        sketch_.Arrow(BoxOf(*v), box, PortName(*node.op, kind, i, node.inputs().size()));
    for (const tern::Value* v : node.outputs()) boxes_[v] = box;
    for (size_t i = 0; i < node.subgraphs().size(); ++i) Body(*node.subgraphs()[i], node, i, box);
  }

  void Body(const Graph& body, const Node& node, size_t i, const std::string& box) {
    sketch_.Open(i < node.op->subgraphs.size() ? node.op->subgraphs[i] : body.name);
    Nodes(body);
    for (const tern::Value* v : body.outputs()) BoxOf(*v);
    sketch_.Close();
    for (const tern::Value* v : body.outputs()) sketch_.Arrow(BoxOf(*v), box, "", true);
  }

  const std::string& BoxOf(const tern::Value& v) {
    std::string& box = boxes_[&v];
    if (box.empty()) box = v.is_constant() ? sketch_.Constant(Content(v)) : sketch_.Value(v.name);
    return box;
  }

  // Returns the elements of a small tensor, or the type of a larger one.
  static std::string Content(const tern::Value& v) {
    constexpr int64_t kMaxShown = 4;
    if (v.constant.size() > kMaxShown || v.constant.dtype() == DType::kString) return v.type.ToString();
    const std::string list = fmt::format("{:g}", fmt::join(ToDoubles(v.constant), ", "));
    return v.constant.rank() == 0 ? list : StrCat("(", list, ")");
  }

  Sketch sketch_;
  std::unordered_map<const tern::Value*, std::string> boxes_;
};

}  // namespace

Result<std::string> RulePicture(const Rule& rule) {
  std::string before, after;
  if (rule.match.empty()) {
    TERN_ASSIGN(const RuleExample example, RunExample(rule));
    before = GraphSketch("before").Draw(*example.before);
    after = GraphSketch("after").Draw(*example.after);
  } else {
    std::vector<std::string> results;
    const Pattern& from = rule.patterns.front();
    for (const int v : from.root().outputs)
      if (v >= 0) results.push_back(from.values[static_cast<size_t>(v)]);
    before = PatternSketch("before", from).Draw(results);
    after = PatternSketch("after", rule.replacement).Draw(results);
  }
  return StrCat("```mermaid\nflowchart LR\n", before, after, "  before ==> after\n```\n");
}

}  // namespace tern::tools
