// Scaled dot-product attention.
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// Brings q, k, v and the mask to rank 4, [batch, heads, length, size].
struct Rank4 {
  int rank;
  Value* To(Builder& b, Value* x) const {
    Emit e(b);
    if (!x) return nullptr;
    const int own = x->type.shape.rank();
    if (own == 4) return x;
    if (own == 3) return rank == 3 ? e.Unsqueeze(x, {1}) : e.Unsqueeze(x, {0});
    if (own == 2) return e.Unsqueeze(x, {0, 1});
    std::vector<Arg> sizes = {Arg::Int(-1)};
    for (int i = own - 3; i < own; ++i) sizes.push_back(SizeOf(b, x, i));
    return ReshapeTo(b, x, sizes);
  }
};

// Repeats dims of size 1 of x up to the size of `like`, because PyTorch broadcasts batch and heads.
Value* Broadcast(Builder& b, Value* x, Value* like) {
  const tern::Shape &s = x->type.shape, &l = like->type.shape;
  if (s.rank() != 4 || l.rank() != 4) return x;  // an earlier error left the type unknown
  std::vector<Arg> sizes;
  bool changes = false;
  for (int i = 0; i < 4; ++i) {
    const bool repeat = i < 2 && s[i].Is(1) && !l[i].Is(1);
    sizes.push_back(repeat ? SizeOf(b, like, i) : Arg::Int(1));
    changes |= repeat;
  }
  return changes ? Emit(b).Expand(x, IntVector(b, sizes)) : x;
}

Status Attention(AtenNode& n) {
  Emit e(n.b);
  Value *q = n.In("query"), *k = n.In("key"), *v = n.In("value");
  Value* mask = n.In(n.HasParameter("attn_bias") ? "attn_bias" : "attn_mask");
  const int rank = q->type.shape.rank();
  if (rank < 2 || k->type.shape.rank() != rank || v->type.shape.rank() != rank)
    return n.NotYet("query ", q->type.ToString(), ", key ", k->type.ToString(), ", value ",
                    v->type.ToString());
  if (n.Float("dropout_p") > 0)
    return n.NotYet("dropout in training mode; export the model in evaluation mode");
  const Rank4 four{rank};
  Value *q4 = four.To(n.b, q), *k4 = four.To(n.b, k), *v4 = four.To(n.b, v);
  const bool grouped = n.Bool("enable_gqa");
  if (!grouped) {
    k4 = Broadcast(n.b, k4, q4);
    v4 = Broadcast(n.b, v4, q4);
  }
  if (mask) {
    const int own = mask->type.shape.rank();
    if (own < 2 || own > rank) return n.NotYet("a mask ", mask->type.ToString());
    if (rank > 4 && own > 2) return n.NotYet("a mask of rank ", own, " for a query of rank ", rank);
    mask = own == 3 && rank == 4 ? e.Unsqueeze(mask, {0}) : four.To(n.b, mask);
    if (mask->type.dtype != DType::kBool) mask = e.Cast(mask, q->type.dtype);
  }
  const AttrList attrs = {
      {"scale", n.Float("scale", 0)}, {"causal", n.Bool("is_causal")}, {"guarded", mask != nullptr}};
  Value* y = n.b.Op("Attention", {q4, k4, v4, mask}, attrs);
  if (rank == 3)
    y = e.Squeeze(y, {1});
  else if (rank == 2)
    y = e.Squeeze(y, {0, 1});
  else if (rank > 4) {
    std::vector<Arg> sizes;
    for (int i = 0; i < rank - 1; ++i) sizes.push_back(SizeOf(n.b, q, i));
    sizes.push_back(SizeOf(n.b, v, rank - 1));
    y = ReshapeTo(n.b, y, sizes);
  }
  n.Out(y);
  return {};
}

// The operators that decompositions emit also return intermediate results for the backward pass. These are
// None here.
Status FusedAttention(AtenNode& n) {
  TERN_TRY(Attention(n));
  while (n.results().size() < n.schema.returns.size()) n.Return(Arg::None());
  return {};
}

}  // namespace

TERN_CONVERTERS(attention) {
  table.Add("aten::scaled_dot_product_attention", Attention);
  table.Add("aten::_scaled_dot_product_flash_attention_for_cpu", FusedAttention);
  table.Add("aten::_scaled_dot_product_flash_attention", FusedAttention);
  table.Add("aten::_scaled_dot_product_efficient_attention", FusedAttention);
  table.Add("aten::_scaled_dot_product_attention_math", FusedAttention);
}

}  // namespace tern::torch
