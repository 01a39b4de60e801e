// LinearAttention: has a state matrix per head. Each token updates the matrix and then reads from it.
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

enum class Rule { kLinear, kGated, kDelta, kGatedDelta };

struct LinearAttention {
  Rule rule = Rule::kGatedDelta;
  float scale = 0;
  template <class V> void Visit(V& v) {
    v.Enum("rule", rule, {"linear", "gated", "delta", "gated_delta"}, "how a token updates the state");
    v("scale", scale, "factor of the output; 0 means 1/sqrt(key size)");
  }
};

bool Gated(Rule r) { return r == Rule::kGated || r == Rule::kGatedDelta; }
bool Corrects(Rule r) { return r == Rule::kDelta || r == Rule::kGatedDelta; }

Status Infer(const LinearAttention& op, InferContext& c) {
  const Shape &q = c.ShapeOf("q"), &k = c.ShapeOf("k"), &v = c.ShapeOf("v");
  for (const char* port : {"q", "k", "v"})
    if (c.ShapeOf(port).ranked && c.ShapeOf(port).rank() != 4)
      return InvalidModel("input '", port, "' must be [batch, heads, length, size], got ",
                          c.In(port).ToString());
  if (Gated(op.rule) != c.Has("decay"))
    return InvalidModel("input 'decay' is required by the gated rules and not allowed for others");
  if (Corrects(op.rule) != c.Has("beta"))
    return InvalidModel("input 'beta' is required by the delta rules and not allowed for others");
  const DType state = c.Has("past") ? c.TypeOf("past") : c.TypeOf("q");
  if (!q.ranked || !k.ranked || !v.ranked) {
    c.Out("y", c.TypeOf("q"), Shape(std::vector<Dim>(4)));
    c.Out("present", state, Shape(std::vector<Dim>(4)));
    return {};
  }
  c.Out("y", c.TypeOf("q"), Shape({q[0], q[1], q[2], v[3]}));
  c.Out("present", state, Shape({k[0], k[1], k[3], v[3]}));
  return {};
}

// Returns the index of element [b, h, t, i] in a tensor with dims d. If d[1] or d[3] is 1, that axis is
// broadcast.
size_t Broadcast(const Dims& d, int64_t b, int64_t h, int64_t t, int64_t i) {
  return static_cast<size_t>(((b * d[1] + (d[1] == 1 ? 0 : h)) * d[2] + t) * d[3] + (d[3] == 1 ? 0 : i));
}

Status Reference(const LinearAttention& op, EvalContext& c) {
  const Dims qd = c.In("q").dims(), kd = c.In("k").dims(), vd = c.In("v").dims();
  const auto q = c.Doubles("q"), k = c.Doubles("k"), v = c.Doubles("v");
  const int64_t batch = kd[0], kv_heads = kd[1], length = kd[2], dk = kd[3], dv = vd[3];
  if (kv_heads == 0 || qd[1] % kv_heads || qd[0] != batch || qd[2] != length || qd[3] != dk ||
      vd[0] != batch || vd[1] != kv_heads || vd[2] != length)
    return InvalidArgument("q ", c.In("q").Describe(), ", k ", c.In("k").Describe(), " and v ",
                           c.In("v").Describe(), " have incompatible dims");
  const Dims state_dims = {batch, kv_heads, dk, dv};
  auto state = c.Has("past") ? c.Doubles("past")
                             : std::vector<double>(static_cast<size_t>(batch * kv_heads * dk * dv));
  if (c.Has("past") && c.In("past").dims() != state_dims)
    return InvalidArgument("past ", c.In("past").Describe(), " must be [", Join(state_dims, ","), "]");
  for (const char* port : {"decay", "beta"}) {
    if (!c.Has(port)) continue;
    const Dims& d = c.In(port).dims();
    const int64_t last = port[0] == 'd' ? dk : 1;
    if (d.size() != 4 || d[0] != batch || (d[1] != 1 && d[1] != kv_heads) || d[2] != length ||
        (d[3] != 1 && d[3] != last))
      return InvalidArgument("input '", port, "' ", c.In(port).Describe(), " does not match k ",
                             c.In("k").Describe());
  }
  const auto decay = c.Has("decay") ? c.Doubles("decay") : std::vector<double>();
  const auto beta = c.Has("beta") ? c.Doubles("beta") : std::vector<double>();
  const double scale = op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<double>(dk));
  const int64_t group = qd[1] / kv_heads;
  std::vector<double> y(static_cast<size_t>(batch * qd[1] * length * dv));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < kv_heads; ++h) {
      double* s = state.data() + (b * kv_heads + h) * dk * dv;
      for (int64_t t = 0; t < length; ++t) {
        const double* key = k.data() + ((b * kv_heads + h) * length + t) * dk;
        std::vector<double> token(v.begin() + ((b * kv_heads + h) * length + t) * dv,
                                  v.begin() + ((b * kv_heads + h) * length + t + 1) * dv);
        if (Gated(op.rule))
          for (int64_t i = 0; i < dk; ++i) {
            const double keep = std::exp(decay[Broadcast(c.In("decay").dims(), b, h, t, i)]);
            for (int64_t j = 0; j < dv; ++j) s[i * dv + j] *= keep;
          }
        if (Corrects(op.rule)) {
          const double rate = beta[Broadcast(c.In("beta").dims(), b, h, t, 0)];
          for (int64_t j = 0; j < dv; ++j) {
            double predicted = 0;
            for (int64_t i = 0; i < dk; ++i) predicted += s[i * dv + j] * key[i];
            token[static_cast<size_t>(j)] = rate * (token[static_cast<size_t>(j)] - predicted);
          }
        }
        for (int64_t i = 0; i < dk; ++i)
          for (int64_t j = 0; j < dv; ++j) s[i * dv + j] += key[i] * token[static_cast<size_t>(j)];
        for (int64_t g = 0; g < group; ++g) {
          const int64_t row = (b * qd[1] + h * group + g) * length + t;
          for (int64_t j = 0; j < dv; ++j) {
            double sum = 0;
            for (int64_t i = 0; i < dk; ++i) sum += q[static_cast<size_t>(row * dk + i)] * s[i * dv + j];
            y[static_cast<size_t>(row * dv + j)] = scale * sum;
          }
        }
      }
    }
  c.Out("y", {batch, qd[1], length, dv}, y);
  if (c.Wants("present")) c.Out("present", state_dims, state);
  return {};
}

}  // namespace

TERN_OP(LinearAttention) {
  return OpDef::Of<LinearAttention>(
             "for each token: state *= exp(decay) in the gated rules, state += kᵀ·u, y = scale·q·state; u is v, or beta·(v - k·state) in the delta rules")
      .In("q", kFloats)
      .In("k", kFloats)
      .In("v", kFloats)
      .OptIn("past", kFloats)
      .OptIn("decay", kFloats)
      .OptIn("beta", kFloats)
      .Out("y", kFloats)
      .OptOut("present", kFloats)
      .Flops(kNoKernel)
      .Batch(kNoKernel)
      .Axes(No{"the order of batch, heads, length and size is fixed"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
