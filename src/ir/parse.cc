#include <charconv>
#include <map>

#include "ir/builder.h"
#include "ir/float_text.h"
#include "ir/lexer.h"
#include "ir/sugar.h"
#include "ir/text.h"

namespace tern {
namespace {

constexpr int kMaxDepth = 200;

// Names seen so far, with the enclosing graph's behind.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, Value*> values;
  Value* Find(const std::string& key) const {
    for (const Scope* s = this; s; s = s->outer) {
      auto it = s->values.find(key);
      if (it != s->values.end()) return it->second;
    }
    return nullptr;
  }
};

std::string KeyOf(const Token& t) { return StrCat(t.sigil, t.quoted ? "\"" : "", t.text, "~", t.twin); }
// A bare number is no name.
std::string NameIn(const Token& t) {
  return !t.quoted && std::isdigit(static_cast<unsigned char>(t.text[0])) ? "" : t.text;
}

class Parser {
 public:
  Parser(std::string_view source, std::vector<Token> tokens) : source_(source), tokens_(std::move(tokens)) {}

  Result<std::unique_ptr<Graph>> Run() {
    TERN_TRY(Expect("graph"));
    auto graph = std::make_unique<Graph>();
    TERN_TRY(GraphBody(*graph, nullptr, 0));
    if (Now().kind != Token::Kind::kEnd) return Unexpected("the end");
    return graph;
  }

 private:
  const Token& Now() const { return tokens_[at_]; }
  bool Is(std::string_view text) const {
    return (Now().kind == Token::Kind::kSign || Now().kind == Token::Kind::kWord) && Now().text == text;
  }
  bool Eat(std::string_view text) {
    if (!Is(text)) return false;
    ++at_;
    return true;
  }
  Status Unexpected(std::string_view wanted) const {
    const std::string got =
        Now().kind == Token::Kind::kEnd
            ? "the end"
            : StrCat("'", Now().sigil ? std::string(1, Now().sigil) : "", Now().text, "'");
    return InvalidArgument("expected ", wanted, ", got ", got, " at ", PlaceOf(source_, Now().at));
  }
  Status Expect(std::string_view text) { return Eat(text) ? Status() : Unexpected(StrCat("'", text, "'")); }
  Result<std::string> ExpectText() {
    if (Now().kind != Token::Kind::kText) return Unexpected("a quoted text");
    return tokens_[at_++].text;
  }
  Result<Token> ExpectValue() {
    if (Now().kind != Token::Kind::kValue) return Unexpected("a value such as %x");
    return tokens_[at_++];
  }

  // The type's own parser takes the source from here to the end of the bracketed part.
  Result<Type> ReadType() {
    const size_t begin = Now().at;
    if (Eat("unknown")) return Type();
    if (Now().kind != Token::Kind::kWord) return Unexpected("a type");
    ++at_;
    int depth = 0;
    do {
      if (Is("(") || Is("[")) ++depth;
      if (Is(")") || Is("]")) --depth;
      if (Now().kind == Token::Kind::kEnd) return Unexpected("the rest of a type");
      ++at_;
    } while (depth > 0);
    auto type = Type::Parse(WithoutSpace(source_.substr(begin, tokens_[at_ - 1].at + 1 - begin)));
    if (!type.ok()) return InvalidArgument(type.status().message(), " at ", PlaceOf(source_, begin));
    return type;
  }

  Status GraphBody(Graph& graph, const Scope* outer, int depth) {
    if (depth > kMaxDepth) return InvalidArgument("graphs nest deeper than ", kMaxDepth);
    Scope scope{outer, {}};
    TERN_TRY(Expect("@"));
    if (Now().kind != Token::Kind::kWord && Now().kind != Token::Kind::kText) return Unexpected("a name");
    graph.name = tokens_[at_++].text;
    TERN_TRY(Inputs(graph, scope));
    TERN_TRY(Expect("->"));
    TERN_TRY(Expect("("));
    std::vector<Token> outputs;
    while (!Is(")")) {
      if (!outputs.empty()) TERN_TRY(Expect(","));
      TERN_ASSIGN(Token t, ExpectValue());
      outputs.push_back(std::move(t));
    }
    TERN_TRY(Expect(")"));
    TERN_TRY(Expect("{"));
    while (!Is("}")) TERN_TRY(Statement(graph, scope, depth));
    TERN_TRY(Expect("}"));
    std::vector<Value*> values;
    for (const Token& t : outputs) {
      Value* v = scope.Find(KeyOf(t));
      if (!v)
        return InvalidArgument("output ", t.sigil, t.text, " is never made, at ", PlaceOf(source_, t.at));
      values.push_back(v);
    }
    graph.SetOutputs(std::move(values));
    return {};
  }

