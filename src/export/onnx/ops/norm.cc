// Exports normalisation ops.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

double Epsilon(const TernNode& n) { return n.attrs().Float("epsilon"); }

Status InstanceNorm(TernNode& n) {
  EmitIn(n, WithoutBFloat(n.TypeOf(0).dtype), "InstanceNormalization", n.Ins(), {{"epsilon", Epsilon(n)}});
  return {};
}

// Returns whether the input has exactly the shape of the dims that are normalised together. For x [2,3,4]
// with axis 1, this is [3,4].
bool CoversRow(const TernNode& n, int input) {
  const Shape &x = n.TypeOf(0).shape, &s = n.TypeOf(input).shape;
  const int64_t axis = n.attrs().Int("axis");
  if (!x.ranked || !s.ranked) return s.rank() == 1 && axis == -1;
  const int64_t first = axis < 0 ? axis + x.rank() : axis;
  if (s.rank() != x.rank() - first) return false;
  for (int i = 1; i <= s.rank(); ++i)
    if (s[-i].known() && x[-i].known() ? s[-i].value() != x[-i].value() : s[-i].known() && s[-i].value() == 1)
      return false;
  return true;
}

// Emits a tensor of ones with the shape of the dims that are normalised together.
std::string Ones(TernNode& n) {
  const Shape& x = n.TypeOf(0).shape;
  int64_t axis = n.attrs().Int("axis");
  if (x.ranked && axis < 0) axis += x.rank();
  const Shape row = x.ranked ? Shape(std::vector<Dim>(x.dims.begin() + axis, x.dims.end())) : Shape();
  if (x.ranked && row.fully_known()) {
    const Dims dims = row.Concrete();
    const std::vector<double> ones(static_cast<size_t>(CountOf(dims)), 1);
    return n.Const(Tensor::Of(n.TypeOf(0).dtype, dims, ones));
  }
  const std::string shape = n.Op("Shape", {n.In(0)}, {{"start", n.attrs().Int("axis")}});
  return n.Op("ConstantOfShape", {shape}, {{"value", Tensor::Of(n.TypeOf(0).dtype, {1}, {1})}});
}

// If the scale and the bias have the shape of the normalised dims, they become inputs of the operator.
// Otherwise they become a Mul and an Add after the operator.
Status LayerNorm(TernNode& n) {
  const DType type = n.TypeOf(0).dtype;
  const AttrList attrs = {
      {"axis", n.attrs().Int("axis")}, {"epsilon", Epsilon(n)}, {"stash_type", n.attrs().Type("stash_type")}};
  const bool scale_fits = n.Has(1) && CoversRow(n, 1), bias_fits = scale_fits && n.Has(2) && CoversRow(n, 2);
  const bool scale_after = n.Has(1) && !scale_fits, bias_after = n.Has(2) && !bias_fits;
  std::vector<std::string> inputs = {n.In(0),
                                     scale_fits ? CastName(n, n.In(1), n.TypeOf(1).dtype, type) : Ones(n)};
  if (bias_fits) inputs.push_back(CastName(n, n.In(2), n.TypeOf(2).dtype, type));
  std::vector<std::string> outputs = {scale_after || bias_after ? n.Temp() : n.Out(0)};
  if (Wanted(n, 1) || Wanted(n, 2)) outputs.push_back(Wanted(n, 1) ? n.Out(1) : "");
  if (Wanted(n, 2)) outputs.push_back(n.Out(2));
  std::string y = n.Emit("LayerNormalization", inputs, outputs, attrs);
  if (scale_after)
    y = n.Emit("Mul", {y, CastName(n, n.In(1), n.TypeOf(1).dtype, type)}, {bias_after ? n.Temp() : n.Out(0)});
  if (bias_after) n.Emit("Add", {y, CastName(n, n.In(2), n.TypeOf(2).dtype, type)}, {n.Out(0)});
  return {};
}

Result<std::vector<int64_t>> RowAxes(TernNode& n) {
  int64_t axis = n.attrs().Int("axis");
  const int rank = n.TypeOf(0).shape.rank();
  if (axis >= 0 && rank < 0) return n.NotExportable("axis ", axis, " needs a known rank");
  if (axis >= 0) axis -= rank;
  std::vector<int64_t> axes;
  for (; axis < 0; ++axis) axes.push_back(axis);
  return axes;
}

