// New tensors.
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

DType TypeOfFill(const Arg& value) {
  return value.kind == Arg::Kind::kBool  ? DType::kBool
         : value.kind == Arg::Kind::kInt ? DType::kI64
                                         : DType::kF32;
}

// Returns a tensor of the given dims whose elements are all `value`, a number or a scalar tensor.
Value* Filled(AtenNode& n, Value* shape, const Arg& value, DType t) {
  if (value.known()) {
    Tensor one = import::Numbers(n.b, t, {1}, {value.AsDouble()});
    if (value.kind != Arg::Kind::kFloat) StoreLong(one, 0, value.integer);
    return n.b.Op("Fill", {shape}, {{"value", one}});
  }
  return Emit(n.b).Expand(As(n, value, t), shape);
}

Status Full(AtenNode& n) {
  const Arg& value = n.Get("fill_value");
  const DType t = n.Type("dtype", n.HasParameter("self") ? n.TypeOf("self") : TypeOfFill(value));
  n.Out(Filled(n, IntVector(n.b, n.Get("size").items), value, t));
  return {};
}

Status FullLike(AtenNode& n, const char* value) {
  Value* x = n.In("self");
  const DType t = n.Type("dtype", x->type.dtype);
  n.Out(Filled(n, Emit(n.b).Shape(x), n.Get(value), t));
  return {};
}

Converter Constant(int64_t v) {
  return [v](AtenNode& n) -> Status {
    const DType t = n.Type("dtype", n.HasParameter("self") ? n.TypeOf("self") : DType::kF32);
    n.Out(Filled(n, IntVector(n.b, n.Get("size").items), Arg::Int(v), t));
    return {};
  };
}

Converter ConstantLike(int64_t v) {
  return [v](AtenNode& n) -> Status {
    Value* x = n.In("self");
    n.Out(Filled(n, Emit(n.b).Shape(x), Arg::Int(v), n.Type("dtype", x->type.dtype)));
    return {};
  };
}

Status Arange(AtenNode& n) {
  const Arg start = n.Has("start") ? n.Get("start") : Arg::Int(0), end = n.Get("end");
  const Arg step = n.Has("step") ? n.Get("step") : Arg::Int(1);
  const bool real =
      start.kind == Arg::Kind::kFloat || end.kind == Arg::Kind::kFloat || step.kind == Arg::Kind::kFloat;
  const DType t = n.Type("dtype", real ? DType::kF32 : DType::kI64);
  const DType inner = real ? FloatOf(t) : IsFloat(t) || !IsInt(t) ? DType::kI64 : t;
  Value* y = n.b.Op(
      "Range", {ScalarValue(n.b, start, inner), ScalarValue(n.b, end, inner), ScalarValue(n.b, step, inner)});
  n.Out(Emit(n.b).Cast(y, t));
  return {};
}

// Computes the second half backwards from the end, as PyTorch does, so that the last element is exact.
Status Linspace(AtenNode& n) {
  Emit e(n.b);
  const DType t = n.Type("dtype", DType::kF32), f = FloatOf(t);
  if (n.Get("start").is_tensor() || n.Get("end").is_tensor()) return n.NotYet("limits that are tensors");
  const int64_t steps = n.Int("steps");
  Value *start = As(n, "start", f), *end = As(n, "end", f);
  if (steps < 0) return n.Bad(steps, " steps");
  if (steps <= 1) {
    n.Out(e.Cast(e.Expand(start, n.b.Ints({steps})), t));
    return {};
  }
  Value* step = e.Div(e.Sub(end, start), n.b.Scalar(f, static_cast<double>(steps - 1)));
  Value* i = e.Cast(e.Iota(e.Long(steps)), f);
  Value* low = e.Add(start, e.Mul(step, i));
  Value* high = e.Sub(end, e.Mul(step, e.Sub(n.b.Scalar(f, static_cast<double>(steps - 1)), i)));
  n.Out(e.Cast(e.Where(e.Binary("less", i, n.b.Scalar(f, static_cast<double>(steps / 2))), low, high), t));
  return {};
}

Status Eye(AtenNode& n) {
  Emit e(n.b);
  Value* rows = ScalarValue(n.b, n.Get("n"), DType::kI64);
  Value* columns = n.HasParameter("m") ? ScalarValue(n.b, n.Get("m"), DType::kI64) : rows;
  Value* same = e.Binary("equal", e.Unsqueeze(e.Iota(rows), {1}), e.Unsqueeze(e.Iota(columns), {0}));
  n.Out(e.Cast(same, n.Type("dtype", DType::kF32)));
  return {};
}

Status OneHot(AtenNode& n) {
  const int64_t depth = n.Int("num_classes", -1);
  if (depth < 1) return n.NotYet("one_hot without a number of classes");
  Emit e(n.b);
  n.Out(n.b.Op("OneHot", {n.In("self"), e.Long(depth), n.b.Ints({0, 1})}, {{"axis", int64_t{-1}}}));
  return {};
}

