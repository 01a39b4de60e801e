// Attention: softmax(q·kᵀ·scale + mask)·v per head, with grouped heads, causal masking and a key/value cache.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/eval_context.h"
#include "ir/graph.h"
#include "ir/op_cost.h"
#include "ops/attention/heads.h"

namespace tern {
namespace {

enum class Scores { kNone, kCapped, kMasked, kProbabilities };

struct Attention {
  float scale = 0;
  bool causal = false;
  float softcap = 0;
  Scores scores = Scores::kNone;
  int64_t q_heads = 0, kv_heads = 0;
  bool merged = false, guarded = false, joint = false, stacked = false;
  template <class V> void Visit(V& v) {
    v("scale", scale, "factor of q·kᵀ; 0 means 1/sqrt(head size)");
    v("causal", causal, "query i attends only to the keys 0 to i + (length of the past)");
    v("softcap", softcap, "if positive, scores become softcap·tanh(scores/softcap)");
    v.Enum("scores", scores, {"raw", "capped", "masked", "probabilities"},
           "which intermediate result the output 'scores' contains");
    v("q_heads", q_heads,
      "number of heads of q; 0 means dim 1 of q, and requires that q is [batch, heads, length, size]");
    v("kv_heads", kv_heads,
      "number of heads of k and v; 0 means their dim 1, and requires that they are [batch, heads, length, size]");
    v("merged", merged, "y is [batch, length, heads*size] instead of [batch, heads, length, size]");
    v("guarded", guarded,
      "if the probabilities of a query are NaN, they become 0; they are NaN if all keys are masked, or if a score is NaN or +infinity");
    v("joint", joint,
      "input q is [batch, length, (q_heads + 2*kv_heads)*size] and contains the heads of q, then of k, then of v");
    v("stacked", stacked,
      "past_k contains past keys and values as [2, batch, heads, length, size]; present_k has the same form");
  }
};

Status CheckHeads(int64_t q_heads, int64_t kv_heads) {
  if (q_heads == kv_heads || (kv_heads > 0 && q_heads % kv_heads == 0)) return {};
  return InvalidModel(q_heads, " query heads are not a multiple of ", kv_heads, " key heads");
}

Result<OperandShapes> ShapesOf(const Attention& op, const InferContext& c) {
  if (op.joint) return JointShapes(c, "q", op.q_heads, op.kv_heads);
  OperandShapes s;
  TERN_ASSIGN(s.q, SplitShape(c, "q", op.q_heads));
  TERN_ASSIGN(s.k, SplitShape(c, "k", op.kv_heads));
  TERN_ASSIGN(s.v, SplitShape(c, "v", op.kv_heads));
  return s;
}

Status Infer(const Attention& op, InferContext& c) {
  TERN_ASSIGN(const OperandShapes shapes, ShapesOf(op, c));
  const auto& [q, k, v] = shapes;
  if (q[1].known() && k[1].known()) TERN_TRY(CheckHeads(q[1].value(), k[1].value()));
  if (Differ(q[3], k[3]))
    return InvalidModel("head sizes of q and k differ: ", q[3].value(), " and ", k[3].value());
  if (op.stacked && Differ(k[3], v[3]))
    return InvalidModel("keys of size ", k[3].value(), " and values of size ", v[3].value(),
                        " cannot be stacked");
  Dim length = MoreSpecific(k[2], v[2]);
  if (c.Has("past_k")) {
    const Shape& past = c.ShapeOf("past_k");
    if (past.ranked && past.rank() != (op.stacked ? 5 : 4))
      return InvalidModel("input 'past_k' must be [", op.stacked ? "2, " : "",
                          "batch, heads, length, size], got ", c.In("past_k").ToString());
    length = past.ranked ? length + past[-2] : Dim::Unknown();
  }
  c.Out("y", c.TypeOf("q"), op.merged ? Shape({q[0], q[2], q[1] * v[3]}) : Shape({q[0], q[1], q[2], v[3]}));
  const Shape keys({k[0], k[1], length, k[3]}), values({v[0], v[1], length, v[3]});
  c.Out("present_k", c.TypeOf("k"),
        op.stacked ? Shape({2, k[0], k[1], length, MoreSpecific(k[3], v[3])}) : keys);
  c.Out("present_v", c.TypeOf("v"), values);
  c.Out("scores", c.TypeOf("q"), Shape({q[0], q[1], q[2], length}));
  return {};
}

// The elements of q, k or v as doubles, in the order [batch, heads, length, size]. The length of k and v may
// include the past.
struct Rows {
  Dims dims;
  std::vector<double> data;
  const double* At(int64_t b, int64_t h, int64_t t) const {
    return data.data() + ((b * dims[1] + h) * dims[2] + t) * dims[3];
  }
};

// Where to find q, k or v: it is `count` heads of the input `port`, beginning with head `first`.
struct Operand {
  const char* port;
  int64_t heads;                  // number of heads of the entire input
  int64_t first = 0, count = -1;  // a count of -1 means all heads
};

struct Operands {
  Operand q, k, v;
  explicit Operands(const Attention& op) : q{"q", op.q_heads}, k{"k", op.kv_heads}, v{"v", op.kv_heads} {
    if (!op.joint) return;
    const int64_t all = op.q_heads + 2 * op.kv_heads;
    q = {"q", all, 0, op.q_heads};
    k = {"q", all, op.q_heads, op.kv_heads};
    v = {"q", all, op.q_heads + op.kv_heads, op.kv_heads};
  }
};

// Converts an operand, [batch, heads, length, size] or [batch, length, heads*size], to Rows.
Result<Rows> Split(EvalContext& c, const Operand& o) {
  TERN_ASSIGN(Dims dims, SplitDims(o.port, c.In(o.port).dims(), o.heads));
  Rows rows{dims, c.Doubles(o.port)};
  if (c.In(o.port).rank() == 4) return rows;
  const std::vector<double> packed = std::move(rows.data);
  rows.data.clear();
  if (o.count >= 0) rows.dims[1] = o.count;
  for (int64_t b = 0; b < dims[0]; ++b)
    for (int64_t h = o.first; h < o.first + rows.dims[1]; ++h)
      for (int64_t t = 0; t < dims[2]; ++t) {
        const auto row = packed.begin() + ((b * dims[2] + t) * dims[1] + h) * dims[3];
        rows.data.insert(rows.data.end(), row, row + dims[3]);
      }
  return rows;
}

// Which part of a past to read. A stacked past is [2, batch, heads, length, size], where index 0 contains the
// keys and index 1 the values. kAll means that the past is not stacked.
enum class Half { kAll, kKeys, kValues };

Result<Rows> Past(EvalContext& c, const char* port, Half half) {
  Rows past{c.In(port).dims(), c.Doubles(port)};
  if (half == Half::kAll) return past;
  if (past.dims.size() != 5 || past.dims[0] != 2)
    return InvalidArgument("input '", port, "' must be [2, batch, heads, length, size], got ",
                           c.In(port).Describe());
  past.dims.erase(past.dims.begin());
  const auto middle = past.data.begin() + static_cast<long>(past.data.size() / 2);
  if (half == Half::kKeys)
    past.data.erase(middle, past.data.end());
  else
    past.data.erase(past.data.begin(), middle);
  return past;
}

Result<Rows> Joined(EvalContext& c, const Operand& current, const char* past_port, Half half) {
  TERN_ASSIGN(Rows rows, Split(c, current));
  if (!c.Has(past_port)) return rows;
  TERN_ASSIGN(const Rows past, Past(c, past_port, half));
  if (past.dims.size() != 4 || past.dims[0] != rows.dims[0] || past.dims[1] != rows.dims[1] ||
      past.dims[3] != rows.dims[3])
    return InvalidArgument("input '", past_port, "' ", c.In(past_port).Describe(), " does not match '",
                           current.port, "' ", c.In(current.port).Describe());
  const int64_t a = past.dims[2], b = rows.dims[2], size = rows.dims[3];
  std::vector<double> all;
  all.reserve(past.data.size() + rows.data.size());
  for (int64_t i = 0; i < rows.dims[0] * rows.dims[1]; ++i) {
    all.insert(all.end(), past.data.begin() + i * a * size, past.data.begin() + (i + 1) * a * size);
    all.insert(all.end(), rows.data.begin() + i * b * size, rows.data.begin() + (i + 1) * b * size);
  }
  rows.dims[2] = a + b;
  rows.data = std::move(all);
  return rows;
}

void WritePresent(const Attention& op, EvalContext& c, const Rows& k, const Rows& v) {
  if (c.Wants("present_k") && op.stacked) {
    std::vector<double> stacked = k.data;
    stacked.insert(stacked.end(), v.data.begin(), v.data.end());
    c.Out("present_k", Dims{2, k.dims[0], k.dims[1], k.dims[2], k.dims[3]}, stacked);
  } else if (c.Wants("present_k")) {
    c.Out("present_k", k.dims, k.data);
  }
  if (c.Wants("present_v")) c.Out("present_v", v.dims, v.data);
}

// The input `mask`, broadcast over batch, heads and queries. A mask with one column is also broadcast over
// keys. If a mask has several columns, but fewer than there are keys, the keys beyond its last column are
// masked out.
class Mask {
 public:
  static Result<Mask> Of(EvalContext& c, const Dims& scores) {
    Mask m;
    if (!c.Has("mask")) return m;
    const Tensor& t = c.In("mask");
    m.present_ = true;
    m.bool_ = t.dtype() == DType::kBool;
    m.data_ = m.bool_ ? std::vector<double>() : c.Doubles("mask");
    if (m.bool_)
      for (int64_t v : c.Longs("mask")) m.data_.push_back(static_cast<double>(v));
    m.dims_ = t.dims();
    if (m.dims_.size() > 4)
      return InvalidArgument("mask has rank ", m.dims_.size(), ", but must have at most 4");
    m.dims_.insert(m.dims_.begin(), 4 - m.dims_.size(), 1);
    for (size_t i = 0; i < 3; ++i)
      if (m.dims_[i] != 1 && m.dims_[i] != scores[i])
        return InvalidArgument("mask ", t.Describe(), " does not broadcast to scores [", Join(scores, ","),
                               "]");
    if (m.dims_[3] != 1 && m.dims_[3] > scores[3])
      return InvalidArgument("mask ", t.Describe(), " is longer than ", scores[3], " keys");
    return m;
  }

