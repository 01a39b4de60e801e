#include "passes/rewrite/pattern.h"

#include <algorithm>
#include <map>

#include "ir/lexer.h"
#include "ir/sugar.h"

namespace tern {
namespace {

class PatternParser {
 public:
  PatternParser(std::string_view source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  Result<Pattern> Run() {
    while (Now().kind != Token::Kind::kEnd) TERN_TRY(Statement());
    if (pattern_.nodes.empty()) return InvalidArgument("an empty pattern");
    return std::move(pattern_);
  }

 private:
  using Kind = PatternOperand::Kind;

  const Token& Now() const { return tokens_[at_]; }
  bool Is(const char* sign) const { return Now().kind != Token::Kind::kText && Now().text == sign; }
  bool Eat(const char* sign) {
    if (!Is(sign)) return false;
    ++at_;
    return true;
  }
  Status Expect(const char* sign) {
    if (Eat(sign)) return {};
    return Wrong(StrCat("expected '", sign, "'"));
  }
  Status Wrong(const std::string& what) const {
    return InvalidArgument(what, " before '", Now().text, "' at ", LineAndColumn(source_, Now().at));
  }

  static int Index(std::vector<std::string>& names, const std::string& name) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it != names.end()) return static_cast<int>(it - names.begin());
    names.push_back(name);
    return static_cast<int>(names.size()) - 1;
  }

  // Parses "%a, %b = expression shared"; `shared` is optional.
  Status Statement() {
    std::vector<int> outputs;
    do {
      if (Now().kind != Token::Kind::kValue) return Wrong("expected a value");
      outputs.push_back(Index(pattern_.values, tokens_[at_++].text));
    } while (Eat(","));
    TERN_TRY(Expect("="));
    TERN_ASSIGN(PatternOperand result, Sum());
    if (result.kind != Kind::kNode || made_.count(KeyOf(result))) {  // %y = %x
      PatternNode alias;
      alias.inputs.push_back(result);
      pattern_.nodes.push_back(std::move(alias));
      result.node = static_cast<int>(pattern_.nodes.size()) - 1;
    }
    PatternNode& node = pattern_.nodes[static_cast<size_t>(result.node)];
    node.outputs = outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!defined_.emplace(outputs[i], std::make_pair(result.node, static_cast<int>(i))).second)
        return Wrong(StrCat("a second definition of %", pattern_.values[static_cast<size_t>(outputs[i])]));
    made_[{result.node, 0}] = true;
    if (Eat("shared")) node.shared = true;
    return {};
  }

  static std::pair<int, int> KeyOf(const PatternOperand& o) { return {o.node, o.output}; }

  Result<PatternOperand> Sum() { return Chain("+", "add", "-", "sub", &PatternParser::Product); }
  Result<PatternOperand> Product() { return Chain("*", "mul", "/", "div", &PatternParser::Factor); }

  Result<PatternOperand> Chain(const char* sign, const char* kind, const char* other, const char* other_kind,
                               Result<PatternOperand> (PatternParser::*next)()) {
    TERN_ASSIGN(PatternOperand left, (this->*next)());
    while (Is(sign) || Is(other)) {
      const std::string chosen = Is(sign) ? kind : other_kind;
      ++at_;
      TERN_ASSIGN(PatternOperand right, (this->*next)());
      PatternNode node;
      node.op = FindOp("Binary");
      node.inputs = {left, right};
      node.attrs.push_back({"kind", AttrValue(chosen), -1});
      left = Add(std::move(node));
    }
    return left;
  }

  PatternOperand Add(PatternNode node) {
    if (node.op && node.op->name == "Binary" && node.inputs.size() == 2)
      for (const PatternAttr& a : node.attrs)
        if (a.name == "kind" && a.value) node.commutative = CommutativeKind(std::get<std::string>(*a.value));
    pattern_.nodes.push_back(std::move(node));
    PatternOperand made;
    made.kind = Kind::kNode;
    made.node = static_cast<int>(pattern_.nodes.size()) - 1;
    return made;
  }

