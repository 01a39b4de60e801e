// Converts GroupQueryAttention and RotaryEmbedding of com.microsoft.
#include <algorithm>
#include <limits>

#include "import/onnx/ops/attention_shapes.h"
#include "import/onnx/ops/emit.h"

namespace tern::onnx {
namespace {

Status CheckSupported(const OnnxNode& n) {
  constexpr int64_t kMaxHeads = 1 << 20;
  if (n.Int("num_heads") < 1 || n.Int("kv_num_heads") < 1 ||
      std::max(n.Int("num_heads"), n.Int("kv_num_heads")) > kMaxHeads)
    return n.Bad("num_heads and kv_num_heads must be 1 to ", kMaxHeads, ", got ", n.Int("num_heads"), " and ",
                 n.Int("kv_num_heads"));
  if (n.Text("k_quant_type", "NONE") != "NONE" || n.Text("v_quant_type", "NONE") != "NONE")
    return n.NotYet("a quantized cache");
  if (n.Int("sliding_window_cache")) return n.NotYet("a cache that is only as long as the window");
  if (n.Int("qk_output") || n.Wants(3)) return n.NotYet("the output of scores");
  if (n.Has(12) || n.Has(13)) return n.NotYet("a quantized cache");
  if (n.Has(3) != n.Has(4)) return n.Bad("only one of past_key and past_value is present");
  return {};
}

class GroupQuery {
 public:
  explicit GroupQuery(OnnxNode& n) : n_(n), e_(n), b_(n.b) {}

  Status Convert() {
    TERN_TRY(Require(n_, 0, kFloats));
    for (int i : {5, 6}) TERN_TRY(Require(n_, i, kIndices));
    TERN_TRY(CheckSupported(n_));
    TERN_TRY(SplitInputs());
    FindPlaces();
    if (n_.Has(14)) Normalize();
    if (n_.Int("do_rotary")) TERN_TRY(Rotate());
    Value* present_k = Present(k_, n_.In(3));
    Value* present_v = Present(v_, n_.In(4));
    n_.Out(1, present_k);
    n_.Out(2, present_v);
    Value* bias = ScoreBias(e_.SizeOf(present_k, 2));
    if (Sink()) {
      bias = WithSinkColumn(bias);
      present_k = WithZeroRow(present_k);
      present_v = WithZeroRow(present_v);
    }
    Value* y = b_.Op("Attention", {q_, present_k, present_v, bias},
                     {{"scale", static_cast<double>(n_.Float("scale"))},
                      {"softcap", static_cast<double>(n_.Float("softcap"))},
                      {"q_heads", n_.Int("num_heads")},
                      {"merged", true}});
    n_.Out(0, y);
    return {};
  }

 private:
  Status SplitInputs() {
    const int64_t heads = n_.Int("num_heads"), kv = n_.Int("kv_num_heads");
    Value *q = n_.In(0), *k = n_.In(1), *v = n_.In(2);
    if (!k || !v) {
      if (n_.RankOf(0) >= 0 && n_.RankOf(0) != 3)
        return n_.Bad("packed q, k and v must have rank 3, got ", q->type.ToString());
      const Shape& packed = q->type.shape;
      if (packed.ranked && packed[2].known() && packed[2].value() % (heads + 2 * kv))
        return n_.Bad("a width of ", packed[2].value(), " is not a multiple of ", heads + 2 * kv, " heads");
      Value* size = e_.Binary("div", e_.SizeOf(q, 2), b_.Ints({heads + 2 * kv}));
      const auto parts =
          b_.Ops("Split", {q, e_.Mul(size, b_.Ints({heads, kv, kv}))}, {{"axis", int64_t{2}}}, 3);
      q = parts[0], k = parts[1], v = parts[2];
    }
    q_ = q;
    k_ = n_.RankOf(1) == 4 ? k : SplitHeads(b_, k, kv);
    v_ = n_.RankOf(2) == 4 ? v : SplitHeads(b_, v, kv);
    return {};
  }

