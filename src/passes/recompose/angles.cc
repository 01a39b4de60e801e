#include "passes/recompose/angles.h"

#include <cstring>

#include "passes/rewrite/views.h"

namespace tern {
namespace {

constexpr int kMaxDepth = 12;

bool LastAxis(int64_t axis, const Value* v) { return axis == -1 || axis == v->type.shape.rank() - 1; }

// Emits copies of the nodes that compute a value. The copies compute rows of half the length. Each function
// returns null if it cannot prove that the rows contain each element twice.
class CopyRemover {
 public:
  CopyRemover(Rewrite& r, Copies copies) : r_(r), copies_(copies) {}

  Value* Of(Value* v, int depth) {
    const Shape& s = v->type.shape;
    if (depth > kMaxDepth || !v->type.tensor() || s.rank() < 1 || !s[-1].known() || s[-1].value() % 2)
      return nullptr;
    if (v->is_constant()) return OfConstant(v->constant);
    if (!v->producer) return nullptr;
    const Node& n = *v->producer;
    if (Value* base = Copied(n)) return base;
    if (IsOp(n, "Unary") || IsOp(n, "Cast")) return Rebuild(n, {Of(n.input(0), depth + 1)});
    if (IsOp(n, "Binary")) return OfBinary(n, depth);
    if (IsView(n)) return OfView(v, n, depth);
    if (IsOp(n, "Expand")) return OfExpand(n, depth);
    if (IsOp(n, "Gather")) return OfGather(n, depth);
    return nullptr;
  }

 private:
  Value* OfConstant(const Tensor& constant) {
    const Tensor t = constant.Contiguous();
    const int64_t n = t.dim(-1), half = n / 2;
    Dims dims = t.dims();
    dims.back() = half;
    Tensor out(t.dtype(), dims);
    if (!IsFloat(t.dtype())) return nullptr;
    const size_t size = t.bytes() / static_cast<size_t>(std::max<int64_t>(1, t.size()));
    const auto* from = static_cast<const char*>(t.raw());
    auto* to = static_cast<char*>(out.raw());
    for (int64_t row = 0; row < t.size() / std::max<int64_t>(1, n); ++row)
      for (int64_t i = 0; i < half; ++i) {
        const int64_t a = row * n + (copies_ == Copies::kHalves ? i : 2 * i),
                      b = a + (copies_ == Copies::kHalves ? half : 1);
        if (std::memcmp(from + a * size, from + b * size, size)) return nullptr;
        std::memcpy(to + (row * half + i) * size, from + a * size, size);
      }
    return r_.Const(out);
  }

  // If `n` itself makes the two copies, returns the value that it copies. Otherwise returns null. For
  // Copies::kHalves, `n` must be Concat(x, x).
  Value* Copied(const Node& n) {
    if (copies_ == Copies::kHalves) {
      const bool repeats_input = IsOp(n, "Concat") && n.inputs().size() == 2 && n.input(0) == n.input(1);
      return repeats_input && LastAxis(n.attrs.Int("axis"), n.output(0)) ? n.input(0) : nullptr;
    }
    // For Copies::kPairs, an Expand, Tile or Concat copies [..., n, 1] to [..., n, 2], and `n` reshapes it
    // to [..., 2n].
    if (!IsOp(n, "Reshape") || !n.input(0)->producer) return nullptr;
    const Node& copy = *n.input(0)->producer;
    const Shape &wide = n.input(0)->type.shape, &y = n.output(0)->type.shape;
    const Shape& narrow = copy.input(0)->type.shape;
    const int rank = wide.rank();
    if (rank != y.rank() + 1 || narrow.rank() != rank || !wide[-1].Is(2) || !narrow[-1].Is(1)) return nullptr;
    for (int i = 0; i + 2 < rank; ++i)
      if (wide[i] != y[i] || narrow[i] != y[i]) return nullptr;
    if (wide[-2] != narrow[-2] || !y[-1].known() || !(wide[-2] * Dim(2) == y[-1])) return nullptr;
    const bool repeats = IsOp(copy, "Expand") || IsOp(copy, "Tile") ||
                         (IsOp(copy, "Concat") && copy.inputs().size() == 2 &&
                          copy.input(0) == copy.input(1) && LastAxis(copy.attrs.Int("axis"), copy.output(0)));
    return repeats ? ViewAs(r_, copy.input(0), Halved(y)) : nullptr;
  }

  static Shape Halved(Shape s) {
    s.dims.back() = Dim(s.dims.back().value() / 2);
    return s;
  }

  Value* Rebuild(const Node& n, const std::vector<Value*>& inputs) {
    for (const Value* v : inputs)
      if (!v) return nullptr;
    return r_.Op(*n.op, n.attrs, inputs);
  }

  Value* OfBinary(const Node& n, int depth) {
    std::vector<Value*> inputs;
    for (Value* v : n.inputs()) {
      const Shape& s = v->type.shape;
      if (!s.ranked) return nullptr;
      inputs.push_back(s.rank() == 0 || s[-1].Is(1) ? v : Of(v, depth + 1));
    }
    return Rebuild(n, inputs);
  }

  Value* OfView(Value* v, const Node& n, int depth) {
    const Shape &x = n.input(0)->type.shape, &y = v->type.shape;
    if (x.rank() < 1 || x[-1] != y[-1]) return nullptr;
    Value* half = Of(n.input(0), depth + 1);
    return half ? ViewAs(r_, half, Halved(y)) : nullptr;
  }

  // Omits an Expand that does not change the rank, because the readers broadcast their operands.
  Value* OfExpand(const Node& n, int depth) {
    const Shape &x = n.input(0)->type.shape, &y = n.output(0)->type.shape;
    return x.rank() == y.rank() && x[-1] == y[-1] ? Of(n.input(0), depth + 1) : nullptr;
  }

  // For a Gather that reads rows of a table, removes the copies from the table.
  Value* OfGather(const Node& n, int depth) {
    const Shape& table = n.input(0)->type.shape;
    if (table.rank() < 2 || LastAxis(n.attrs.Int("axis"), n.input(0))) return nullptr;
    return Rebuild(n, {Of(n.input(0), depth + 1), n.input(1)});
  }

  Rewrite& r_;
  Copies copies_;
};

}  // namespace

Value* WithoutCopies(Rewrite& r, Value* v, Copies copies) { return CopyRemover(r, copies).Of(v, 0); }

}  // namespace tern