// Returns the rows and columns of the elements of a triangle of a matrix.
Status TriangleIndices(AtenNode& n, bool upper) {
  const int64_t rows = n.Int("row"), columns = n.Int("col"), offset = n.Int("offset");
  if (rows < 0 || columns < 0 || rows > 4096 || columns > 4096)
    return n.NotYet("a matrix of ", rows, " by ", columns);
  std::vector<double> r, c;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (upper ? j - i >= offset : j - i <= offset) {
        r.push_back(static_cast<double>(i));
        c.push_back(static_cast<double>(j));
      }
  const auto count = static_cast<int64_t>(r.size());
  r.insert(r.end(), c.begin(), c.end());
  n.Out(n.b.Const(import::Numbers(n.b, n.Type("dtype", DType::kI64), {2, count}, r)));
  return {};
}

Status Triangle(AtenNode& n, bool upper) {
  n.Out(
      n.b.Op("Trilu", {n.In("self"), ScalarValue(n.b, n.Get("diagonal"), DType::kI64)}, {{"upper", upper}}));
  return {};
}

Status Random(AtenNode& n, const char* kind) {
  Emit e(n.b);
  const bool like = n.HasParameter("self");
  Value* shape = like ? e.Shape(n.In("self")) : IntVector(n.b, n.Get("size").items);
  const DType t = n.Type("dtype", like ? n.TypeOf("self") : DType::kF32);
  n.Out(n.b.Op("Random", {shape}, {{"kind", kind}, {"dtype", t}}));
  return {};
}

Status Uniform(AtenNode& n) {
  n.Out(n.b.Op(
      "Random", {Emit(n.b).Shape(n.In("self"))},
      {{"kind", "uniform"}, {"dtype", n.TypeOf("self")}, {"a", n.Float("from")}, {"b", n.Float("to")}}));
  return {};
}

Status NormalLike(AtenNode& n) {
  n.Out(n.b.Op(
      "Random", {Emit(n.b).Shape(n.In("self"))},
      {{"kind", "normal"}, {"dtype", n.TypeOf("self")}, {"a", n.Float("mean")}, {"b", n.Float("std")}}));
  return {};
}

Status Window(AtenNode& n, const char* kind) {
  n.Out(n.b.Op(
      "Window", {ScalarValue(n.b, n.Get("window_length"), DType::kI64)},
      {{"kind", kind}, {"periodic", n.Bool("periodic", true)}, {"dtype", n.Type("dtype", DType::kF32)}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(create) {
  table.Add("aten::full", Full);
  table.Add("aten::new_full", Full);
  table.Add("aten::full_like", [](AtenNode& n) { return FullLike(n, "fill_value"); });
  table.Add("aten::fill", [](AtenNode& n) { return FullLike(n, "value"); });
  table.Add("aten::zeros", Constant(0));
  table.Add("aten::new_zeros", Constant(0));
  table.Add("aten::ones", Constant(1));
  table.Add("aten::new_ones", Constant(1));
  table.Add("aten::empty", Constant(0));
  table.Add("aten::new_empty", Constant(0));
  table.Add("aten::empty_strided", Constant(0));
  table.Add("aten::new_empty_strided", Constant(0));
  table.Add("aten::empty_permuted", Constant(0));
  table.Add("aten::zeros_like", ConstantLike(0));
  table.Add("aten::zero", ConstantLike(0));
  table.Add("aten::ones_like", ConstantLike(1));
  table.Add("aten::empty_like", ConstantLike(0));
  table.Add("aten::arange", Arange);
  table.Add("aten::linspace", Linspace);
  table.Add("aten::eye", Eye);
  table.Add("aten::one_hot", OneHot);
  table.Add("aten::tril_indices", [](AtenNode& n) { return TriangleIndices(n, false); });
  table.Add("aten::triu_indices", [](AtenNode& n) { return TriangleIndices(n, true); });
  table.Add("aten::tril", [](AtenNode& n) { return Triangle(n, false); });
  table.Add("aten::triu", [](AtenNode& n) { return Triangle(n, true); });
  table.Add("aten::rand", [](AtenNode& n) { return Random(n, "uniform"); });
  table.Add("aten::rand_like", [](AtenNode& n) { return Random(n, "uniform"); });
  table.Add("aten::randn", [](AtenNode& n) { return Random(n, "normal"); });
  table.Add("aten::randn_like", [](AtenNode& n) { return Random(n, "normal"); });
  table.Add("aten::uniform", Uniform);
  table.Add("aten::normal_functional", NormalLike);
  table.Add("aten::hann_window", [](AtenNode& n) { return Window(n, "hann"); });
  table.Add("aten::blackman_window", [](AtenNode& n) { return Window(n, "blackman"); });
}

}  // namespace tern::torch
