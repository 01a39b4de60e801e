// Converts operators of StableHLO, which occur in files of converters for JAX and torch. Where the inputs do
// not determine a result's shape, the shape that the file states is used.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

std::function<Status(LiteNode&)> StableHloUnary(const char* kind) {
  return [kind](LiteNode& n) -> Status {
    n.OutReal(0, Unary(n.b, kind, n.Real(0)));
    return {};
  };
}

std::function<Status(LiteNode&)> BinaryOf(const char* kind, const char* of_bools = nullptr) {
  return [=](LiteNode& n) -> Status {
    const bool bools = of_bools && n.TypeOf(0) == DType::kBool;
    n.OutReal(0, Binary(n.b, bools ? of_bools : kind, n.Real(0), n.Real(1)));
    return {};
  };
}

// Returns the dims that the file states for the result. Fails if one of them is dynamic.
Result<std::vector<int64_t>> ResultDims(const LiteNode& n) {
  const TensorInfo& info = n.InfoOut(0);
  for (int64_t d : info.signature)
    if (d < 0) return n.NotYet("a result of dynamic size");
  return info.dims;
}

Status Rsqrt(LiteNode& n) {
  n.OutReal(0, Unary(n.b, "reciprocal", Unary(n.b, "sqrt", n.Real(0))));
  return {};
}

Status Cbrt(LiteNode& n) {
  Builder& b = n.b;
  Value* x = n.Real(0);
  Value* root = Binary(b, "pow", Unary(b, "abs", x), ScalarLike(b, x, 1.0 / 3));
  n.OutReal(0, Binary(b, "mul", Unary(b, "sign", x), root));
  return {};
}

Status Clamp(LiteNode& n) {
  n.OutReal(0, Binary(n.b, "min", Binary(n.b, "max", n.Real(1), n.Real(0)), n.Real(2)));
  return {};
}

Status StableHloSelect(LiteNode& n) {
  n.Out(0, n.b.Op("Where", {n.In(0), n.In(1), n.In(2)}));
  return {};
}

Status Convert(LiteNode& n) {
  if (n.InfoOut(0).resource) return n.Bad("the result is a resource");
  n.Out(0, CastTo(n.b, n.In(0), n.InfoOut(0).dtype));
  return {};
}

Status ReshapeOp(LiteNode& n) {
  TERN_ASSIGN(const std::vector<int64_t> dims, ResultDims(n));
  n.Out(0, n.b.Op("Reshape", {n.In(0), n.b.Ints(dims)}, {{"allow_zero", true}}));
  return {};
}

Status Concatenate(LiteNode& n) {
  std::vector<Value*> parts;
  for (int i = 0; i < n.InputCount(); ++i) {
    if (!n.Has(i)) return n.Bad("has no input ", i);
    parts.push_back(n.In(i));
  }
  n.Out(0, n.b.Op("Concat", parts, {{"axis", n.Options2<fb::StablehloConcatenateOptions>().dimension()}}));
  return {};
}

// Axis i of x becomes axis broadcast_dimensions[i] of the result.
Status BroadcastInDim(LiteNode& n) {
  TERN_ASSIGN(const std::vector<int64_t> dims, ResultDims(n));
  const auto axes = LongsOf(n.Options2<fb::StablehloBroadcastInDimOptions>().broadcast_dimensions());
  const Shape& x = n.In(0)->type.shape;
  if (static_cast<int>(axes.size()) != x.rank())
    return n.Bad("has ", axes.size(), " axes for ", x.rank(), " dims");
  std::vector<int64_t> shape(dims.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(dims.size()) || (i > 0 && axes[i] <= axes[i - 1]))
      return n.NotYet("the axis ", axes[i]);
    if (!x[static_cast<int>(i)].known()) return n.NotYet("an input of unknown size");
    shape[static_cast<size_t>(axes[i])] = x[static_cast<int>(i)].value();
  }
  n.Out(0, n.b.Op("Expand", {Reshaped(n.b, n.In(0), shape), n.b.Ints(dims)}));
  return {};
}

