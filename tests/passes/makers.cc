#include "makers.h"

#include "ir/builder.h"

namespace tern {
namespace {

Value* Nested(Builder& b, const char* kind, Value* x) {
  return b.Op("Unary", {x}, {{"kind", std::string(kind)}});
}

// Returns a condition that is a constant or depends on data.
Value* Condition(Grower& g) {
  if (g.random().Chance(0.3)) return g.Const(Tensor::Scalar(DType::kBool, g.random().Below(2)));
  Value* x = g.Exact();
  Value* most = x ? g.Op("Reduce", {x}, {{"kind", std::string("max")}, {"keep_dims", false}}) : nullptr;
  return most ? g.Binary("greater", most, g.Const(Tensor::Scalar(DType::kF32, 0.7))) : nullptr;
}

void Branch(Grower& g) {
  Value *condition = Condition(g), *x = g.Float();
  if (!condition || !x) return;
  static const std::vector<const char*> kKinds = {"relu", "tanh", "abs", "neg"};
  Node* node = g.Open("If", {condition}, 1);
  const char* kind = g.random().Pick(kKinds);
  for (const char* name : {"then", "else"}) {
    Graph* body = g.graph().AddSubgraph(node, name);
    Builder b(*body);
    Value* y = Nested(b, kind, x);
    if (g.random().Chance(0.5))
      y = b.Op("Binary", {y, b.Scalar(DType::kF32, g.random().Below(3))}, {{"kind", std::string("add")}});
    body->SetOutputs({y});
    if (g.random().Chance(0.7)) kind = g.random().Pick(kKinds);
  }
  g.Close(node);
}

void Repeat(Grower& g) {
  Value* x = g.Float();
  if (!x) return;
  // If the dims of x are not known before the run, the loop has at least one iteration. Without an iteration,
  // nothing would determine the dims of the scan output.
  const int least = x->type.shape.fully_known() ? 0 : 1;
  Node* node = g.Open("Loop",
                      {g.Const(Tensor::Scalar(DType::kI64, g.random().Between(least, 3))),
                       g.Const(Tensor::Scalar(DType::kBool, 1)), x},
                      2);
  Graph* body = g.graph().AddSubgraph(node, "body");
  body->AddInput("i", Type::TensorOf(DType::kI64, Shape(std::vector<Dim>{})));
  Value* go = body->AddInput("go", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  Value* state = body->AddInput("state", x->type);
  Builder b(*body);
  Value* half = b.Op("Binary", {state, b.Scalar(DType::kF32, 0.5)}, {{"kind", std::string("mul")}});
  Value* next = g.random().Chance(0.5) ? half : b.Op("Binary", {half, x}, {{"kind", std::string("add")}});
  body->SetOutputs({go, next, Nested(b, "tanh", half)});
  g.Close(node);
}

}  // namespace

std::vector<Maker> ControlMakers() { return {Branch, Repeat}; }

const std::vector<Maker>& Makers() {
  static const auto* makers = [] {
    auto* all = new std::vector<Maker>;
    for (const auto& some : {ElementwiseMakers(), ElementwiseMakers(), ShapeMakers(), ShapeMakers(),
                             LayerMakers(), FragmentMakers(), ControlMakers()})
      all->insert(all->end(), some.begin(), some.end());
    return all;
  }();
  return *makers;
}

}  // namespace tern