// Emits RmsNorm as elementary operators. Used if x is neither f32 nor f64, because runtimes implement
// RMSNormalization only for these types, and if the scale has another type than x or does not cover a row.
// For f16 and bf16, the emitted operators compute in f32.
Status DecomposedRmsNorm(TernNode& n) {
  TERN_ASSIGN(const auto axes, RowAxes(n));
  const DType own = n.TypeOf(0).dtype, work = own == DType::kF64 ? own : DType::kF32,
              out = n.node.output(0)->type.dtype;
  const std::string x = CastName(n, n.In(0), own, work);
  const std::string mean = n.Op("ReduceMean", {n.Op("Mul", {x, x}), n.Ints(axes)}, {{"keepdims", true}});
  const std::string root = n.Op("Sqrt", {n.Op("Add", {mean, n.Scalar(work, Epsilon(n))})});
  std::string y = n.Op("Div", {x, root});
  if (n.Has(1)) y = n.Op("Mul", {y, CastName(n, n.In(1), n.TypeOf(1).dtype, work)});
  n.Emit("Cast", {y}, {n.Out(0)}, {{"to", out}});
  return {};
}

Status RmsNorm(TernNode& n) {
  const DType own = n.TypeOf(0).dtype;
  const bool known = own == DType::kF32 || own == DType::kF64;
  const bool fits = !n.Has(1) || (n.TypeOf(1).dtype == own && CoversRow(n, 1));
  if (!known || !fits) return DecomposedRmsNorm(n);
  n.NeedOpset(23);
  n.Emit("RMSNormalization", {n.In(0), n.Has(1) ? n.In(1) : Ones(n)}, n.Outs(),
         {{"axis", n.attrs().Int("axis")}, {"epsilon", Epsilon(n)}, {"stash_type", own}});
  return {};
}

// Returns the name of an input [C], reshaped to [C, 1, …]. With this shape it broadcasts along axis 1 of a
// tensor of rank `rank`.
std::string AlongChannels(TernNode& n, int input, int rank) {
  std::vector<int64_t> column(static_cast<size_t>(rank - 1), 1);
  column[0] = -1;
  const Value* v = n.node.input(input);
  if (!v->is_constant()) return n.Op("Reshape", {n.In(input), n.Ints(column)});
  column[0] = v->constant.size();
  return n.Const(v->constant.Contiguous().Reshaped(column));
}

// Emits the dims of input 0 in channels-first order, as the target of a Reshape. The batch size in the target
// is 0, so that Reshape copies it.
std::string DimsOfInput(TernNode& n) {
  const Shape& x = n.TypeOf(0).shape;
  std::vector<int64_t> dims = {0};
  for (int i = 1; i < x.rank(); ++i) dims.push_back(x[i].known() ? x[i].value() : -1);
  if (ChannelsLast(n.attrs())) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  const bool empty = std::count(dims.begin() + 1, dims.end(), 0) > 0;
  if (!empty && std::count(dims.begin(), dims.end(), -1) <= 1) return n.Ints(dims);
  return n.Op("Shape", {n.In(0)});
}

// Emits InstanceNormalization on x with the groups as channels, instead of GroupNormalization. In
// GroupNormalization, runtimes compute the variance as mean(x²) - mean(x)², which loses precision if the mean
// is large. If the rank is unknown, or if x is neither f32 nor f64, emits GroupNormalization.
Status GroupNorm(TernNode& n) {
  const Shape& x = n.TypeOf(0).shape;
  const DType type = n.TypeOf(0).dtype;
  if (!x.ranked || (type != DType::kF32 && type != DType::kF64)) {
    n.Emit("GroupNormalization", n.Ins(), n.Outs(),
           {{"num_groups", n.attrs().Int("groups")}, {"epsilon", Epsilon(n)}});
    return {};
  }
  const int64_t groups = n.attrs().Int("groups");
  const std::vector<double> ones(static_cast<size_t>(groups), 1), zeros(ones.size(), 0);
  const std::string flat = n.Op("Reshape", {n.In(0), n.Ints({0, groups, -1})});
  const std::string normalized =
      n.Op("InstanceNormalization",
           {flat, n.Const(Tensor::Of(type, {groups}, ones)), n.Const(Tensor::Of(type, {groups}, zeros))},
           {{"epsilon", Epsilon(n)}});
  const std::string back = n.Op("Reshape", {normalized, DimsOfInput(n)});
  const std::string scaled = n.Op("Mul", {back, AlongChannels(n, 1, x.rank())});
  n.Emit("Add", {scaled, AlongChannels(n, 2, x.rank())}, {n.Out(0)});
  return {};
}

}  // namespace

TERN_EXPORTERS(norm) {
  table.Add("BatchNorm", DirectTo("BatchNormalization", {"epsilon"}));
  table.Add("InstanceNorm", InstanceNorm);
  table.Add("GroupNorm", GroupNorm);
  table.Add("LayerNorm", LayerNorm);
  table.Add("RmsNorm", RmsNorm);
  table.Add("Lrn", DirectTo("LRN", {"size", "alpha", "beta", "bias"}));
}

}  // namespace tern::onnx
