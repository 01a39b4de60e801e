// Converts ONNX's own attention operators: Attention, RotaryEmbedding, LinearAttention, FlexAttention.
#include <cmath>

#include "import/onnx/converter.h"
#include "import/onnx/ops/attention_shapes.h"
#include "import/onnx/ops/emit.h"
#include "import/onnx/require.h"

namespace tern::onnx {

Value* SplitHeads(Builder& b, Value* packed, int64_t heads) {
  Value* split = b.Op("Reshape", {packed, b.Ints({0, 0, heads, -1})});
  return b.Op("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

Value* MergeHeads(Builder& b, Value* split) {
  Value* rows = b.Op("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return b.Op("Reshape", {rows, b.Ints({0, 0, -1})});
}

namespace {

Status ConvertAttention(OnnxNode& n) {
  const int rank = n.RankOf(0);
  if (rank < 0) return n.NotYet("a query of unknown rank");
  const bool packed = rank == 3;
  const int64_t q_heads = n.Int("q_num_heads"), kv_heads = n.Int("kv_num_heads");
  if (packed && (q_heads <= 0 || kv_heads <= 0))
    return n.Bad("q_num_heads and kv_num_heads must be given with rank-3 inputs, got ", q_heads, " and ",
                 kv_heads);
  Value *q = n.In(0), *k = n.In(1), *v = n.In(2);
  if (!q || !k || !v) return n.Bad("Q, K and V must be given");
  static const char* const kStages[] = {"raw", "capped", "masked", "probabilities"};
  const int64_t mode = n.Int("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) return n.Bad("qk_matmul_output_mode must be 0 to 3, got ", mode);
  const AttrList attrs = {{"scale", static_cast<double>(n.Float("scale"))},
                          {"causal", n.Int("is_causal") != 0},
                          {"softcap", static_cast<double>(n.Float("softcap"))},
                          {"scores", std::string(kStages[mode])},
                          {"q_heads", packed ? q_heads : 0},
                          {"kv_heads", packed ? kv_heads : 0},
                          {"merged", packed}};
  n.Out(n.b.Ops("Attention", {q, k, v, n.In(3), n.In(4), n.In(5), n.In(6)}, attrs, n.OutputCount()));
  return {};
}

Status ConvertRotary(OnnxNode& n) {
  const int rank = n.RankOf(0);
  if (rank < 0) return n.NotYet("an input of unknown rank");
  const int64_t heads = n.Int("num_heads");
  if (rank == 3 && heads <= 0) return n.Bad("num_heads must be given with a rank-3 input");
  n.Out(0, n.b.Op("RotaryEmbedding", {n.In(0), n.In(1), n.In(2), n.In(3)},
                  {{"interleaved", n.Int("interleaved") != 0},
                   {"size", n.Int("rotary_embedding_dim")},
                   {"heads", rank == 3 ? heads : 0}}));
  return {};
}

// Splits an optional input into heads, so that [batch, length, heads * size] becomes [batch, heads, length,
// size]. All heads share an input [batch, length, 1], which becomes [batch, 1, length, 1]. Returns null if
// the input is absent.
Value* SplitOptional(OnnxNode& n, int input, int64_t heads) {
  if (!n.Has(input)) return nullptr;
  const Shape& shape = n.In(input)->type.shape;
  const bool single = shape.ranked && shape[-1].Is(1);
  return SplitHeads(n.b, n.In(input), single ? 1 : heads);
}

Status ConvertLinearAttention(OnnxNode& n) {
  const int64_t q_heads = n.Int("q_num_heads"), kv_heads = n.Int("kv_num_heads");
  if (q_heads <= 0 || kv_heads <= 0)
    return n.Bad("q_num_heads and kv_num_heads must be positive, got ", q_heads, " and ", kv_heads);
  const auto out = n.b.Ops(
      "LinearAttention",
      {SplitHeads(n.b, n.In(0), q_heads), SplitHeads(n.b, n.In(1), kv_heads),
       SplitHeads(n.b, n.In(2), kv_heads), n.In(3), SplitOptional(n, 4, kv_heads),
       SplitOptional(n, 5, kv_heads)},
      {{"rule", n.Text("update_rule", "gated_delta")}, {"scale", static_cast<double>(n.Float("scale"))}},
      n.OutputCount());
  n.Out(out);
  n.Out(0, MergeHeads(n.b, out[0]));
  return {};
}

// Repeats each head of x [batch, heads, length, size] `times` times, so that the result has as many heads as
// the query.
Value* RepeatHeads(OnnxNode& n, Value* x, int64_t heads, int64_t times) {
  if (times == 1) return x;
  Value* tall = n.b.Op("Unsqueeze", {x, n.b.Ints({2})});
  Value* repeated = n.b.Op("Tile", {tall, n.b.Ints({1, 1, times, 1, 1})});
  Value* tail = n.b.Op("Shape", {x}, {{"start", int64_t{2}}});
  Value* batch = n.b.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  return n.b.Op("Reshape", {repeated, n.b.Op("Concat", {batch, n.b.Ints({heads * times}), tail},
                                             {{"axis", int64_t{0}}})});
}

// x is null after an error.
Value* Scaled(OnnxNode& n, Value* x, double factor) {
  if (!x) return nullptr;
  return n.b.Op("Binary", {x, n.b.Scalar(x->type.dtype, factor)}, {{"kind", std::string("mul")}});
}

Status ConvertFlexAttention(OnnxNode& n) {
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  const Shape &q = n.In(0)->type.shape, &k = n.In(1)->type.shape;
  if (q.rank() != 4 || k.rank() != 4 || !q[1].known() || !k[1].known() || !q[3].known())
    return n.NotYet("inputs without known heads: ", n.In(0)->type.ToString(), " and ",
                    n.In(1)->type.ToString());
  const int64_t heads = k[1].value();
  if (heads <= 0 || q[1].value() % heads)
    return n.Bad(q[1].value(), " query heads are not a multiple of ", heads);
  const int64_t group = q[1].value() / heads;
  const DType type = n.TypeOf(0);
  TERN_ASSIGN(DType precision,
              n.DTypeAttr("softmax_precision", type == DType::kF64 ? DType::kF64 : DType::kF32));
  const double scale =
      n.HasAttr("scale") ? n.Float("scale") : 1 / std::sqrt(static_cast<double>(q[3].value()));
  const double root = std::sqrt(scale);
  Value* keys = RepeatHeads(n, n.In(1), heads, group);
  Value* values = RepeatHeads(n, n.In(2), heads, group);
  Value* scores =
      CastTo(n, n.b.Op("MatMul", {Scaled(n, n.In(0), root), Scaled(n, keys, root)}, {{"transpose_b", true}}),
             precision);
  if (n.HasAttr("score_mod")) {
    TERN_ASSIGN(auto out, n.Inline("score_mod", {scores}));
    if (out.empty()) return n.Bad("score_mod has no output");
    scores = out.at(0);
  }
  Value* probabilities = n.b.Op("Softmax", {scores}, {{"axis", int64_t{-1}}});
  if (n.HasAttr("prob_mod")) {
    TERN_ASSIGN(auto out, n.Inline("prob_mod", {probabilities}));
    if (out.empty()) return n.Bad("prob_mod has no output");
    probabilities = out.at(0);
  }
  n.Out(0, CastTo(n, n.b.Op("MatMul", {probabilities, CastTo(n, values, precision)}), type));
  return {};
}

}  // namespace

TERN_CONVERTERS(attention) {
  table.Add("Attention", ConvertAttention);
  table.Add("RotaryEmbedding", ConvertRotary);
  table.Add("LinearAttention", ConvertLinearAttention);
  table.Add("FlexAttention", ConvertFlexAttention, "ai.onnx.preview");
}

}  // namespace tern::onnx