Status SliceOp(LiteNode& n) {
  const auto& o = n.Options2<fb::StablehloSliceOptions>();
  const auto starts = LongsOf(o.start_indices()), limits = LongsOf(o.limit_indices()),
             strides = LongsOf(o.strides());
  const size_t rank = static_cast<size_t>(n.RankOf(0));
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return n.Bad("its options do not have ", rank, " numbers");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (rank == 0)
    n.Out(0, n.In(0));
  else
    n.Out(0,
          n.b.Op("Slice", {n.In(0), n.b.Ints(starts), n.b.Ints(limits), n.b.Ints(axes), n.b.Ints(strides)}));
  return {};
}

Status Compare(LiteNode& n) {
  static constexpr const char* kKinds[] = {"equal",   "equal",      "greater_equal",
                                           "greater", "less_equal", "less"};
  const uint32_t direction = n.Options2<fb::StablehloCompareOptions>().comparison_direction();
  if (direction > 5) return n.Bad("the comparison #", direction);
  Value* y = Binary(n.b, kKinds[direction], n.Real(0), n.Real(1));
  n.Out(0, direction == 1 ? Unary(n.b, "not", y) : y);
  return {};
}

Status TransposeOp(LiteNode& n) {
  n.Out(0, Transposed(n.b, n.In(0), LongsOf(n.Options2<fb::StablehloTransposeOptions>().permutation())));
  return {};
}

Status Iota(LiteNode& n) {
  TERN_ASSIGN(const std::vector<int64_t> dims, ResultDims(n));
  Builder& b = n.b;
  const int64_t axis = n.Options2<fb::StablehloIotaOptions>().iota_dimension();
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size()))
    return n.Bad("the axis ", axis, " of ", dims.size());
  std::vector<int64_t> shape(dims.size(), 1);
  shape[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)];
  const auto i64 = [&](int64_t v) { return b.Scalar(DType::kI64, static_cast<double>(v)); };
  Value* numbers = b.Op("Range", {i64(0), i64(dims[static_cast<size_t>(axis)]), i64(1)});
  n.Out(0, b.Op("Expand", {Reshaped(b, numbers, shape), b.Ints(dims)}));
  return {};
}

// Emits the start of a dynamic slice. The operator has one scalar input per axis. The starts are clamped so
// that the slice is inside x.
Result<Value*> StartOf(LiteNode& n, int first, Value* size) {
  Builder& b = n.b;
  std::vector<Value*> starts;
  for (int i = first; i < n.InputCount(); ++i) {
    if (!n.Has(i)) return n.Bad("has no input ", i);
    starts.push_back(Reshaped(b, Longs64(b, n.In(i)), {1}));
  }
  if (static_cast<int>(starts.size()) != n.RankOf(0) || starts.empty())
    return n.Bad("has ", starts.size(), " starts");
  Value* room = Binary(b, "sub", ShapeOf(b, n.In(0)), size);
  return Binary(b, "max", Binary(b, "min", Joined(b, starts, 0), room), b.Ints({0}));
}

Status DynamicSlice(LiteNode& n) {
  Value* size = n.b.Ints(LongsOf(n.Options2<fb::StablehloDynamicSliceOptions>().slice_sizes()));
  if (size->type.shape[0] != Dim(n.RankOf(0)))
    return n.Bad("its options do not have ", n.RankOf(0), " numbers");
  TERN_ASSIGN(Value * start, StartOf(n, 1, size));
  Value* y = n.b.Op("Slice", {n.In(0), start, Binary(n.b, "add", start, size)});
  // The size is known although the start is not.
  n.Out(0, n.b.Op("Reshape", {y, size}, {{"allow_zero", true}}));
  return {};
}

Status PadOp(LiteNode& n) {
  const auto& o = n.Options2<fb::StablehloPadOptions>();
  std::vector<int64_t> pads = LongsOf(o.edge_padding_low());
  const auto high = LongsOf(o.edge_padding_high());
  for (int64_t v : LongsOf(o.interior_padding()))
    if (v != 0) return n.NotYet("padding between elements");
  if (static_cast<int>(pads.size()) != n.RankOf(0) || high.size() != pads.size())
    return n.Bad("its options do not have ", n.RankOf(0), " numbers");
  pads.insert(pads.end(), high.begin(), high.end());
  n.Out(0, n.b.Op("Pad", {n.In(0), n.b.Ints(pads), Reshaped(n.b, n.In(1), {})}));
  return {};
}