  Result<PatternOperand> Factor() {
    const Token t = Now();
    PatternOperand o;
    if (t.kind == Token::Kind::kNumber) {
      ++at_;
      o.kind = Kind::kLiteral;
      if (!ParseDouble(t.text, o.literal)) return Wrong("expected a number");
      return o;
    }
    if (t.kind == Token::Kind::kValue) {
      ++at_;
      return ValueOperand(t);
    }
    if (Eat("@")) {
      o.kind = Kind::kAttribute;
      o.variable = Index(pattern_.attributes, tokens_[at_++].text);
      return o;
    }
    if (Eat("(")) {
      TERN_ASSIGN(o, Sum());
      TERN_TRY(Expect(")"));
      return o;
    }
    return Call();
  }

  Result<PatternOperand> ValueOperand(const Token& t) {
    PatternOperand o;
    o.variable = Index(pattern_.values, t.text);
    o.kind = t.sigil == '#' ? Kind::kConstant : Kind::kAny;
    o.optional = Eat("?");
    const auto it = defined_.find(o.variable);
    if (it == defined_.end()) return o;
    o.kind = Kind::kNode;
    o.node = it->second.first;
    o.output = it->second.second;
    return o;
  }

  Result<PatternOperand> Call() {
    if (Now().kind != Token::Kind::kWord) return Wrong("expected an op");
    const std::string name = Now().text;
    const auto meaning = ResolveOp(name);
    if (!meaning) return Wrong(StrCat("no op is called '", name, "'"));
    ++at_;
    PatternNode node;
    node.op = meaning->op;
    if (!meaning->kind.empty()) node.attrs.push_back({"kind", AttrValue(meaning->kind), -1});
    TERN_TRY(Expect("("));
    for (bool first = true; !Is(")"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      PatternOperand o;
      if (Eat("_")) {
        o.kind = Kind::kAbsent;
      } else {
        TERN_ASSIGN(o, Sum());
      }
      node.inputs.push_back(o);
    }
    TERN_TRY(Expect(")"));
    TERN_TRY(Attributes(node));
    return Add(std::move(node));
  }

  Status Attributes(PatternNode& node) {
    if (!Eat("{")) return {};
    for (bool first = true; !Is("}"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      if (Eat("@")) {
        node.all_attrs = Index(pattern_.attr_sets, tokens_[at_++].text);
        continue;
      }
      PatternAttr attr;
      attr.name = tokens_[at_++].text;
      if (!node.op->defaults.Has(attr.name))
        return Wrong(StrCat(node.op->name, " has no attribute '", attr.name, "'"));
      TERN_TRY(Expect("="));
      if (Eat("@")) {
        attr.variable = Index(pattern_.attributes, tokens_[at_++].text);
      } else {
        TERN_ASSIGN(attr.value, AttributeValue());
      }
      node.attrs.push_back(std::move(attr));
    }
    return Expect("}");
  }

  Result<AttrValue> AttributeValue() {
    const Token t = tokens_[at_++];
    int64_t i = 0;
    double d = 0;
    if (t.kind == Token::Kind::kText) return AttrValue(t.text);
    if (t.text == "true" || t.text == "false") return AttrValue(t.text == "true");
    if (t.kind == Token::Kind::kWord && ParseDType(t.text)) return AttrValue(*ParseDType(t.text));
    if (t.kind == Token::Kind::kNumber && ParseInt(t.text, i)) return AttrValue(i);
    if (t.kind == Token::Kind::kNumber && ParseDouble(t.text, d)) return AttrValue(d);
    if (t.text != "[") return Wrong("expected an attribute's value");
    std::vector<int64_t> list;
    for (bool first = true; !Is("]"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      if (!ParseInt(tokens_[at_++].text, i)) return Wrong("expected an integer");
      list.push_back(i);
    }
    TERN_TRY(Expect("]"));
    return AttrValue(list);
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  Pattern pattern_;
  std::map<int, std::pair<int, int>> defined_;  // maps a variable to its node and output
  std::map<std::pair<int, int>, bool> made_;    // nodes that a statement has named
};

}  // namespace

Result<Pattern> ParsePattern(std::string_view text) {
  TERN_ASSIGN(auto tokens, Tokenize(text));
  return PatternParser(text, std::move(tokens)).Run();
}

bool CommutativeKind(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {"add", "mul",     "min",    "max",     "and",  "or",
                                                "xor", "bit_and", "bit_or", "bit_xor", "equal"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

}  // namespace tern
