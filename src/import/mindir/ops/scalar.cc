// Converts computations with Python numbers, and conversions between numbers, tuples and tensors.
#include <cmath>

#include "import/mindir/ops/promote.h"
#include "import/mindir/ops/shape_value.h"

namespace tern::mindir {
namespace {

Item NumberItem(Value* value) {
  Item item = Item::Of(value);
  item.number = true;
  return item;
}

// Returns the shape as a tuple. Known sizes are constants.
Status ShapeOf(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  Emit e(n);
  Value* x = n.In(0);
  Value* shape = x->type.shape.fully_known() ? nullptr : e.ShapeOf(x);
  std::vector<Item> items;
  for (int i = 0; i < n.RankOf(0); ++i) {
    const Dim& dim = x->type.shape[i];
    Tensor size(DType::kI64, {});
    if (dim.known()) size.data<int64_t>()[0] = dim.value();
    items.push_back(dim.known() ? Item::Constant(std::move(size), true)
                                : NumberItem(e.Gather(shape, e.Long(i))));
  }
  n.OutItem(Item::Tuple(std::move(items)));
  return {};
}

Status TensorShape(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  n.Out(e.ShapeOf(n.In(0)));
  return {};
}

Status Size(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  n.OutItem(NumberItem(n.b.Op("Size", {n.In(0)})));
  return {};
}

Status Rank(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  n.OutItem(Item::Constant(Tensor::Scalar(DType::kI64, n.RankOf(0)), true));
  return {};
}

Status TypeOfTensor(MindNode& n) {
  TERN_TRY(Require(n, 0, kAnyType));
  n.OutItem(Item::TypeOf(n.In(0)->type.dtype));
  return {};
}

Status ScalarToTensor(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  Value* x = n.In(0);
  n.Out(e.Cast(x, n.TypeArg(1, {"dtype"}, x->type.dtype)));
  return {};
}

Status TensorToScalar(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  if (const Tensor* t = ConstantOf(n.inputs()[0]); t && t->size() == 1)
    n.OutItem(Item::Constant(t->Reshaped({}), true));
  else
    n.OutItem(NumberItem(e.Reshape(n.In(0), {})));
  return {};
}

Status TupleToTensor(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  Value* x = n.In(0);
  n.Out(e.Cast(x, n.TypeArg(1, {"dtype"}, x->type.dtype)));
  return {};
}

Status TensorToTuple(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 1, 1));
  Emit e(n);
  const Dim size = n.In(0)->type.shape[0];
  if (!size.known() || size.value() > 1000)
    return n.NotYet("a tensor of ", size.ToString(), " elements as a tuple");
  const auto longs = LongsOf(n.inputs()[0]);
  std::vector<Item> items;
  for (int64_t i = 0; i < size.value(); ++i) {
    Tensor number(DType::kI64, {});
    if (longs) number.data<int64_t>()[0] = (*longs)[static_cast<size_t>(i)];
    items.push_back(longs ? Item::Constant(std::move(number), true)
                          : NumberItem(e.Gather(n.In(0), e.Long(i))));
  }
  n.OutItem(Item::Tuple(std::move(items)));
  return {};
}

// Returns a converter for a function of two numbers. The import computes the function of constants.
using Compute = double (*)(double, double);
Converter Arithmetic(const char* kind, Compute compute, DType result = DType::kInvalid) {
  return [=](MindNode& n) -> Status {
    Emit e(n);
    if (n.InputCount() < 2) return n.Bad("needs 2 inputs, but has ", n.InputCount());
    const Tensor *a = ConstantOf(n.inputs()[0]), *b = ConstantOf(n.inputs()[1]);
    auto [x, y] = Promoted(e, 0, 1);
    const DType type = e.NumberType(result == DType::kInvalid ? x->type.dtype : result);
    if (a && b && a->size() == 1 && b->size() == 1) {
      n.OutItem(Item::Constant(Tensor::Scalar(type, compute(LoadDouble(*a, 0), LoadDouble(*b, 0))), true));
      return {};
    }
    if (result == DType::kF32) {
      x = e.Cast(x, result);
      y = e.Cast(y, result);
    }
    n.OutItem(NumberItem(e.Binary(kind, x, y)));
    return {};
  };
}

Status ScalarFloorDiv(MindNode& n) {
  Emit e(n);
  if (n.InputCount() < 2) return n.Bad("needs 2 inputs, but has ", n.InputCount());
  const auto a = LongsOf(n.inputs()[0]), b = LongsOf(n.inputs()[1]);
  if (a && b && a->size() == 1 && b->size() == 1) {
    if (b->front() == 0) return n.Bad("division by zero");
    const double q = std::floor(static_cast<double>(a->front()) / static_cast<double>(b->front()));
    n.OutItem(Item::Constant(Tensor::Scalar(DType::kI64, q), true));
    return {};
  }
  const auto [x, y] = Promoted(e, 0, 1);
  Value* q =
      IsFloat(x->type.dtype) ? e.Unary("floor", e.Div(x, y)) : e.Div(e.Sub(x, e.Binary("mod", x, y)), y);
  n.OutItem(NumberItem(q));
  return {};
}

