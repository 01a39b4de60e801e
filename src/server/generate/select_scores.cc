#include "server/generate/select_scores.h"

#include <algorithm>

namespace tern::server {
namespace {

// Returns the product with the vocabulary, or null if there is none. Sets `chain` to the nodes from the
// product to the output.
Node* ProductOf(const Value& logits, std::vector<Node*>& chain) {
  const Value* v = &logits;
  for (bool last = true; v->producer; last = false) {
    const bool only =
        last ? v->uses.empty() && v->output_uses == 1 : v->uses.size() == 1 && v->output_uses == 0;
    Node* node = v->producer;
    if (!only || node->outputs().size() != 1) return nullptr;
    chain.insert(chain.begin(), node);
    if (node->op->name == "MatMul") return node;
    if (node->op->name != "Cast" && node->op->name != "Identity") return nullptr;
    v = node->input(0);
  }
  return nullptr;
}

}  // namespace

Status SelectScores(Graph& graph) {
  const auto logits = std::find_if(graph.outputs().begin(), graph.outputs().end(),
                                   [](const Value* v) { return v->name == "logits"; });
  if (logits == graph.outputs().end()) return {};
  std::vector<Node*> chain;
  Node* product = ProductOf(**logits, chain);
  if (!product || product->inputs().size() != 2) return {};
  const Value &tokens = *product->input(0), &words = *product->input(1);
  const bool matrix = tokens.type.tensor() && tokens.type.shape.rank() == 3 && words.type.tensor() &&
                      words.type.shape.rank() == 2;
  if (!matrix || product->attrs.Bool("transpose_a")) return {};
  TERN_ASSIGN(Type type, Type::Parse(StrCat("i64[", kScorePositions, "_count]")));
  Value* positions = graph.AddInput(kScorePositions, std::move(type));
  const OpDef& gather = *FindOp("Gather");
  Attrs by_token = gather.defaults;
  TERN_TRY(by_token.Set("axis", int64_t{1}));
  Node* chosen = graph.AddNode(gather, std::move(by_token), {product->input(0), positions}, 1, product);
  TERN_TRY(InferNode(*chosen));
  product->SetInput(0, chosen->output(0));
  for (Node* node : chain) {
    node->output(0)->type = Type();
    TERN_TRY(InferNode(*node));
  }
  return {};
}

}  // namespace tern::server
