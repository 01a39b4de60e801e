#include "passes/linear/channels.h"

#include <algorithm>

#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// Returns the weights of a ConvTranspose times `factor`, a vector with one element per output channel.
// The weights are [C, M/group, kernel…] for C input and M output channels. If input channel c is in
// group g, element [c, j] belongs to output channel g * (M/group) + j.
Value* ScaleTransposed(Rewrite& r, const Channels& c, Value* factor) {
  const Dims dims = c.weights->constant.dims();
  const int64_t group = c.node->attrs.Int("group");
  Value* grouped = Reshape(r, c.weights, {group, dims[0] / group, dims[1], -1});
  return Reshape(r, Mul(r, grouped, Reshape(r, factor, {group, 1, dims[1], 1})), dims);
}

bool FillShape(Channels& c) {
  const Dims& w = c.weights->constant.dims();
  const std::string& op = c.node->op->name;
  if (op == "MatMul") {
    if (w.size() < 2) return false;
    c.count = w[w.size() - (c.node->attrs.Bool("transpose_b") ? 2 : 1)];
    c.rank = c.node->output(0)->type.shape.rank();
    c.axis = c.rank - 1;
    return c.rank > 0 && c.count > 0;
  }
  c.rank = static_cast<int>(w.size());
  c.axis = 1;
  c.count = op == "Conv" ? w[0] : w[1] * c.node->attrs.Int("group");
  return CountOf(w) > 0;
}

}  // namespace

std::optional<Channels> ChannelsOf(Rewrite& r, Value* y, std::string_view op) {
  Channels c;
  c.node = MadeBy(y, op);
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  if (!c.node) return no("'", y ? y->name : "", "' is not made by ", op);
  if (!OnlyUse(y)) return no("'", y->name, "' is also read by another node");
  if (c.node->graph != &r.graph()) return no("'", y->name, "' is made outside of this graph");
  c.x = c.node->input(0);
  c.weights = c.node->input(1);
  c.bias = c.node->input(2);
  if (!c.weights->is_constant()) return no("the weights '", c.weights->name, "' are not constant");
  if (!IsFloatValue(c.weights) || c.weights->type.dtype != y->type.dtype)
    return no("the weights are quantized");
  if (!NoEpilogue(*c.node)) return no("the node has an activation or a residual");
  if (!FillShape(c)) return no("the shape of '", y->name, "' is not known");
  return c;
}

Value* PerChannel(Rewrite& r, const Channels& c, Value* constant) {
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return nullptr;
  };
  if (!constant || !constant->is_constant()) return no("no operand is a constant");
  const Tensor& t = constant->constant;
  if (t.dtype() != c.weights->type.dtype) return no("weights and constant have different types");
  if (t.rank() > c.rank) return no("the constant broadcasts the result to a larger shape");
  for (int i = 0; i < t.rank(); ++i)
    if (t.dim(i) != 1 && i + c.rank - t.rank() != c.axis)
      return no("the constant ", t.Describe(), " differs along more than the channels");
  if (t.size() != 1 && t.size() != c.count) return no("the constant broadcasts the result to a larger shape");
  return Reshape(r, constant, {t.size()});
}

Value* ScaledWeights(Rewrite& r, const Channels& c, Value* factor) {
  if (factor->constant.size() == 1) return Mul(r, c.weights, factor);
  if (c.node->op->name == "ConvTranspose") return ScaleTransposed(r, c, factor);
  if (c.node->op->name == "MatMul")
    return Mul(r, c.weights, c.node->attrs.Bool("transpose_b") ? Reshape(r, factor, {-1, 1}) : factor);
  Dims column(static_cast<size_t>(c.rank), 1);
  column[0] = -1;
  return Mul(r, c.weights, Reshape(r, factor, column));
}

Value* BiasOf(Rewrite& r, const Channels& c) {
  if (!c.bias) return r.Const(Tensor(c.weights->type.dtype, {c.count}));
  if (c.bias->is_constant()) return c.bias;
  r.Skip("the bias '", c.bias->name, "' is not constant");
  return nullptr;
}

Value* WithWeights(Rewrite& r, const Channels& c, Value* weights, Value* bias) {
  return r.Op(*c.node->op, c.node->attrs, {c.x, weights, bias});
}

bool AllAre(const std::vector<int64_t>& list, int64_t v) {
  return std::all_of(list.begin(), list.end(), [v](int64_t number) { return number == v; });
}

bool Unpadded(const Attrs& conv) {
  const std::string automatic = conv.Text("auto_pad");
  return automatic == "valid" || (automatic == "none" && AllAre(conv.Ints("pads"), 0));
}

void CopyEpilogue(const Attrs& from, Attrs& to) {
  for (const char* name : {"activation", "act_alpha", "act_beta"}) SetAttr(to, name, from.Get(name));
}

bool AffineOf(Rewrite& r, const Node& batch_norm, DType dtype, Affine& out) {
  for (int i = 1; i < 5; ++i) {
    const Value* v = batch_norm.input(i);
    if (!v->is_constant()) return r.Skip("'", v->name, "' is not a constant");
    if (v->type.dtype != dtype) return r.Skip("weights and '", v->name, "' have different types");
  }
  Value* deviation = Add(r, batch_norm.input(4), r.Scalar(dtype, batch_norm.attrs.Float("epsilon")));
  out.factor = Div(r, batch_norm.input(1), r.Op("Unary", {deviation}, {{"kind", "sqrt"}}));
  out.shift = Sub(r, batch_norm.input(2), Mul(r, batch_norm.input(3), out.factor));
  return true;
}

}  // namespace tern