Status ScalarNegate(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  if (const Tensor* t = ConstantOf(n.inputs()[0]); t && t->size() == 1)
    n.OutItem(Item::Constant(Tensor::Scalar(t->dtype(), -LoadDouble(*t, 0)), true));
  else
    n.OutItem(NumberItem(e.Unary("neg", n.In(0))));
  return {};
}

Status ScalarBool(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  if (const Tensor* t = ConstantOf(n.inputs()[0]); t && t->size() == 1)
    n.OutItem(Item::Constant(Tensor::Scalar(DType::kBool, LoadDouble(*t, 0) != 0), true));
  else
    n.OutItem(NumberItem(e.Cast(n.In(0), DType::kBool)));
  return {};
}

Status SequenceLength(MindNode& n) {
  if (n.InputCount() != 1 || !n.inputs()[0].is(Item::Kind::kTuple)) return n.Bad("needs a tuple");
  n.OutItem(Item::Constant(Tensor::Scalar(DType::kI64, static_cast<double>(n.inputs()[0].size())), true));
  return {};
}

// The product of a tuple of numbers.
Status ShapeProduct(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  n.OutItem(NumberItem(e.Reduce("prod", ShapeValue(n, 0), {0}, false)));
  return {};
}

}  // namespace

TERN_CONVERTERS(scalar) {
  table.Add("Shape", ShapeOf);
  for (const char* name : {"TensorShape", "DynamicShape"}) table.Add(name, TensorShape);
  table.Add("Size", Size);
  table.Add("Rank", Rank);
  table.Add("DType", TypeOfTensor);
  for (const char* name : {"ScalarToTensor", "ScalarCast", "ScalarToArray"}) table.Add(name, ScalarToTensor);
  table.Add("TensorToScalar", TensorToScalar);
  for (const char* name : {"TupleToTensor", "ListToTensor", "TupleToArray"}) table.Add(name, TupleToTensor);
  for (const char* name : {"TensorToTuple", "TensorToList"}) table.Add(name, TensorToTuple);
  for (const char* name : {"ScalarAdd", "scalar_add"})
    table.Add(name, Arithmetic("add", [](double a, double b) { return a + b; }));
  for (const char* name : {"ScalarSub", "scalar_sub"})
    table.Add(name, Arithmetic("sub", [](double a, double b) { return a - b; }));
  for (const char* name : {"ScalarMul", "scalar_mul"})
    table.Add(name, Arithmetic("mul", [](double a, double b) { return a * b; }));
  for (const char* name : {"ScalarDiv", "scalar_div"})
    table.Add(name, Arithmetic(
                        "div", [](double a, double b) { return a / b; }, DType::kF32));
  table.Add("ScalarMax", Arithmetic("max", [](double a, double b) { return std::max(a, b); }));
  table.Add("ScalarMin", Arithmetic("min", [](double a, double b) { return std::min(a, b); }));
  table.Add("ScalarPow", Arithmetic("pow", [](double a, double b) { return std::pow(a, b); }));
  table.Add("ScalarMod", Arithmetic("mod", [](double a, double b) { return a - b * std::floor(a / b); }));
  for (const char* name : {"ScalarEq", "scalar_eq"})
    table.Add(name, Arithmetic(
                        "equal", [](double a, double b) -> double { return a == b; }, DType::kBool));
  for (const char* name : {"ScalarLt", "scalar_lt"})
    table.Add(name, Arithmetic(
                        "less", [](double a, double b) -> double { return a < b; }, DType::kBool));
  for (const char* name : {"ScalarLe", "scalar_le"})
    table.Add(name, Arithmetic(
                        "less_equal", [](double a, double b) -> double { return a <= b; }, DType::kBool));
  for (const char* name : {"ScalarGt", "scalar_gt"})
    table.Add(name, Arithmetic(
                        "greater", [](double a, double b) -> double { return a > b; }, DType::kBool));
  for (const char* name : {"ScalarGe", "scalar_ge"})
    table.Add(name, Arithmetic(
                        "greater_equal", [](double a, double b) -> double { return a >= b; }, DType::kBool));
  table.Add("ScalarFloorDiv", ScalarFloorDiv);
  table.Add("ScalarUsub", ScalarNegate);
  table.Add("ScalarBool", ScalarBool);
  table.Add("sequence_len", SequenceLength);
  table.Add("shape_mul", ShapeProduct);
}

}  // namespace tern::mindir
