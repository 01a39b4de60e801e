// Converts primitives that make tensors, and triangles and diagonals of matrices.
#include "import/mindir/ops/shape_value.h"

namespace tern::mindir {
namespace {

// Returns a tensor of a shape with all elements set to one value, a scalar that may be computed.
Value* Filled(Emit& e, Value* shape, Value* value) { return e.Expand(e.Reshape(value, {}), shape); }

// Inputs of Zeros and Ones: size, dtype.
Converter Full(double value) {
  return [value](MindNode& n) -> Status {
    if (!n.Has(0)) return n.Bad("the size is missing");
    Emit e(n);
    n.Out(e.Fill(ShapeValue(n, 0), n.TypeArg(1, {"dtype", "type"}, DType::kF32), value));
    return {};
  };
}

// Inputs of ZerosLike and OnesLike: x, dtype.
Converter FullLike(double value) {
  return [value](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    Emit e(n);
    n.Out(e.Fill(e.ShapeOf(n.In(0)), n.TypeArg(1, {"dtype"}, n.In(0)->type.dtype), value));
    return {};
  };
}

// Inputs of NewZeros and NewOnes: x, size, dtype.
Converter NewFull(double value) {
  return [value](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    if (n.InputCount() < 2) return n.Bad("the size is missing");
    Emit e(n);
    n.Out(e.Fill(ShapeValue(n, 1), n.TypeArg(2, {"dtype"}, n.In(0)->type.dtype), value));
    return {};
  };
}

// Inputs of FullLike: x, value, dtype.
Status FullLikeValue(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  if (!n.Has(1)) return n.Bad("the value is missing");
  Emit e(n);
  Value* value = e.Cast(n.In(1), n.TypeArg(2, {"dtype"}, n.In(0)->type.dtype));
  n.Out(Filled(e, e.ShapeOf(n.In(0)), value));
  return {};
}

// Inputs of FillScalar and FillTensor: size, value, dtype. Inputs of FillV2: shape, value.
Status FillValue(MindNode& n) {
  if (n.InputCount() < 2) return n.Bad("needs 2 inputs, but has ", n.InputCount());
  Emit e(n);
  Value* value = n.In(1);
  n.Out(Filled(e, ShapeValue(n, 0), e.Cast(value, n.TypeArg(2, {"dtype"}, value->type.dtype))));
  return {};
}

// Inputs of Fill: type, shape, value.
Status Fill(MindNode& n) {
  if (n.InputCount() < 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
  Emit e(n);
  n.Out(Filled(e, ShapeValue(n, 1), e.Cast(n.In(2), n.TypeArg(0, {}, DType::kF32))));
  return {};
}

// Inputs of Fills: x, value.
Status Fills(MindNode& n) {
  TERN_TRY(Require(n, 0));
  if (!n.Has(1)) return n.Bad("the value is missing");
  Emit e(n);
  n.Out(Filled(e, e.ShapeOf(n.In(0)), e.Cast(n.In(1), n.In(0)->type.dtype)));
  return {};
}

// Inputs: start, limit, delta. Old files have the numbers as attributes.
Status Range(MindNode& n) {
  Emit e(n);
  std::vector<Value*> parts;
  for (int i = 0; i < 3; ++i) {
    const Item* item = n.Arg(i, i == 0 ? Names{"start"} : i == 1 ? Names{"limit"} : Names{"delta"});
    if (!item) return n.Bad("input ", i, " is missing");
    parts.push_back(e.Reshape(n.ValueOf(*item), {}));
  }
  bool floats = false;
  for (const Value* part : parts) floats |= IsFloat(part->type.dtype);
  const DType standard = floats ? DType::kF32 : parts[0]->type.dtype;
  const DType type =
      n.op() == "Arange" ? n.TypeArg(3, {"dtype"}, floats ? DType::kF32 : DType::kI64) : standard;
  for (Value*& part : parts) part = e.Cast(part, type);
  n.Out(n.b.Op("Range", {parts[0], parts[1], parts[2]}));
  return {};
}

// Inputs: start, stop, count.
Status LinSpace(MindNode& n) {
  const int64_t count = n.Int(2, {"num", "steps"}, 1);
  if (count < 1 || count > 100000000) return n.Bad(count, " elements");
  if (!n.Has(0) || !n.Has(1)) return n.Bad("needs a start and an end");
  Emit e(n);
  const DType type = n.op() == "LinSpaceExt" ? n.TypeArg(3, {"dtype"}, DType::kF32) : DType::kF32;
  Value *start = e.Cast(n.In(0), DType::kF32), *stop = e.Cast(n.In(1), DType::kF32);
  Value* steps = n.b.Op("Range", {e.Long(0), e.Long(count), e.Long(1)});
  const double divisor = count > 1 ? static_cast<double>(count - 1) : 1;
  Value* fraction = e.Div(e.Cast(steps, DType::kF32), n.b.Scalar(DType::kF32, divisor));
  n.Out(e.Cast(e.Add(start, e.Mul(e.Sub(stop, start), fraction)), type));
  return {};
}

// Inputs: rows, columns, type.
Status Eye(MindNode& n) {
  const int64_t rows = n.Int(0, {}, 1), columns = n.Int(1, {}, rows);
  if (rows < 0 || columns < 0) return n.Bad("the size is ", rows, " x ", columns);
  Emit e(n);
  Value* zeros = e.Fill(n.b.Ints({rows, columns}), n.TypeArg(2, {"dtype"}, DType::kF32), 0);
  n.Out(n.b.Op("EyeLike", {zeros}));
  return {};
}

Converter Triangle(bool upper) {
  return [upper](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    n.Out(n.b.Op("Trilu", {n.In(0), n.b.Ints({n.Int(1, {"diagonal"}, 0)})}, {{"upper", upper}}));
    return {};
  };
}

// Converts a vector to a matrix with this diagonal, or a matrix to the vector of its diagonal.
Status DiagExt(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, 1, 2));
  if (n.Int(1, {"diagonal"}, 0) != 0) return n.NotYet("another diagonal than 0");
  Emit e(n);
  Value* x = n.In(0);
  if (n.RankOf(0) == 1) {
    Value* size = e.SizeOf(x, 0);
    Value* zeros = e.Fill(e.Concat({size, size}, 0), x->type.dtype, 0);
    n.Out(e.Mul(e.Unsqueeze(x, {1}), n.b.Op("EyeLike", {zeros})));
    return {};
  }
  const Shape& s = x->type.shape;
  if (!s.fully_known() || s[0].value() != s[1].value())
    return n.NotYet("the diagonal of a matrix that is not square");
  n.Out(e.Reduce("sum", e.Mul(x, n.b.Op("EyeLike", {x})), {1}, false));
  return {};
}

// Emits the grids that the vectors span. With the indexing 'xy', the first two axes are swapped.
Status Meshgrid(MindNode& n) {
  std::vector<Value*> vectors = n.Tensors(0);
  const std::string indexing = n.Text(1, {"indexing"}, "xy", {"ij", "xy"});
  if (indexing != "xy" && indexing != "ij") return n.Bad("indexing ", indexing);
  Emit e(n);
  const size_t count = vectors.size();
  if (count == 0) return n.Bad("has no tensors");
  const auto axis_of = [&](size_t i) { return indexing == "xy" && count > 1 && i < 2 ? 1 - i : i; };
  std::vector<Value*> sizes(count);
  for (size_t i = 0; i < count; ++i) sizes[axis_of(i)] = e.SizeOf(vectors[i], 0);
  Value* shape = e.Concat(sizes, 0);
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> dims(count, 1);
    dims[axis_of(i)] = -1;
    vectors[i] = e.Expand(e.Reshape(vectors[i], dims), shape);
  }
  n.Out(vectors);
  return {};
}

}  // namespace

TERN_CONVERTERS(create) {
  table.Add("Zeros", Full(0));
  table.Add("Ones", Full(1));
  for (const char* name : {"ZerosLike", "ZerosLikeExt"}) table.Add(name, FullLike(0));
  for (const char* name : {"OnesLike", "OnesLikeExt"}) table.Add(name, FullLike(1));
  table.Add("NewZeros", NewFull(0));
  table.Add("NewOnes", NewFull(1));
  table.Add("FullLike", FullLikeValue);
  for (const char* name : {"FillScalar", "FillTensor", "FillV2"}) table.Add(name, FillValue);
  table.Add("Fill", Fill);
  table.Add("Fills", Fills);
  for (const char* name : {"Range", "RangeV2", "Arange"}) table.Add(name, Range);
  for (const char* name : {"LinSpace", "LinSpaceExt"}) table.Add(name, LinSpace);
  table.Add("Eye", Eye);
  for (const char* name : {"Tril", "TrilExt"}) table.Add(name, Triangle(false));
  table.Add("Triu", Triangle(true));
  for (const char* name : {"Diag", "DiagExt"}) table.Add(name, DiagExt);
  table.Add("Meshgrid", Meshgrid);
}

}  // namespace tern::mindir