// Emits the product as an Einsum. Its equation has letters for the batch axes, the summed axes and the other
// axes.
Status DotGeneral(LiteNode& n) {
  const auto& o = n.Options2<fb::StablehloDotGeneralOptions>();
  const std::vector<int64_t> batch[] = {LongsOf(o.lhs_batching_dimensions()),
                                        LongsOf(o.rhs_batching_dimensions())};
  const std::vector<int64_t> sums[] = {LongsOf(o.lhs_contracting_dimensions()),
                                       LongsOf(o.rhs_contracting_dimensions())};
  if (batch[0].size() != batch[1].size() || sums[0].size() != sums[1].size())
    return n.Bad("its axes do not match");
  std::string text[2], rest;
  char next = 'a';
  for (int side : {0, 1}) text[side].assign(static_cast<size_t>(n.RankOf(side)), ' ');
  if (text[0].size() + text[1].size() > 26) return n.NotYet("operands with that many dims");
  std::string result;
  for (const auto* list : {&batch, &sums})
    for (size_t i = 0; i < (*list)[0].size(); ++i) {
      for (int side : {0, 1}) {
        const int64_t axis = (*list)[side][i];
        if (axis < 0 || axis >= n.RankOf(side) || text[side][static_cast<size_t>(axis)] != ' ')
          return n.Bad("the axis ", axis);
        text[side][static_cast<size_t>(axis)] = next;
      }
      if (list == &batch) result += next;
      ++next;
    }
  for (int side : {0, 1})
    for (char& c : text[side])
      if (c == ' ') result += c = next++;
  n.OutReal(
      0, n.b.Op("Einsum", {n.Real(0), n.Real(1)}, {{"equation", text[0] + "," + text[1] + "->" + result}}));
  return {};
}

// Inputs: x and the initial value, which is combined with the reduced value once. The body must be a single
// operator that combines two numbers.
Status ReduceOp(LiteNode& n) {
  const auto& o = n.Options2<fb::StablehloReduceOptions>();
  const Model& model = n.importer().context().model;
  if (n.InputCount() != 2) return n.NotYet("a reduction of several tensors");
  if (o.body_subgraph_index() < 0 || o.body_subgraph_index() >= model.subgraph_count())
    return n.Bad("its body does not exist");
  const auto* body = model.subgraph(o.body_subgraph_index()).operators();
  if (!body || body->size() != 1) return n.NotYet("a body of several operators");
  const std::string op = model.OperatorName(*body->Get(0));
  static const std::map<std::string, std::pair<const char*, const char*>> kKinds = {
      {"STABLEHLO_ADD", {"sum", "add"}},
      {"STABLEHLO_MAXIMUM", {"max", "max"}},
      {"STABLEHLO_MINIMUM", {"min", "min"}},
      {"STABLEHLO_MULTIPLY", {"prod", "mul"}},
      {"STABLEHLO_OR", {"max", "or"}},
      {"STABLEHLO_AND", {"min", "and"}},
      {"ADD", {"sum", "add"}},
      {"MAXIMUM", {"max", "max"}},
      {"MINIMUM", {"min", "min"}},
      {"MUL", {"prod", "mul"}},
      {"LOGICAL_OR", {"max", "or"}},
      {"LOGICAL_AND", {"min", "and"}}};
  const auto kind = kKinds.find(op);
  if (kind == kKinds.end()) return n.NotYet("the body ", op);
  Value* y = Reduced(n.b, kind->second.first, n.In(0), LongsOf(o.dimensions()), false);
  n.Out(0, Binary(n.b, kind->second.second, y, n.In(1)));
  return {};
}

