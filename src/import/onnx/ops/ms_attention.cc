// Converts Attention, QAttention, MultiHeadAttention and DecoderMaskedMultiHeadAttention of com.microsoft.
// These operators accept masks of five shapes.
#include "import/onnx/ops/emit.h"

namespace tern::onnx {
namespace {

// The operands that these operators have in common: q, k and v, a past, a mask, and a bias for the scores.
struct Parts {
  // q, k and v are [batch, length, heads * size]. An operand whose rank is known to be 4 is [batch, heads,
  // length, size].
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Value *past_k = nullptr, *past_v = nullptr;
  Value *mask = nullptr, *bias = nullptr;  // inputs of the node, unchanged
};

Value* LengthOf(Emit& e, Value* x) { return e.SizeOf(x, x->type.shape.rank() == 4 ? 2 : 1); }

// Emits the number of keys as i64[1], including the keys of the past.
Value* KeyCount(Emit& e, const Parts& p) {
  Value* now = LengthOf(e, p.k);
  return p.past_k ? e.Add(now, e.SizeOf(p.past_k, 2)) : now;
}

// Emits a bool tensor [batch, 1, 1, keys] that is true for the keys that a sample uses. `mask` is [batch] and
// contains the number of keys of each sample. If `starts` is true, `mask` is [2 * batch]. The first half
// contains the end of each sample's keys, and the second half contains their start.
Value* RangeMask(Emit& e, Value* mask, Value* keys, bool starts) {
  Value* places = e.Reshape(e.CountTo(keys), {1, 1, 1, -1});
  const auto column = [&](Value* v) { return e.Reshape(e.Cast(v, DType::kI64), {-1, 1, 1, 1}); };
  if (!starts) return e.Binary("less", places, column(mask));
  const auto halves = e.b.Ops("Split", {mask}, {{"axis", int64_t{0}}, {"num_outputs", int64_t{2}}}, 2);
  return e.Binary("and", e.Binary("less", places, column(halves[0])),
                  e.Binary("greater_equal", places, column(halves[1])));
}

// Emits a bool tensor that is true where a query may see a key. It broadcasts to [batch, heads, queries,
// keys].
Result<Value*> Visible(Emit& e, const Parts& p) {
  const Shape& shape = p.mask->type.shape;
  const auto is_nonzero = [&](Value* m) { return e.Binary("greater", e.Cast(m, DType::kI64), e.Long(0)); };
  switch (shape.rank()) {
    case 1: {
      const Dim batch = p.q->type.shape.ranked ? p.q->type.shape[0] : Dim();
      const bool same = shape[0] == batch;
      const bool twice = !same && batch.known() && shape[0].known() && shape[0].value() == 2 * batch.value();
      if (!same && !twice && shape[0].known() && batch.known())
        return e.n.NotYet("a mask of ", shape[0].value(), " numbers for a batch of ", batch.value());
      return RangeMask(e, p.mask, KeyCount(e, p), twice);
    }
    case 2:
      return is_nonzero(e.Unsqueeze(p.mask, {1, 2}));
    case 3:
      return is_nonzero(e.Unsqueeze(p.mask, {1}));
    case 4: {
      Value* keys = KeyCount(e, p);
      Value* rows = e.Slice(p.mask, e.Sub(keys, LengthOf(e, p.q)), keys, 2);
      return is_nonzero(e.Slice(rows, e.b.Ints({0}), keys, 3));
    }
    default:
      return e.n.NotYet("a mask of type ", p.mask->type.ToString());
  }
}

// Emits the tensor that is added to the scores. It is the sum of the mask and the bias. Returns null if there
// is neither a mask nor a bias.
Result<Value*> ScoreBias(Emit& e, const Parts& p) {
  if (!p.mask) return p.bias;
  TERN_ASSIGN(Value * seen, Visible(e, p));
  const double low = e.n.Float("mask_filter_value", -10000.0f);
  Value* added = e.b.Op("Where", {seen, e.Like(p.q, 0), e.Like(p.q, low)});
  return p.bias ? e.Add(added, p.bias) : added;
}

// Emits the attention. Returns the first `outputs` values of {y, present_k, present_v, scores}. y is [batch,
// length, heads * size]. The parameter `scores` says which scores are returned. For example,
// "raw" means those before the mask is added.
Result<std::vector<Value*>> Attend(Emit& e, const Parts& p, int outputs, const char* scores = "raw") {
  TERN_ASSIGN(Value * bias, ScoreBias(e, p));
  const AttrList attrs = {{"scale", static_cast<double>(e.n.Float("scale"))},
                          {"causal", e.n.Int("unidirectional") != 0},
                          {"scores", scores},
                          {"q_heads", e.n.Int("num_heads")},
                          {"kv_heads", e.n.Int("num_heads")},
                          {"merged", true}};
  return e.b.Ops("Attention", {p.q, p.k, p.v, bias, p.past_k, p.past_v}, attrs, outputs);
}

Status CheckHeads(const OnnxNode& n) {
  if (n.Int("num_heads") < 1) return n.Bad("num_heads must be at least 1, got ", n.Int("num_heads"));
  if (n.Int("do_rotary")) return n.NotYet("rotary positions inside this operator");
  if (n.Int("past_present_share_buffer")) return n.NotYet("a past that shares its buffer with the present");
  return {};
}

// Emits the attention of queries, keys and values that are concatenated in the last dim of `projected`
// [batch, length, q + k + v]. `past` is [2, batch, heads, length, size], or null.
Status SelfAttention(OnnxNode& n, Value* projected, Value* mask, Value* past, Value* bias) {
  Emit e(n);
  const auto sizes = n.Ints("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3)
    return n.Bad("qkv_hidden_sizes has ", sizes.size(), " entries, but needs 3");
  Value* given = sizes.empty() ? nullptr : n.b.Ints(sizes);
  const auto qkv = n.b.Ops("Split", {projected, given},
                           {{"axis", int64_t{2}}, {"num_outputs", int64_t{given ? 0 : 3}}}, 3);
  Parts p;
  p.q = qkv[0], p.k = qkv[1], p.v = qkv[2];
  p.mask = mask;
  p.bias = bias;
  if (past) {
    const auto halves = n.b.Ops("Split", {past}, {{"axis", int64_t{0}}, {"num_outputs", int64_t{2}}}, 2);
    p.past_k = e.Squeeze(halves[0], {0});
    p.past_v = e.Squeeze(halves[1], {0});
  }
  TERN_ASSIGN(auto out, Attend(e, p, n.Wants(1) ? 3 : 1));
  n.Out(0, out[0]);
  if (n.Wants(1)) n.Out(1, e.Concat({e.Unsqueeze(out[1], {0}), e.Unsqueeze(out[2], {0})}, 0));
  return {};
}

Status Attention(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  TERN_TRY(CheckHeads(n));
  if (n.Has(6)) return n.NotYet("past_sequence_length, for a past that shares its buffer with the present");
  return SelfAttention(n, n.b.Op("MatMul", {n.In(0), n.In(1), n.In(2)}), n.In(3), n.In(4), n.In(5));
}

Status QAttention(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kInts));
  for (int i : {2, 3, 4}) TERN_TRY(Require(n, i, kFloats));
  TERN_TRY(CheckHeads(n));
  Emit e(n);
  Value* sum = n.b.Op("MatMul", {e.Shifted(n.In(0), n.In(6)), e.Shifted(n.In(1), n.In(7))});
  Value* real = e.Mul(e.Cast(sum, n.TypeOf(2)), e.Mul(n.In(3), n.In(4)));
  return SelfAttention(n, e.Add(real, n.In(2)), n.In(5), n.In(8), nullptr);
}

// Splits [batch, length, heads, count, size] into `count` values [batch, length, heads * size].
std::vector<Value*> Unpacked(Emit& e, Value* packed, int64_t count) {
  std::vector<Value*> out =
      e.b.Ops("Split", {packed}, {{"axis", int64_t{3}}, {"num_outputs", count}}, static_cast<int>(count));
  for (Value*& v : out) v = e.Reshape(v, {0, 0, -1});
  return out;
}

// Adds the bias, if there is one, to x [batch, length, width]. The bias does not apply to an x of rank 4.
Value* WithBias(Emit& e, Value* x, Value* bias) {
  return bias && x->type.shape.rank() != 4 ? e.Add(x, bias) : x;
}

// Splits the bias into the biases of q, k and v. Returns three nulls if there is no bias.
Result<std::vector<Value*>> BiasParts(OnnxNode& n, int input, Value* q, Value* k, Value* v, int64_t heads) {
  if (!n.Has(input)) return std::vector<Value*>(3, nullptr);
  Emit e(n);
  const auto width = [&](Value* x) {
    return x->type.shape.rank() == 4 ? e.Mul(n.b.Ints({heads}), e.SizeOf(x, 3)) : e.SizeOf(x, 2);
  };
  Value* sizes = e.Concat({width(q), width(k), width(v)}, 0);
  return n.b.Ops("Split", {n.In(input), sizes}, {{"axis", int64_t{0}}}, 3);
}

Result<Parts> MultiHeadParts(OnnxNode& n, int bias_input) {
  Emit e(n);
  const int64_t heads = n.Int("num_heads");
  Parts p;
  Value *q = n.In(0), *k = n.In(1), *v = n.In(2);
  if (n.RankOf(0) == 5) {
    if (n.Has(bias_input)) return n.NotYet("a bias with packed q, k and v");
    const auto all = Unpacked(e, q, 3);
    p.q = all[0], p.k = all[1], p.v = all[2];
    return p;
  }
  if (!k) return n.NotYet("a query of type ", q->type.ToString(), " without a key");
  if (n.RankOf(0) != 3) return n.NotYet("a query of type ", q->type.ToString());
  if (n.RankOf(1) == 5) {
    if (n.Has(bias_input)) return n.NotYet("a bias with packed k and v");
    const auto pair = Unpacked(e, k, 2);
    p.q = q, p.k = pair[0], p.v = pair[1];
    return p;
  }
  if (!v) return n.Bad("the node has a key but no value");
  if ((n.RankOf(1) != 3 && n.RankOf(1) != 4) || n.RankOf(2) != n.RankOf(1))
    return n.NotYet("key and value of types ", k->type.ToString(), " and ", v->type.ToString());
  TERN_ASSIGN(const auto bias, BiasParts(n, bias_input, q, k, v, heads));
  p.q = WithBias(e, q, bias[0]);
  p.k = WithBias(e, k, bias[1]);
  p.v = WithBias(e, v, bias[2]);
  return p;
}

Status MultiHead(OnnxNode& n, int bias, int mask, int score_bias, int past) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(CheckHeads(n));
  for (int i = past + 2; i < n.InputCount(); ++i)
    if (n.Has(i) && i != bias)
      return n.NotYet("input ", i, ", for a past that shares its buffer with the present");
  TERN_ASSIGN(Parts p, MultiHeadParts(n, bias));
  p.mask = n.In(mask);
  p.bias = n.In(score_bias);
  p.past_k = n.In(past);
  p.past_v = n.In(past + 1);
  Emit e(n);
  TERN_ASSIGN(auto out, Attend(e, p, n.Wants(3) ? 4 : n.Wants(1) || n.Wants(2) ? 3 : 1, "masked"));
  n.Out(out);
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_attention) {
  table.Add("Attention", Attention, kMicrosoft);
  table.Add("QAttention", QAttention, kMicrosoft);
  table.Add(
      "MultiHeadAttention", [](OnnxNode& n) { return MultiHead(n, 3, 4, 5, 6); }, kMicrosoft);
  table.Add(
      "DecoderMaskedMultiHeadAttention", [](OnnxNode& n) { return MultiHead(n, 10, 3, 4, 5); }, kMicrosoft);
}

}  // namespace tern::onnx