  Status Inputs(Graph& graph, Scope& scope) {
    TERN_TRY(Expect("("));
    for (bool first = true; !Is(")"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      TERN_ASSIGN(Token t, ExpectValue());
      TERN_TRY(Expect(":"));
      TERN_ASSIGN(Type type, ReadType());
      TERN_TRY(Define(scope, t, graph.AddInput(NameIn(t), std::move(type))));
    }
    return Expect(")");
  }

  Status Define(Scope& scope, const Token& t, Value* value) {
    if (!scope.values.emplace(KeyOf(t), value).second)
      return InvalidArgument(t.sigil, t.text, " is made twice, at ", PlaceOf(source_, t.at));
    return {};
  }

  Status Statement(Graph& graph, Scope& scope, int depth) {
    if (Eat("meta")) {
      TERN_ASSIGN(std::string key, ExpectText());
      TERN_TRY(Expect("="));
      TERN_ASSIGN(std::string value, ExpectText());
      graph.metadata.emplace_back(std::move(key), std::move(value));
      return {};
    }
    const bool overridable = Eat("overridable");
    if (Now().kind == Token::Kind::kValue && Now().sigil == '#')
      return ConstantLine(graph, scope, overridable);
    return NodeLine(graph, scope, depth);
  }

  Status ConstantLine(Graph& graph, Scope& scope, bool overridable) {
    TERN_ASSIGN(Token t, ExpectValue());
    TERN_TRY(Expect(":"));
    TERN_ASSIGN(Type type, ReadType());
    TERN_TRY(Expect("="));
    TERN_ASSIGN(Tensor tensor, Elements(type));
    Value* v = graph.AddConstant(std::move(tensor), NameIn(t));
    if (overridable) graph.MarkOverridable(v);
    return Define(scope, t, v);
  }

  Result<Tensor> Elements(const Type& type) {
    const size_t begin = Now().at;
    if (!type.tensor() || !type.shape.fully_known())
      return InvalidArgument("a constant needs a known shape at ", PlaceOf(source_, begin));
    const Dims dims = type.shape.Concrete();
    const auto count = CheckedCount(dims, type.dtype);
    if (!count) return InvalidArgument("impossible dims at ", PlaceOf(source_, begin));
    TERN_TRY(Expect("("));
    if (Is("..."))
      return InvalidArgument("the elements of this constant were left out when the graph was printed, at ",
                             PlaceOf(source_, Now().at));
    std::vector<Token> items;
    while (!Is(")")) {
      if (!items.empty()) TERN_TRY(Expect(","));
      items.push_back(Now());
      TERN_ASSIGN(items.back().text, NumberText("an element"));
      if (!IsComplex(type.dtype) || !Eat(":")) continue;
      TERN_ASSIGN(const std::string imaginary, NumberText("an imaginary part"));
      items.back().text += ":" + imaginary;
    }
    TERN_TRY(Expect(")"));
    if (static_cast<int64_t>(items.size()) != *count)
      return InvalidArgument(type.ToString(), " needs ", *count, " elements, has ", items.size(), " at ",
                             PlaceOf(source_, begin));
    Tensor t(type.dtype, dims);
    for (size_t i = 0; i < items.size(); ++i) TERN_TRY(StoreElement(t, static_cast<int64_t>(i), items[i]));
    return t;
  }

  Status StoreElement(Tensor& t, int64_t i, const Token& item) {
    const auto bad = [&] {
      return InvalidArgument("'", item.text, "' is not a ", DTypeName(t.dtype()), " at ",
                             PlaceOf(source_, item.at));
    };
    if (t.dtype() == DType::kString) {
      if (item.kind != Token::Kind::kText) return bad();
      t.data<std::string>()[i] = item.text;
      return {};
    }
    if (IsComplex(t.dtype())) {
      const auto texts = SplitText(item.text, ':');
      Tensor parts = ComplexParts(t);
      const bool good = texts.size() == 2 && StoreFloatText(parts, 2 * i, texts[0]) &&
                        StoreFloatText(parts, 2 * i + 1, texts[1]);
      return good ? Status() : bad();
    }
    if (IsFloat(t.dtype())) return StoreFloatText(t, i, item.text) ? Status() : bad();
    int64_t v = item.text == "true";
    if (t.dtype() == DType::kBool && (item.text == "true" || item.text == "false")) {
    } else if (t.dtype() == DType::kU64) {
      uint64_t big = 0;
      const char* end = item.text.data() + item.text.size();
      if (const auto read = std::from_chars(item.text.data(), end, big);
          read.ec != std::errc() || read.ptr != end)
        return bad();
      v = static_cast<int64_t>(big);
    } else if (!ParseInt(item.text, v)) {
      return bad();
    }
    StoreLong(t, i, v);
    return LoadLong(t, i) == v ? Status() : bad();  // beyond the type's range
  }

  // The next token's text; the bits of a NaN, `nan(0x…)`, belong to it.
  Result<std::string> NumberText(std::string_view wanted) {
    if (Now().kind == Token::Kind::kEnd) return Unexpected(wanted);
    std::string text = tokens_[at_++].text;
    if (text != "nan" || !Eat("(")) return text;
    text += "(" + Now().text + ")";
    if (Now().kind != Token::Kind::kNumber) return Unexpected("the bits of a NaN");
    ++at_;
    TERN_TRY(Expect(")"));
    return text;
  }

  // %a: f32[2], %b = Op(…) {…} as "name" from "origin" [body @b() -> () {…}]
  Status NodeLine(Graph& graph, Scope& scope, int depth) {
    std::vector<std::pair<Token, Type>> outputs;
    while (!outputs.size() || Eat(",")) {
      TERN_ASSIGN(Token t, ExpectValue());
      Type type;
      if (Eat(":")) {
        TERN_ASSIGN(type, ReadType());
      }
      outputs.emplace_back(std::move(t), std::move(type));
    }
    TERN_TRY(Expect("="));
    TERN_ASSIGN(Value * result, Expression(graph, scope, depth, static_cast<int>(outputs.size())));
    Node* node = result->producer;
    if (!node || node->graph != &graph || node->outputs().size() != outputs.size()) {
      return InvalidArgument("the right side makes no new value at ", PlaceOf(source_, outputs[0].first.at));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* v = node->outputs()[i];
      v->name = NameIn(outputs[i].first);
      if (outputs[i].second.kind != Type::Kind::kUnknown) v->type = outputs[i].second;
      TERN_TRY(Define(scope, outputs[i].first, v));
    }
    return {};
  }

  // Sums and products of calls and values, left to right, products first.
  Result<Value*> Expression(Graph& graph, Scope& scope, int depth, int outputs) {
    if (depth > kMaxDepth)
      return InvalidArgument("expression nests deeper than ", kMaxDepth, " at ", PlaceOf(source_, Now().at));
    TERN_ASSIGN(Value * left, Product(graph, scope, depth, outputs));
    while (Is("+") || Is("-")) {
      const char* kind = Eat("+") ? "add" : (++at_, "sub");
      TERN_ASSIGN(Value * right, Product(graph, scope, depth, 1));
      TERN_ASSIGN(left, Combine(graph, kind, left, right));
    }
    return left;
  }

  Result<Value*> Product(Graph& graph, Scope& scope, int depth, int outputs) {
    TERN_ASSIGN(Value * left, Factor(graph, scope, depth, outputs));
    while (Is("*") || Is("/")) {
      const char* kind = Eat("*") ? "mul" : (++at_, "div");
      TERN_ASSIGN(Value * right, Factor(graph, scope, depth, 1));
      TERN_ASSIGN(left, Combine(graph, kind, left, right));
    }
    return left;
  }

  Result<Value*> Combine(Graph& graph, const char* kind, Value* a, Value* b) {
    Builder builder(graph);
    if (!FindOp("Binary")) return InvalidArgument("no op Binary for '", kind, "'");
    Value* v = builder.Op("Binary", {a, b}, {{"kind", std::string(kind)}});
    TERN_TRY(Status(builder.status()));
    return v;
  }

  Result<Value*> Factor(Graph& graph, Scope& scope, int depth, int outputs) {
    if (Now().kind == Token::Kind::kValue) {
      TERN_ASSIGN(Token t, ExpectValue());
      Value* v = scope.Find(KeyOf(t));
      if (!v)
        return InvalidArgument(t.sigil, t.text, " is not made before it is read, at ",
                               PlaceOf(source_, t.at));
      return v;
    }
    if (Eat("(")) {
      TERN_ASSIGN(Value * v, Expression(graph, scope, depth + 1, 1));
      TERN_TRY(Expect(")"));
      return v;
    }
    return Call(graph, scope, depth, outputs);
  }

  Result<Value*> Call(Graph& graph, Scope& scope, int depth, int outputs) {
    const Token head = Now();
    if (head.kind != Token::Kind::kWord) return Unexpected("an op");
    ++at_;
    const auto meaning = ResolveOp(head.text);
    if (!meaning) return InvalidArgument("no op named '", head.text, "' at ", PlaceOf(source_, head.at));
    TERN_TRY(Expect("("));
    std::vector<Value*> inputs;
    for (bool first = true; !Is(")"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      Value* v = nullptr;
      if (!Eat("_")) {
        TERN_ASSIGN(v, Expression(graph, scope, depth + 1, 1));
      }
      inputs.push_back(v);
    }
    TERN_TRY(Expect(")"));
    AttrList attrs;
    if (!meaning->kind.empty()) attrs.emplace_back("kind", meaning->kind);
    TERN_TRY(Attributes(attrs));
    Builder builder(graph);
    Node* node = builder.Open(meaning->op->name.c_str(), inputs, attrs, outputs);
    if (Eat("as")) {
      TERN_ASSIGN(node->name, ExpectText());
    }
    if (Eat("from")) {
      TERN_ASSIGN(node->origin, ExpectText());
    }
    if (Eat("[")) TERN_TRY(Subgraphs(graph, *node, scope, depth));
    if (node->subgraphs().size() < node->op->subgraphs.size())
      return InvalidArgument(head.text, " needs ", node->op->subgraphs.size(), " subgraphs at ",
                             PlaceOf(source_, head.at));
    builder.Finish(node);
    if (!builder.status().ok())
      return InvalidArgument(builder.status().message(), "\n  at ", PlaceOf(source_, head.at));
    if (node->outputs().empty())
      return InvalidArgument(head.text, " gives no output at ", PlaceOf(source_, head.at));
    return node->output(0);
  }

  Status Subgraphs(Graph& graph, Node& node, Scope& scope, int depth) {
    while (!Eat("]")) {
      if (Now().kind != Token::Kind::kWord) return Unexpected("a subgraph's role");
      ++at_;
      TERN_TRY(GraphBody(*graph.AddSubgraph(&node, ""), &scope, depth + 1));
    }
    return {};
  }

  Status Attributes(AttrList& attrs) {
    if (!Eat("{")) return {};
    for (bool first = true; !Is("}"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      if (Now().kind != Token::Kind::kWord) return Unexpected("an attribute");
      const std::string name = tokens_[at_++].text;
      TERN_TRY(Expect("="));
      TERN_ASSIGN(AttrValue value, AttrFromText());
      attrs.emplace_back(name, std::move(value));
    }
    return Expect("}");
  }

  Result<AttrValue> AttrFromText() {
    const Token t = Now();
    if (Is("[")) return AttrListFromText();
    if (t.kind == Token::Kind::kText) {
      ++at_;
      return AttrValue(t.text);
    }
    if (t.kind == Token::Kind::kWord && tokens_[at_ + 1].text == "[" && ParseDType(t.text)) {
      TERN_ASSIGN(Type type, ReadType());
      TERN_ASSIGN(Tensor tensor, Elements(type));
      return AttrValue(std::move(tensor));
    }
    ++at_;
    if (t.kind == Token::Kind::kWord && (t.text == "true" || t.text == "false"))
      return AttrValue(t.text == "true");
    if (t.kind == Token::Kind::kWord && ParseDType(t.text)) return AttrValue(*ParseDType(t.text));
    int64_t i = 0;
    if (t.kind == Token::Kind::kNumber && ParseInt(t.text, i)) return AttrValue(i);
    --at_;
    if (t.kind != Token::Kind::kNumber && t.kind != Token::Kind::kWord)
      return Unexpected("an attribute's value");
    const size_t begin = at_;
    TERN_ASSIGN(const std::string text, NumberText("an attribute's value"));
    Tensor number(DType::kF32, {});  // as attributes are
    if (StoreFloatText(number, 0, text)) return AttrValue(LoadDouble(number, 0));
    at_ = begin;
    return Unexpected("an attribute's value");
  }

  Result<AttrValue> AttrListFromText() {
    TERN_TRY(Expect("["));
    std::vector<int64_t> ints;
    std::vector<double> floats;
    std::vector<std::string> texts;
    for (bool first = true; !Is("]"); first = false) {
      if (!first) TERN_TRY(Expect(","));
      if (Is("[")) return Unexpected("a number or text");
      TERN_ASSIGN(AttrValue v, AttrFromText());
      if (auto* i = std::get_if<int64_t>(&v))
        ints.push_back(*i), floats.push_back(static_cast<double>(*i));
      else if (auto* d = std::get_if<double>(&v))
        floats.push_back(*d);
      else if (auto* s = std::get_if<std::string>(&v))
        texts.push_back(*s);
      else
        return Unexpected("a number or text");
    }
    TERN_TRY(Expect("]"));
    if (!texts.empty())
      return floats.empty()
                 ? Result<AttrValue>(AttrValue(texts))
                 : InvalidArgument("a list mixes numbers and texts at ", PlaceOf(source_, Now().at));
    if (ints.size() == floats.size()) return AttrValue(ints);
    return AttrValue(floats);
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<Graph>> ParseGraph(std::string_view text) {
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    TERN_ASSIGN(auto tokens, Tokenize(text));
    return Parser(text, std::move(tokens)).Run();
  });
}

}  // namespace tern
