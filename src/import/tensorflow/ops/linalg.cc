// Converts operators on matrices.
#include <algorithm>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

// Keeps `lower` diagonals below the main one and `upper` above it. Negative numbers keep all.
Status BandPart(TfNode& n) {
  TERN_ASSIGN(const int64_t lower, n.Long(1, "num_lower"));
  TERN_ASSIGN(const int64_t upper, n.Long(2, "num_upper"));
  Value* x = n.In(0);
  if (lower >= 0)
    x = n.Op("Trilu", {x, n.b.Scalar(DType::kI64, static_cast<double>(-lower))}, {{"upper", true}});
  if (upper >= 0)
    x = n.Op("Trilu", {x, n.b.Scalar(DType::kI64, static_cast<double>(upper))}, {{"upper", false}});
  n.Out(0, x);
  return {};
}

// Returns a bool matrix [rows, columns] that is true on diagonal k. `rows` and `columns` are i64[1].
Value* DiagonalMask(TfNode& n, Value* rows, Value* columns, int64_t k) {
  const auto range = [&](Value* end) {
    return n.Op("Range", {n.b.Scalar(DType::kI64, 0), n.Scalar(end), n.b.Scalar(DType::kI64, 1)});
  };
  Value* row = n.Unsqueeze(range(rows), {1});
  return n.Binary("equal", n.Binary("add", row, n.b.Scalar(DType::kI64, static_cast<double>(k))),
                  range(columns));
}

// [..., n] as [..., n, n] with the vector on the main diagonal.
Value* Diagonal(TfNode& n, Value* x, Value* padding) {
  Value* size = n.DimOf(x, -1);
  return n.Op("Where", {DiagonalMask(n, size, size, 0), n.Unsqueeze(x, {-1}), padding});
}

// Fails if input k of the versions V2 and V3 selects diagonals other than the main one.
Status MainDiagonal(TfNode& n, int k_input) {
  TERN_ASSIGN(const auto k, n.Longs(k_input, "k"));
  for (const int64_t d : k)
    if (d != 0) return n.NotYet("diagonals other than the main one");
  return {};
}

Status MatrixDiag(TfNode& n) {
  Value* x = n.In(0);
  Value* padding = n.Like(x, 0);
  if (n.InputCount() > 1) {
    TERN_TRY(MainDiagonal(n, 1));
    TERN_ASSIGN(const int64_t rows, n.Long(2, "num_rows"));
    TERN_ASSIGN(const int64_t columns, n.Long(3, "num_cols"));
    const Dim& size = x->type.shape.rank() > 0 ? x->type.shape[-1] : Dim();
    if ((rows != -1 && !size.Is(rows)) || (columns != -1 && !size.Is(columns)))
      return n.NotYet("a matrix of ", rows, " by ", columns);
    padding = n.In(4);
  }
  n.Out(0, Diagonal(n, x, padding));
  return {};
}

// Extracts the main diagonal, which is that of the top left square.
Status MatrixDiagPart(TfNode& n) {
  if (n.InputCount() > 1) TERN_TRY(MainDiagonal(n, 1));
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank < 2) return n.Bad("the input is no matrix");
  Value* size = n.Binary("min", n.DimOf(x, rank - 2), n.DimOf(x, rank - 1));
  Value* square =
      n.Op("Slice", {x, n.b.Ints({0, 0}), n.Concat({size, size}, 0), n.b.Ints({rank - 2, rank - 1})});
  Value* indices = n.Op("Range", {n.b.Scalar(DType::kI64, 0), n.Scalar(size), n.b.Scalar(DType::kI64, 1)});
  std::vector<Value*> lead;
  if (rank > 2) lead.push_back(n.Op("Shape", {square}, {{"end", -2}}));
  lead.push_back(size);
  lead.push_back(n.b.Ints({1}));
  Value* spread = n.Op("Expand", {n.Unsqueeze(indices, {1}), n.Concat(lead, 0)});
  n.Out(0, n.Squeeze(n.Op("GatherElements", {square, spread}, {{"axis", rank - 1}}), {rank - 1}));
  return {};
}