  double At(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (!present_) return 0;
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    if (dims_[3] == 1) j = 0;
    if (j >= dims_[3]) return kHidden;
    const auto at = [](int64_t index, int64_t dim) { return dim == 1 ? 0 : index; };
    const double v = data_[static_cast<size_t>(
        ((at(b, dims_[0]) * dims_[1] + at(h, dims_[1])) * dims_[2] + at(i, dims_[2])) * dims_[3] + j)];
    return bool_ ? (v != 0 ? 0 : kHidden) : v;
  }

 private:
  bool present_ = false, bool_ = false;
  Dims dims_;
  std::vector<double> data_;
};

// Computes softmax in place. If all scores are -infinity, or if a score is NaN or +infinity, the sum is NaN
// and every element becomes NaN, or 0 if `guarded`.
void SoftmaxRow(std::vector<double>& row, bool guarded) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double v : row) top = std::max(top, v);
  for (double& v : row) sum += v = std::exp(v - top);
  for (double& v : row) v = guarded && std::isnan(sum) ? 0 : v / sum;
}

Status Reference(const Attention& op, EvalContext& c) {
  const Operands operands(op);
  if (op.joint && c.In("q").rank() != 3)
    return InvalidArgument(
        "packed QKV input must be [batch, length, (q_heads + 2 * kv_heads) * head_size], got ",
        c.In("q").Describe());
  TERN_ASSIGN(const Rows q, Split(c, operands.q));
  TERN_ASSIGN(const Rows k, Joined(c, operands.k, "past_k", op.stacked ? Half::kKeys : Half::kAll));
  const char* past_v = op.stacked ? "past_k" : "past_v";
  TERN_ASSIGN(const Rows v, Joined(c, operands.v, past_v, op.stacked ? Half::kValues : Half::kAll));
  if (op.stacked && k.dims[3] != v.dims[3])
    return InvalidArgument("keys of size ", k.dims[3], " and values of size ", v.dims[3],
                           " cannot be stacked");
  const int64_t batch = q.dims[0], heads = q.dims[1], queries = q.dims[2], size = q.dims[3], keys = k.dims[2];
  TERN_TRY(CheckHeads(heads, k.dims[1]));
  if (k.dims[0] != batch || v.dims[0] != batch || v.dims[1] != k.dims[1] || v.dims[2] != keys ||
      k.dims[3] != size)
    return InvalidArgument("k [", Join(k.dims, ","), "] and v [", Join(v.dims, ","),
                           "] have incompatible dims");
  const Dims score_dims = {batch, heads, queries, keys};
  TERN_ASSIGN(Mask mask, Mask::Of(c, score_dims));
  const auto lengths = c.Has("lengths") ? c.Longs("lengths") : std::vector<int64_t>();
  if (!lengths.empty() && static_cast<int64_t>(lengths.size()) != batch)
    return InvalidArgument("lengths has ", lengths.size(), " elements for a batch of ", batch);
  const int64_t past = c.Has("past_k") ? c.In("past_k").dim(-2) : 0;
  const double scale =
      op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, size)));
  const int64_t group = heads / std::max<int64_t>(1, k.dims[1]);
  const int64_t width = v.dims[3], head_step = op.merged ? 1 : queries, row_step = op.merged ? heads : 1;
  std::vector<double> y(static_cast<size_t>(batch * heads * queries * width)), recorded;
  std::vector<double> row(static_cast<size_t>(keys));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        const auto record = [&](Scores stage) {
          if (op.scores == stage) recorded.insert(recorded.end(), row.begin(), row.end());
        };
        for (int64_t j = 0; j < keys; ++j) {
          double dot = 0;
          for (int64_t d = 0; d < size; ++d) dot += q.At(b, h, i)[d] * k.At(b, h / group, j)[d];
          row[static_cast<size_t>(j)] = dot * scale;
        }
        record(Scores::kNone);
        if (op.softcap > 0)
          for (double& s : row) s = op.softcap * std::tanh(s / op.softcap);
        record(Scores::kCapped);
        for (int64_t j = 0; j < keys; ++j) {
          double& s = row[static_cast<size_t>(j)];
          s += mask.At(b, h, i, j);
          const bool hidden =
              (op.causal && j > i + past) || (!lengths.empty() && j >= lengths[static_cast<size_t>(b)]);
          if (hidden) s = -std::numeric_limits<double>::infinity();
        }
        record(Scores::kMasked);
        SoftmaxRow(row, op.guarded);
        record(Scores::kProbabilities);
        double* out = y.data() + (b * heads * queries + h * head_step + i * row_step) * width;
        for (int64_t j = 0; j < keys; ++j)
          for (int64_t d = 0; d < width; ++d)
            out[d] += row[static_cast<size_t>(j)] * v.At(b, h / group, j)[d];
      }
  c.Out("y", op.merged ? Dims{batch, queries, heads * width} : Dims{batch, heads, queries, width}, y);
  WritePresent(op, c, k, v);
  if (c.Wants("scores")) c.Out("scores", score_dims, recorded);
  return {};
}

