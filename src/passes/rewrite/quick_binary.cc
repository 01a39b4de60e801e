#include "passes/rewrite/quick_binary.h"

#include <functional>

#include "ops/elementwise/broadcast.h"
#include "passes/rewrite/facts.h"

namespace tern {
namespace {

constexpr int64_t kMinElements = 4096;  // smaller results are left to the reference evaluator
// Larger results come from broadcasting constants by mistake or with bad intent. They are not worth the
// memory.
constexpr int64_t kMaxElements = int64_t{1} << 30;

int64_t DimAt(const Dims& dims, size_t axis, size_t rank) {
  const size_t lead = rank - dims.size();
  return axis < lead ? 1 : dims[axis - lead];
}

// Divides the result into rows over its inner axes. Along a row, an operand advances by 1 or is broadcast
// (stride 0).
struct Rows {
  size_t outer = 0;    // number of outer axes
  int64_t length = 1;  // elements of a row
  bool a_broadcast = true, b_broadcast = true;
};

// Returns the longest possible rows. They extend over the trailing axes along which each operand is either
// always or never broadcast.
Rows RowsOf(const Dims& a, const Dims& b, const Dims& y) {
  Rows rows;
  for (rows.outer = y.size(); rows.outer > 0; --rows.outer) {
    const size_t axis = rows.outer - 1;
    if (y[axis] == 1) continue;
    const bool a_broadcast = DimAt(a, axis, y.size()) == 1, b_broadcast = DimAt(b, axis, y.size()) == 1;
    if (rows.length > 1 && (a_broadcast != rows.a_broadcast || b_broadcast != rows.b_broadcast)) break;
    rows.a_broadcast = a_broadcast, rows.b_broadcast = b_broadcast;
    rows.length *= y[axis];
  }
  return rows;
}

Dims Outer(const Dims& dims, size_t inner) {
  return inner >= dims.size() ? Dims() : Dims(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(inner));
}

template <class F> void EachRow(const Tensor& a, const Tensor& b, Tensor& y, F f) {
  const Rows rows = RowsOf(a.dims(), b.dims(), y.dims());
  const size_t inner = y.dims().size() - rows.outer;
  const Dims outer = Outer(y.dims(), inner);
  BroadcastWalk at_a(Outer(a.dims(), inner), outer), at_b(Outer(b.dims(), inner), outer);
  const int64_t a_row = rows.a_broadcast ? 1 : rows.length, b_row = rows.b_broadcast ? 1 : rows.length;
  auto* to = y.data<float>();
  for (int64_t i = 0; i < y.size(); i += rows.length) {
    const float* p = a.data<const float>() + at_a.Next() * a_row;
    const float* q = b.data<const float>() + at_b.Next() * b_row;
    if (rows.a_broadcast)
      for (int64_t j = 0; j < rows.length; ++j) to[i + j] = f(*p, q[j]);
    else if (rows.b_broadcast)
      for (int64_t j = 0; j < rows.length; ++j) to[i + j] = f(p[j], *q);
    else
      for (int64_t j = 0; j < rows.length; ++j) to[i + j] = f(p[j], q[j]);
  }
}

template <class F> void Apply(const Tensor& a, const Tensor& b, Tensor& y) { EachRow(a, b, y, F()); }

using Loop = void (*)(const Tensor& a, const Tensor& b, Tensor& y);
Loop LoopOf(const std::string& kind) {  // null if the kind has no fast loop
  if (kind == "add") return Apply<std::plus<float>>;
  if (kind == "sub") return Apply<std::minus<float>>;
  if (kind == "mul") return Apply<std::multiplies<float>>;
  return kind == "div" ? Apply<std::divides<float>> : nullptr;
}

bool Plain(const Value* v) {
  return v && v->is_constant() && v->constant.dtype() == DType::kF32 && v->constant.contiguous() &&
         v->constant.raw();
}

}  // namespace

std::optional<Tensor> QuickBinary(const Node& node) {
  if (node.op->name != "Binary" || !Plain(node.input(0)) || !Plain(node.input(1))) return std::nullopt;
  const Loop loop = LoopOf(KindName(node));
  if (!loop) return std::nullopt;
  const Tensor &a = node.input(0)->constant, &b = node.input(1)->constant;
  const auto dims = BroadcastDims(a.dims(), b.dims());
  if (!dims.ok()) return std::nullopt;
  const int64_t count = CheckedCount(*dims, DType::kF32).value_or(0);
  if (count < kMinElements || count > kMaxElements) return std::nullopt;
  Tensor y(DType::kF32, *dims);
  loop(a, b, y);
  return y;
}

}  // namespace tern