  // Sets starts_ to the position of each sample's first new key, which equals the number of its past keys. In
  // the first step, the length of the queries equals the total length, and all starts are 0.
  void FindPlaces() {
    Value* length = e_.SizeOf(q_, 1);
    total_ = e_.Reshape(e_.Cast(n_.In(6), DType::kI64), {1});
    Value* key_count = e_.Add(e_.Reshape(e_.Cast(n_.In(5), DType::kI64), {-1}), e_.Long(1));
    starts_ = b_.Op("Where", {e_.Binary("equal", length, total_), e_.Long(0), e_.Sub(key_count, length)});
    // The absolute position of each query, as [batch, 1, length, 1].
    positions_ = e_.Add(e_.Reshape(starts_, {-1, 1, 1, 1}), e_.Reshape(e_.CountTo(length), {1, 1, -1, 1}));
  }

  void Normalize() {
    const AttrList attrs = {{"axis", int64_t{-1}},
                            {"epsilon", static_cast<double>(n_.Float("qk_norm_epsilon", 1e-6f))}};
    Value* rows = b_.Op("RmsNorm", {e_.Reshape(q_, {0, 0, n_.Int("num_heads"), -1}), n_.In(14)}, attrs);
    q_ = e_.Reshape(rows, {0, 0, -1});
    k_ = b_.Op("RmsNorm", {k_, n_.In(15)}, attrs);
  }

  Status Rotate() {
    for (int i : {7, 8}) TERN_TRY(Require(n_, i, kFloats));
    const Shape& cache = n_.In(7)->type.shape;
    // 0 means that all features of a head are rotated.
    const int64_t rotated = cache.rank() == 2 && cache[1].known() ? 2 * cache[1].value() : 0;
    Value* places = n_.Has(9) ? n_.In(9) : e_.Squeeze(positions_, {1, 3});
    const AttrList attrs = {{"interleaved", n_.Int("rotary_interleaved") != 0}, {"size", rotated}};
    AttrList q_attrs = attrs;
    q_attrs.emplace_back("heads", n_.Int("num_heads"));
    q_ = b_.Op("RotaryEmbedding", {q_, n_.In(7), n_.In(8), places}, q_attrs);
    k_ = b_.Op("RotaryEmbedding", {k_, n_.In(7), n_.In(8), places}, attrs);
    return {};
  }

  // Emits the present. Pads the past to the total length, then writes the new rows behind each sample's past
  // rows.
  Value* Present(Value* now, Value* past) {
    if (!past) return now;
    Value* length = e_.SizeOf(past, 2);
    Value* missing = e_.Sub(e_.Binary("max", length, total_), length);
    Value* pads = e_.Concat({b_.Ints({0, 0, 0, 0, 0, 0}), missing, b_.Ints({0})}, 0);
    return b_.Op("TensorScatter", {b_.Op("Pad", {past, pads}), now, starts_}, {{"axis", int64_t{2}}});
  }

  // Emits the mask of the scores. If the node has neither a bias nor a sink, the mask is a bool tensor that
  // is true where a query may see a key. Otherwise the mask is a float tensor. It contains the bias (0 if
  // absent) where a query may see a key, and minus infinity elsewhere.
  Value* ScoreBias(Value* keys) {
    Value* places = e_.Reshape(e_.CountTo(keys), {1, 1, 1, -1});
    const bool causal = n_.Int("causal", 1) != 0;
    Value* seen = causal ? e_.Binary("less_equal", places, positions_)
                         : e_.Binary("less", places, e_.Reshape(total_, {1, 1, 1, 1}));
    const int64_t window = n_.Int("local_window_size", -1);
    if (causal && window > 0)
      seen = e_.Binary("and", seen, e_.Binary("greater", places, e_.Sub(positions_, e_.Long(window))));
    if (!n_.Has(10) && !Sink()) return seen;
    Value* added = e_.Like(q_, 0);
    if (n_.Has(10)) {  // the bias has a column for each key in use; the cache may have more keys
      Value* missing = e_.Sub(keys, e_.SizeOf(n_.In(10), 3));
      Value* pads = e_.Concat({b_.Ints({0, 0, 0, 0, 0, 0, 0}), missing}, 0);
      added = b_.Op("Pad", {n_.In(10), pads});
    }
    return b_.Op("Where", {seen, added, e_.Like(q_, -std::numeric_limits<double>::infinity())});
  }