// The scores take (elements of q) * (number of keys) MACs. y takes (elements of y) * (number of keys) MACs.
std::optional<double> Macs(const Node& n) {
  const auto keys = DimOf(n.input(1), -2);
  const auto past = n.input(4) ? DimOf(n.input(4), -2) : std::optional<double>(0);
  if (!keys || !past) return std::nullopt;
  const auto y = ElementsOf(n.output(0)), q = n.attrs.As<Attention>().joint ? y : ElementsOf(n.input(0));
  return q && y ? std::optional<double>((*q + *y) * (*keys + *past)) : std::nullopt;
}

}  // namespace

TERN_OP(Attention) {
  return OpDef::Of<Attention>(
             "softmax(q·kᵀ·scale + mask)·v per head; the head count of q may be a multiple of that of k and v")
      .In("q", kFloats)
      .In("k", kFloats)
      .In("v", kFloats)
      .OptIn("mask", kFloats | kBools)
      .OptIn("past_k", kFloats)
      .OptIn("past_v", kFloats)
      .OptSetting("lengths", kIndices)
      .Out("y", kFloats)
      .OptOut("present_k", kFloats)
      .OptOut("present_v", kFloats)
      .OptOut("scores", kFloats)
      .Macs(Macs)
      .Batch(No{"mask and past may be shared by all items"})
      .Axes(No{"the order of batch, heads, length and size is fixed"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