// Inserts dilations[i] - 1 elements between neighbours along axis i. Inputs: x, dilations, the value of the
// new elements.
Status Dilate(LiteNode& n) {
  Builder& b = n.b;
  const auto dilations = n.Longs(1);
  Value* x = n.In(0);
  if (!dilations || static_cast<int>(dilations->size()) != n.RankOf(0))
    return n.NotYet("dilations that are not constant, or not one per axis");
  Value* fill = Reshaped(b, n.In(2), {});
  for (int axis = 0; axis < n.RankOf(0); ++axis) {
    const int64_t d = (*dilations)[static_cast<size_t>(axis)];
    if (d < 1 || d > INT32_MAX) return n.Bad("the dilation ", d);
    if (d == 1) continue;
    const Shape shape = x->type.shape;
    if (!shape.fully_known()) return n.NotYet("an input of unknown size");
    Dims dims = shape.Concrete();
    const int64_t size = dims[static_cast<size_t>(axis)];
    Value* wide = b.Op("Pad", {Unsqueezed(b, x, {axis + 1}), b.Ints({0, d - 1}), fill, b.Ints({axis + 1})});
    dims[static_cast<size_t>(axis)] = size * d;
    x = Sliced(b, Reshaped(b, wide, dims), axis, 0, std::max<int64_t>(0, (size - 1) * d + 1));
  }
  n.Out(0, x);
  return {};
}

}  // namespace

TERN_CONVERTERS(stablehlo) {
  table.Add("STABLEHLO_LOGISTIC", 1, StableHloUnary("sigmoid"));
  table.Add("STABLEHLO_ABS", 1, StableHloUnary("abs"));
  table.Add("STABLEHLO_COSINE", 1, StableHloUnary("cos"));
  table.Add("STABLEHLO_EXPONENTIAL", 1, StableHloUnary("exp"));
  table.Add("STABLEHLO_FLOOR", 1, StableHloUnary("floor"));
  table.Add("STABLEHLO_LOG", 1, StableHloUnary("log"));
  table.Add("STABLEHLO_NEGATE", 1, StableHloUnary("neg"));
  table.Add("STABLEHLO_TANH", 1, StableHloUnary("tanh"));
  table.Add("STABLEHLO_RSQRT", 1, Rsqrt);
  table.Add("STABLEHLO_CBRT", 1, Cbrt);
  table.Add("STABLEHLO_ADD", 2, BinaryOf("add"));
  table.Add("STABLEHLO_SUBTRACT", 2, BinaryOf("sub"));
  table.Add("STABLEHLO_MULTIPLY", 2, BinaryOf("mul"));
  table.Add("STABLEHLO_DIVIDE", 2, BinaryOf("div"));
  table.Add("STABLEHLO_MAXIMUM", 2, BinaryOf("max"));
  table.Add("STABLEHLO_MINIMUM", 2, BinaryOf("min"));
  table.Add("STABLEHLO_POWER", 2, BinaryOf("pow"));
  table.Add("STABLEHLO_REMAINDER", 2, BinaryOf("fmod"));
  table.Add("STABLEHLO_AND", 2, BinaryOf("bit_and", "and"));
  table.Add("STABLEHLO_OR", 2, BinaryOf("bit_or", "or"));
  table.Add("STABLEHLO_SHIFT_LEFT", 2, BinaryOf("shift_left"));
  table.Add("STABLEHLO_CLAMP", 3, Clamp);
  table.Add("STABLEHLO_SELECT", 3, StableHloSelect);
  table.Add("STABLEHLO_CONVERT", 1, Convert);
  table.Add("STABLEHLO_RESHAPE", 1, ReshapeOp);
  table.Add("STABLEHLO_CONCATENATE", 1, Concatenate);
  table.Add("STABLEHLO_BROADCAST_IN_DIM", 1, BroadcastInDim);
  table.Add("STABLEHLO_SLICE", 1, SliceOp);
  table.Add("STABLEHLO_COMPARE", 2, Compare);
  table.Add("STABLEHLO_TRANSPOSE", 1, TransposeOp);
  table.Add("STABLEHLO_IOTA", 0, Iota);
  table.Add("STABLEHLO_DYNAMIC_SLICE", 1, DynamicSlice);
  table.Add("STABLEHLO_PAD", 2, PadOp);
  table.Add("STABLEHLO_DOT_GENERAL", 2, DotGeneral);
  table.Add("STABLEHLO_REDUCE", 2, ReduceOp);
  table.Add("DILATE", 3, Dilate);
}

}  // namespace tern::tflite