  bool Sink() const { return n_.Has(11) || n_.Int("smooth_softmax", -1) > 0; }

  // A sink is an additional term in the softmax's denominator. WithZeroRow and WithSinkColumn express it as
  // one more key and value of zeros. WithSinkColumn appends the score of this key to the bias. The score is
  // the sink's value, or 0 by default.
  Value* WithZeroRow(Value* x) { return b_.Op("Pad", {x, b_.Ints({0, 0, 0, 0, 0, 0, 1, 0})}); }

  Value* WithSinkColumn(Value* bias) {
    const int64_t heads = n_.Int("num_heads");
    Value* sink =
        n_.Has(11) ? e_.Reshape(n_.In(11), {1, heads, 1, 1}) : e_.Reshape(e_.Like(q_, 0), {1, 1, 1, 1});
    Value* leading = e_.Concat({e_.SizeOf(bias, 0), b_.Ints({heads}), e_.SizeOf(bias, 2)}, 0);
    const auto with_columns = [&](Value* columns) { return e_.Concat({leading, columns}, 0); };
    Value* wide = b_.Op("Expand", {bias, with_columns(e_.SizeOf(bias, 3))});
    return e_.Concat({wide, b_.Op("Expand", {sink, with_columns(b_.Ints({1}))})}, 3);
  }

  OnnxNode& n_;
  Emit e_;
  Builder& b_;
  Value* q_ = nullptr;                 // [batch, length, heads * size]
  Value *k_ = nullptr, *v_ = nullptr;  // [batch, heads, length, size]
  Value *total_ = nullptr, *starts_ = nullptr, *positions_ = nullptr;
};

// Returns the number of heads of a packed input. If attribute num_heads is absent, derives the number from
// `half`, which is half the size of a head. The cos and sin caches have `half` columns.
Result<int64_t> HeadCount(const OnnxNode& n, int64_t half) {
  if (n.Int("num_heads") > 0) return n.Int("num_heads");
  const Shape& x = n.In(0)->type.shape;
  if (!x[2].known() || half < 1 || x[2].value() % (2 * half))
    return n.NotYet("the number of heads of ", n.In(0)->type.ToString(), " with a cache of ", half,
                    " columns");
  return x[2].value() / (2 * half);
}

Status Rotary(OnnxNode& n) {
  for (int i : {0, 2, 3}) TERN_TRY(Require(n, i, kFloats));
  TERN_TRY(Require(n, 1, kIndices));
  if (n.Int("is_packed_batching")) return n.NotYet("packed batches");
  const int rank = n.RankOf(0);
  const Shape& cache = n.In(2)->type.shape;
  if (rank != 3 && rank != 4) return n.NotYet("an input of type ", n.In(0)->type.ToString());
  // 0 means that all features of a head are rotated.
  const int64_t half =
      cache.rank() == 2 && cache[1].known() ? cache[1].value() : n.Int("rotary_embedding_dim") / 2;
  Emit e(n);
  int64_t heads = 0;
  if (rank == 3) {
    TERN_ASSIGN(heads, HeadCount(n, half));
  }
  Value* places = n.In(1);
  Value* length = e.SizeOf(n.In(0), rank == 3 ? 1 : 2);
  if (n.RankOf(1) == 1)
    places = e.Add(e.Reshape(places, {1, 1}), e.Cast(e.Unsqueeze(e.CountTo(length), {0}), n.TypeOf(1)));
  n.Out(0, n.b.Op("RotaryEmbedding", {n.In(0), n.In(2), n.In(3), places},
                  {{"interleaved", n.Int("interleaved") != 0}, {"size", 2 * half}, {"heads", heads}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_group_query) {
  table.Add(
      "GroupQueryAttention", [](OnnxNode& n) { return GroupQuery(n).Convert(); }, kMicrosoft);
  table.Add("RotaryEmbedding", Rotary, kMicrosoft);
}

}  // namespace tern::onnx
