#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "ir/state.h"
#include "ir/sugar.h"
#include "ir/text.h"
#include "ir/token_reader.h"

namespace tern {
namespace {

constexpr int kMaxDepth = 200;

struct StateText {
  Token past, present;
  int axis = -1, output = -1;
};

// The names that a graph has defined so far. `outer` is the scope of the enclosing graph.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, Value*> values;
  std::vector<StateText> states;
  Value* Find(const std::string& key) const {
    for (const Scope* s = this; s; s = s->outer) {
      auto it = s->values.find(key);
      if (it != s->values.end()) return it->second;
    }
    return nullptr;
  }
};

std::string KeyOf(const Token& t) { return StrCat(t.sigil, t.quoted ? "\"" : "", t.text, "~", t.suffix); }
// Returns the name in a token. Returns "" for an unquoted number, because the text form numbers values
// without a name.
std::string NameIn(const Token& t) {
  return !t.quoted && std::isdigit(static_cast<unsigned char>(t.text[0])) ? "" : t.text;
}

class Parser : private TokenReader {
 public:
  using TokenReader::TokenReader;

  Result<std::unique_ptr<Graph>> Run() {
    TERN_TRY(Expect("graph"));
    auto graph = std::make_unique<Graph>();
    TERN_TRY(GraphBody(*graph, nullptr, 0));
    if (Now().kind != Token::Kind::kEnd) return Unexpected("the end");
    return graph;
  }

 private:
  Status GraphBody(Graph& graph, const Scope* outer, int depth) {
    if (depth > kMaxDepth) return InvalidArgument("graphs nest deeper than ", kMaxDepth);
    Scope scope{outer, {}, {}};
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
    TERN_TRY(SetOutputs(graph, scope, outputs));
    return SetStates(graph, scope);
  }

  Status SetOutputs(Graph& graph, const Scope& scope, const std::vector<Token>& outputs) {
    std::vector<Value*> values;
    for (const Token& t : outputs) {
      Value* v = scope.Find(KeyOf(t));
      if (!v)
        return InvalidArgument("output ", t.sigil, t.text, " is never defined, at ",
                               LineAndColumn(source_, t.at));
      values.push_back(v);
    }
    graph.SetOutputs(std::move(values));
    return {};
  }

  // Parses a line such as: state %past -> %present {axis=2}. The caller has already read the word `state`.
  // The present may be defined later in the body, so SetStates looks up both names at the end of the body.
  Status StateLine(Scope& scope) {
    StateText state;
    TERN_ASSIGN(state.past, ExpectValue());
    TERN_TRY(Expect("->"));
    TERN_ASSIGN(state.present, ExpectValue());
    AttrList attrs;
    TERN_TRY(Attributes(attrs));
    for (const auto& [name, value] : attrs) {
      int* to = name == "axis" ? &state.axis : name == "output" ? &state.output : nullptr;
      const auto* number = std::get_if<int64_t>(&value);
      if (!to || !number || *number < 0 || *number > INT32_MAX)
        return InvalidArgument(
            "a state has the attributes axis and output, which must be integers of at least 0, at ",
            LineAndColumn(source_, state.past.at));
      *to = static_cast<int>(*number);
    }
    scope.states.push_back(std::move(state));
    return {};
  }

  Status SetStates(Graph& graph, const Scope& scope) {
    const auto& outputs = graph.outputs();
    for (const StateText& state : scope.states) {
      Value* past = scope.Find(KeyOf(state.past));
      const Value* present = scope.Find(KeyOf(state.present));
      const auto first = std::find(outputs.begin(), outputs.end(), present);
      if (!past || first == outputs.end())
        return InvalidArgument("a state must connect an input to an output, at ",
                               LineAndColumn(source_, state.past.at));
      const int output = state.output < 0 ? static_cast<int>(first - outputs.begin()) : state.output;
      if (output >= static_cast<int>(outputs.size()) || outputs[static_cast<size_t>(output)] != present)
        return InvalidArgument("output number ", output, " is not ", state.present.sigil, state.present.text,
                               " at ", LineAndColumn(source_, state.past.at));
      graph.AddState({past, output, state.axis});
    }
    return CheckStates(graph);
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
      return InvalidArgument(t.sigil, t.text, " is defined twice, at ", LineAndColumn(source_, t.at));
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
    if (Eat("state")) return StateLine(scope);
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

  // Parses a line such as: %a: f32[2], %b = Op(…) {…} as "name" from "origin" [body @b() -> () {…}]
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
      return InvalidArgument("the right side defines no new value at ",
                             LineAndColumn(source_, outputs[0].first.at));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* v = node->outputs()[i];
      v->name = NameIn(outputs[i].first);
      if (outputs[i].second.kind != Type::Kind::kUnknown) v->type = outputs[i].second;
      TERN_TRY(Define(scope, outputs[i].first, v));
    }
    return {};
  }

  // Parses sums and products of calls and values. Operators are left-associative, and products bind tighter
  // than sums.
  Result<Value*> Expression(Graph& graph, Scope& scope, int depth, int outputs) {
    if (depth > kMaxDepth)
      return InvalidArgument("expression nests deeper than ", kMaxDepth, " at ",
                             LineAndColumn(source_, Now().at));
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
        return InvalidArgument(t.sigil, t.text, " is read before it is defined, at ",
                               LineAndColumn(source_, t.at));
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
    if (!meaning)
      return InvalidArgument("no op named '", head.text, "' at ", LineAndColumn(source_, head.at));
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
                             LineAndColumn(source_, head.at));
    builder.Finish(node);
    if (!builder.status().ok())
      return InvalidArgument(builder.status().message(), "\n  at ", LineAndColumn(source_, head.at));
    if (node->outputs().empty())
      return InvalidArgument(head.text, " has no output at ", LineAndColumn(source_, head.at));
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
};

}  // namespace

Result<std::unique_ptr<Graph>> ParseGraph(std::string_view text) {
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    TERN_ASSIGN(auto tokens, Tokenize(text));
    return Parser(text, std::move(tokens)).Run();
  });
}

}  // namespace tern