Status MatrixSetDiag(TfNode& n) {
  if (n.InputCount() > 2) TERN_TRY(MainDiagonal(n, 2));
  Value *x = n.In(0), *diagonal = n.In(1);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank < 2) return n.Bad("the input is no matrix");
  Value *rows = n.DimOf(x, rank - 2), *columns = n.DimOf(x, rank - 1);
  // The diagonal may have fewer elements than the matrix has rows.
  Value* missing = n.Binary("sub", rows, n.DimOf(diagonal, rank - 2));
  Value* padded =
      n.Op("Pad", {diagonal, n.Concat({n.b.Ints({0}), missing}, 0), nullptr, n.b.Ints({rank - 2})});
  n.Out(0, n.Op("Where", {DiagonalMask(n, rows, columns, 0), n.Unsqueeze(padded, {-1}), x}));
  return {};
}

// A tensor [a, b] becomes [a, b, a, b] with its elements on the diagonal.
Status Diag(TfNode& n) {
  Value* x = n.In(0);
  Value* shape = n.ShapeOf(x);
  Value* flat = n.Vector(x);
  n.Out(0, n.Op("Reshape", {Diagonal(n, flat, n.Like(x, 0)), n.Concat({shape, shape}, 0)},
                {{"allow_zero", true}}));
  return {};
}

Status DiagPart(TfNode& n) {
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank % 2 != 0) return n.Bad("the rank ", rank, " is odd");
  Value* half = n.Op("Shape", {x}, {{"end", rank / 2}});
  Value* size = n.Op("Reduce", {half}, {{"kind", "prod"}});
  // Elements 0, n + 1, 2n + 2, … of the flat tensor.
  Value* step = n.Scalar(n.Binary("add", size, n.b.Ints({1})));
  Value* all = n.Scalar(n.Binary("mul", size, size));
  Value* indices = n.Op("Range", {n.b.Scalar(DType::kI64, 0), all, step});
  n.Out(0, n.Op("Reshape", {n.Op("Gather", {n.Vector(x), indices}, {{"axis", 0}}), half},
                {{"allow_zero", true}}));
  return {};
}

Status Inverse(TfNode& n) {
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  if (n.Bool("adjoint")) {
    std::vector<int64_t> perm;
    for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
    std::swap(perm[static_cast<size_t>(rank) - 1], perm[static_cast<size_t>(rank) - 2]);
    x = n.Transpose(x, perm);
  }
  n.Out(0, n.Op("Inverse", {x}));
  return {};
}

Status Solve(TfNode& n, Value* matrix) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  n.Out(0, n.Op("MatMul", {n.Op("Inverse", {matrix}), n.In(1)}));
  return {};
}

Status MatrixSolve(TfNode& n) {
  if (n.Bool("adjoint")) return n.NotYet("the adjoint matrix");
  return Solve(n, n.In(0));
}

// The elements of the other triangle are ignored.
Status TriangularSolve(TfNode& n) {
  if (n.Bool("adjoint")) return n.NotYet("the adjoint matrix");
  return Solve(n, n.Op("Trilu", {n.In(0)}, {{"upper", !n.Bool("lower")}}));
}

Status Determinant(TfNode& n) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  n.Out(0, n.Op("Det", {n.In(0)}));
  return {};
}

Status Cross(TfNode& n) {
  Value *a = n.In(0), *b = n.In(1);
  const auto rotated = [&](Value* x, std::vector<int64_t> order) {
    return n.Op("Gather", {x, n.b.Ints(order)}, {{"axis", -1}});
  };
  Value* left = n.Binary("mul", rotated(a, {1, 2, 0}), rotated(b, {2, 0, 1}));
  Value* right = n.Binary("mul", rotated(a, {2, 0, 1}), rotated(b, {1, 2, 0}));
  n.Out(0, n.Binary("sub", left, right));
  return {};
}

}  // namespace

TERN_CONVERTERS(linalg) {
  table.Add("MatrixBandPart", BandPart);
  for (const char* op : {"MatrixDiag", "MatrixDiagV2", "MatrixDiagV3"}) table.Add(op, MatrixDiag);
  for (const char* op : {"MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"})
    table.Add(op, MatrixDiagPart);
  for (const char* op : {"MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"}) table.Add(op, MatrixSetDiag);
  table.Add("Diag", Diag);
  table.Add("DiagPart", DiagPart);
  table.Add("MatrixInverse", Inverse);
  table.Add("MatrixSolve", MatrixSolve);
  table.Add("MatrixTriangularSolve", TriangularSolve);
  table.Add("MatrixDeterminant", Determinant);
  table.Add("Cross", Cross);
}

}  // namespace tern::tensorflow
