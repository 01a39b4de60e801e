// Converts layers that multiply matrices or combine bottoms, and reductions.
#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

// Flattens all axes from `axis` on to one vector.
Status InnerProduct(Layer& n) {
  const auto& p = n.proto.inner_product_param();
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  TERN_ASSIGN(const int axis, n.Axis(0, p.axis()));
  const int64_t inputs = CountOf(Dims(dims.begin() + axis, dims.end())), outputs = p.num_output();
  if (outputs < 1) return n.Bad("num_output is missing");
  TERN_ASSIGN(Value* const weights,
              n.BlobValue(0, p.transpose() ? Dims{inputs, outputs} : Dims{outputs, inputs}));
  Value* bias = nullptr;
  if (p.bias_term()) {
    TERN_ASSIGN(bias, n.BlobValue(1, {outputs}));
  }
  Value* x = n.In(0);
  if (axis + 1 != static_cast<int>(dims.size())) {
    Dims flat(static_cast<size_t>(axis), 0);
    flat.push_back(-1);
    x = axis == 1 ? n.b.Op("Flatten", {x}) : Reshaped(n, x, flat);
  }
  n.Out(0, n.b.Op("MatMul", {x, weights, bias}, {{"transpose_b", !p.transpose()}}));
  return {};
}

Status Embed(Layer& n) {
  const auto& p = n.proto.embed_param();
  const int64_t inputs = p.input_dim(), outputs = p.num_output();
  if (inputs < 1 || outputs < 1) return n.Bad("input_dim and num_output must be positive");
  TERN_ASSIGN(Value* const weights, n.BlobValue(0, {inputs, outputs}));
  Value* y = n.b.Op("Gather", {weights, CastTo(n, n.In(0), DType::kI64)}, {{"axis", int64_t{0}}});
  if (p.bias_term()) {
    TERN_ASSIGN(Value* const bias, n.BlobValue(1, {outputs}));
    y = Binary(n, "add", y, bias);
  }
  n.Out(0, y);
  return {};
}

Status Eltwise(Layer& n) {
  const auto& p = n.proto.eltwise_param();
  const bool sum = p.operation() == pb::EltwiseParameter::SUM;
  if (p.coeff_size() > 0 && p.coeff_size() != n.Bottoms())
    return n.Bad("has ", n.Bottoms(), " bottoms, but ", p.coeff_size(), " coefficients");
  if (p.coeff_size() > 0 && p.operation() == pb::EltwiseParameter::PROD)
    return n.Bad("coefficients belong to a sum, not to a product");
  std::vector<Value*> inputs;
  for (int i = 0; i < n.Bottoms(); ++i) inputs.push_back(n.In(i));
  if (inputs.size() == 2 && p.coeff_size() == 0) {
    n.Out(0, Binary(n,
                    sum                                           ? "add"
                    : p.operation() == pb::EltwiseParameter::PROD ? "mul"
                                                                  : "max",
                    inputs[0], inputs[1]));
    return {};
  }
  AttrList attrs = {{"kind", sum ? "sum" : p.operation() == pb::EltwiseParameter::PROD ? "prod" : "max"}};
  if (sum && p.coeff_size() > 0)
    attrs.emplace_back("coefficients", std::vector<double>(p.coeff().begin(), p.coeff().end()));
  n.Out(0, n.b.Op("Eltwise", inputs, attrs));
  return {};
}

// SENet's layer: the first bottom [N, C, 1, 1] times the second one, plus the third one.
Status Axpy(Layer& n) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_ASSIGN(const int wanted, n.RankOf(1));
  Value* a = n.In(0);
  Dims axes;
  for (int i = rank; i < wanted; ++i) axes.push_back(i);
  if (!axes.empty()) a = n.b.Op("Unsqueeze", {a, n.b.Ints(axes)});
  n.Out(0, Binary(n, "add", Binary(n, "mul", a, n.In(1)), n.In(2)));
  return {};
}

Status Softmax(Layer& n) {
  TERN_ASSIGN(const int axis, n.Axis(0, n.proto.softmax_param().axis()));
  n.Out(0, n.b.Op("Softmax", {n.In(0)}, {{"axis", axis}}));
  return {};
}

// Reduces all axes from `axis` on.
Status Reduction(Layer& n) {
  const auto& p = n.proto.reduction_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_ASSIGN(const int axis, n.AxisIn(rank, p.axis()));
  const char* kind = "sum";
  if (p.operation() == pb::ReductionParameter::ASUM) kind = "l1";
  if (p.operation() == pb::ReductionParameter::SUMSQ) kind = "sum_square";
  if (p.operation() == pb::ReductionParameter::MEAN) kind = "mean";
  Dims axes;
  for (int i = axis; i < rank; ++i) axes.push_back(i);
  n.Out(0, Affine(n, Reduced(n, kind, n.In(0), axes, false), p.coeff(), 0));
  return {};
}

// Without an axis, the result is [N, 1 or 2, k, 1…]: the indices of the k largest elements of each item, then
// the elements. With an axis, it is the indices or the elements along this axis. Of equal elements, Caffe
// returns the last one first.
Status ArgMax(Layer& n) {
  const auto& p = n.proto.argmax_param();
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  const int64_t k = p.top_k(), rank = static_cast<int64_t>(dims.size());
  const bool by_axis = p.has_axis();
  TERN_ASSIGN(const int axis, by_axis ? n.Axis(0, p.axis()) : Result<int>(1));
  if (!by_axis && rank < 1) return n.Bad("the bottom has no axes");
  const int64_t length =
      by_axis ? dims[static_cast<size_t>(axis)] : CountOf(Dims(dims.begin() + 1, dims.end()));
  if (k < 1 || k > length) return n.Bad("top_k is ", k, ", but must be in [1, ", length, "]");
  Value* x = by_axis ? n.In(0) : Reshaped(n, n.In(0), {0, -1});
  // The search runs over the reversed axis, so that of equal elements the last one comes first.
  Value* reversed =
      n.b.Op("Slice", {x, n.b.Ints({length - 1}), n.b.Ints({-length - 1}), n.b.Ints({axis}), n.b.Ints({-1})});
  const auto top = n.b.Ops("TopK", {reversed, n.b.Ints({k})}, {{"axis", axis}}, 2);
  TERN_TRY(Status(n.b.status()));
  Value* indices = Affine(n, CastTo(n, top[1], DType::kF32), -1, static_cast<double>(length - 1));
  if (by_axis) {
    n.Out(0, p.out_max_val() ? top[0] : indices);
    return {};
  }
  Dims result(static_cast<size_t>(std::max<int64_t>(rank, 3)), 1);
  result[0] = 0;
  result[1] = p.out_max_val() ? 2 : 1;
  result[2] = k;
  Value* y = p.out_max_val() ? n.b.Op("Concat", {indices, top[0]}, {{"axis", int64_t{1}}}) : indices;
  n.Out(0, Reshaped(n, y, result));
  return {};
}

}  // namespace

TERN_CONVERTERS(matmul) {
  table.Add("ArgMax", ArgMax);
  table.Add("Axpy", Axpy, {3, 3, 1, 1});
  table.Add("Eltwise", Eltwise, {2, kAny, 1, 1});
  table.Add("Embed", Embed);
  table.Add("InnerProduct", InnerProduct);
  table.Add("Reduction", Reduction);
  table.Add("Softmax", Softmax);
}

}  // namespace tern::caffe
