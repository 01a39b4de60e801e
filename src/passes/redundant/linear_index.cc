#include "passes/redundant/linear_index.h"

#include <algorithm>
#include <functional>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

constexpr int kMaxDepth = 16;
constexpr int64_t kMaxElements = 1 << 20;

std::optional<Strides> Read(const Value* v, int depth);

// Returns the strides of a tensor whose element at a row-major position is at(position). The element with
// index 1 along a dim, and 0 along all others, is the stride of that dim. Checks all elements, and
// returns nullopt if they are not linear.
std::optional<Strides> ReadElements(const Dims& dims, const std::function<int64_t(int64_t)>& at) {
  const int64_t count = CountOf(dims);
  if (count == 0 || count > kMaxElements || at(0) != 0) return std::nullopt;
  const Dims steps = ContiguousStrides(dims);
  Dims strides(dims.size(), 0);
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k] > 1) strides[k] = at(steps[k]);
  for (int64_t i = 0; i < count; ++i) {
    int64_t wanted = 0;
    for (size_t k = 0; k < dims.size(); ++k) wanted += strides[k] * (i / steps[k] % dims[k]);
    if (at(i) != wanted) return std::nullopt;
  }
  return Strides(strides.begin(), strides.end());
}

std::optional<Strides> ReadRange(const Node& range) {
  const auto start = ContentOf(range.input(0)), delta = ContentOf(range.input(2));
  if (!start || !delta || start->size() != 1 || delta->size() != 1) return std::nullopt;
  if (!(*start)[0].Is(0) || !(*delta)[0].Is(1)) return std::nullopt;
  return Strides{Dim(1)};
}

// Returns the strides of v, a view that only adds or removes dims of size 1. Returns nullopt for other
// views.
std::optional<Strides> ThroughView(const Value* v, int depth) {
  const Value* x = v->producer->input(0);
  const auto inner = Read(x, depth);
  if (!inner) return std::nullopt;
  const Shape &from = x->type.shape, &to = v->type.shape;
  Strides out;
  size_t at = 0;
  const auto skip_ones = [&] {
    while (at < from.dims.size() && from.dims[at].Is(1)) ++at;
  };
  for (const Dim& d : to.dims) {
    skip_ones();
    if (d.Is(1)) {
      out.emplace_back(0);
    } else if (at < from.dims.size() && from.dims[at] == d) {
      out.push_back((*inner)[at++]);
    } else {
      return std::nullopt;
    }
  }
  skip_ones();
  return at == from.dims.size() ? std::optional(out) : std::nullopt;
}

// Returns the strides of x after it is broadcast to `to`.
std::optional<Strides> Broadcast(const Value* x, const Shape& to, int depth) {
  const auto inner = Read(x, depth);
  if (!inner) return std::nullopt;
  Strides out(to.dims.size(), Dim(0));
  const size_t skip = to.dims.size() - inner->size();
  for (size_t i = 0; i < inner->size(); ++i)
    if (!x->type.shape.dims[i].Is(1)) {
      if (x->type.shape.dims[i] != to.dims[skip + i]) return std::nullopt;
      out[skip + i] = (*inner)[i];
    }
  return out;
}

std::optional<Strides> ReadSum(const Value* v, int depth) {
  const Node& node = *v->producer;
  auto a = Broadcast(node.input(0), v->type.shape, depth);
  const auto b = a ? Broadcast(node.input(1), v->type.shape, depth) : std::nullopt;
  if (!b) return std::nullopt;
  for (size_t i = 0; i < a->size(); ++i) (*a)[i] = (*a)[i] + (*b)[i];
  return a;
}

std::optional<Strides> ReadProduct(const Value* v, int depth) {
  const Node& node = *v->producer;
  for (int i : {0, 1}) {
    const auto factor = ContentOf(node.input(i));
    if (!factor || factor->size() != 1) continue;
    auto strides = Broadcast(node.input(1 - i), v->type.shape, depth);
    if (!strides) continue;
    for (Dim& d : *strides) d = d * (*factor)[0];
    return strides;
  }
  return std::nullopt;
}

std::optional<Strides> Read(const Value* v, int depth) {
  if (depth > kMaxDepth || !v->type.shape.ranked || !IsInt(v->type.dtype)) return std::nullopt;
  if (v->is_constant()) {
    if (v->constant.size() > kMaxElements) return std::nullopt;
    const auto elements = ToLongs(v->constant);
    return ReadElements(v->constant.dims(), [&](int64_t i) { return elements[static_cast<size_t>(i)]; });
  }
  if (!v->producer) return std::nullopt;
  const Node& node = *v->producer;
  if (IsOp(node, "Range")) return ReadRange(node);
  if (IsView(node)) return ThroughView(v, depth + 1);
  if (IsOp(node, "Expand")) return Broadcast(node.input(0), v->type.shape, depth + 1);
  if (IsOp(node, "Binary", "add")) return ReadSum(v, depth + 1);
  if (IsOp(node, "Binary", "mul")) return ReadProduct(v, depth + 1);
  return std::nullopt;
}

std::vector<Strides> WithoutLast(std::vector<Strides> all) {
  for (Strides& s : all) s.pop_back();
  return all;
}

std::optional<std::vector<Strides>> ReadConstantTuples(const Tensor& t) {
  if (t.rank() < 1 || t.size() > kMaxElements) return std::nullopt;
  const auto elements = ToLongs(t);
  const Dims dims(t.dims().begin(), t.dims().end() - 1);
  std::vector<Strides> all;
  for (int64_t k = 0; k < t.dim(-1); ++k) {
    const auto strides =
        ReadElements(dims, [&](int64_t i) { return elements[static_cast<size_t>(i * t.dim(-1) + k)]; });
    if (!strides) return std::nullopt;
    all.push_back(*strides);
  }
  return all;
}

}  // namespace

std::optional<Strides> LinearIndex(const Value* v) { return Read(v, 0); }

std::optional<std::vector<Strides>> LinearTuples(const Value* v) {
  if (v->is_constant()) return ReadConstantTuples(v->constant);
  const Node* concat = MadeBy(v, "Concat");
  if (!concat || !v->type.shape.ranked || AxisOf(concat->attrs.Int("axis"), v) != v->type.shape.rank() - 1)
    return std::nullopt;
  std::vector<Strides> all;
  for (const Value* part : concat->inputs()) {
    const auto strides = part->type.shape.ranked && part->type.shape[-1].Is(1) ? Read(part, 0) : std::nullopt;
    if (!strides) return std::nullopt;
    all.push_back(*strides);
  }
  return WithoutLast(std::move(all));
}

}  // namespace tern
