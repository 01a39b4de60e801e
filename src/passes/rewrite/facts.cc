#include "passes/rewrite/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tern {
namespace {

// Returns the relative tolerance for numbers that were computed with one operation in this type.
double Rounding(DType dtype) {
  if (dtype == DType::kF64) return 1e-12;
  if (dtype == DType::kF16) return 1e-3;
  if (dtype == DType::kBF16) return 8e-3;
  return 1e-6;
}

// Returns the integer that all elements equal. Returns nullopt if the elements differ, or if a double
// cannot represent the integer exactly.
std::optional<double> UniformInteger(const Tensor& t) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const int64_t first = LoadLong(t, 0);
  if (first < (IsUnsignedInt(t.dtype()) ? 0 : -kExact) || first > kExact) return std::nullopt;
  for (int64_t i = 1; i < t.size(); ++i)
    if (LoadLong(t, i) != first) return std::nullopt;
  return static_cast<double>(first);
}

}  // namespace

std::optional<double> ScalarOf(const Value* v) {
  if (!v || !v->is_constant() || v->constant.size() != 1) return std::nullopt;
  return UniformOf(v);
}

bool IsScalar(const Value* v, double expected) {
  const auto found = ScalarOf(v);
  if (!found) return false;
  const double slack = IsFloat(v->constant.dtype()) ? Rounding(v->constant.dtype()) : 0;
  return std::abs(*found - expected) <= slack * std::abs(expected);
}

std::optional<double> UniformOf(const Value* v) {
  if (!v || !v->is_constant() || v->constant.size() == 0) return std::nullopt;
  const Tensor t = v->constant.Contiguous();
  if (t.dtype() == DType::kString || IsComplex(t.dtype())) return std::nullopt;
  if (IsInt(t.dtype())) return UniformInteger(t);
  const double first = LoadDouble(t, 0);
  for (int64_t i = 1; i < t.size(); ++i)
    if (LoadDouble(t, i) != first) return std::nullopt;
  return first;
}

bool AllFinite(const Value* v) {
  return v && v->is_constant() && IsFloat(v->constant.dtype()) && AllFinite(v->constant);
}

bool AllFinite(const Tensor& floats) {
  const Tensor t = floats.Contiguous();
  if (t.dtype() == DType::kF32)
    return std::all_of(t.data<float>(), t.data<float>() + t.size(), [](float x) { return std::isfinite(x); });
  for (int64_t i = 0; i < t.size(); ++i)
    if (!std::isfinite(LoadDouble(t, i))) return false;
  return true;
}

bool AllFiniteAndNotZero(const Value* v) {
  if (!AllFinite(v)) return false;
  const Tensor t = v->constant.Contiguous();
  for (int64_t i = 0; i < t.size(); ++i)
    if (LoadDouble(t, i) == 0) return false;
  return true;
}

bool AllNormal(const Value* v) {
  if (!AllFinite(v)) return false;
  const Tensor t = v->constant.Contiguous();
  const double least = t.dtype() == DType::kF16   ? 0x1p-14
                       : t.dtype() == DType::kF64 ? std::numeric_limits<double>::min()
                                                  : double{std::numeric_limits<float>::min()};
  for (int64_t i = 0; i < t.size(); ++i)
    if (std::abs(LoadDouble(t, i)) < least) return false;
  return true;
}

bool RoundsByCancelling(double a, double b, double sum, DType dtype) {
  const double digits = dtype == DType::kF64    ? 0x1p-52
                        : dtype == DType::kF16  ? 0x1p-10
                        : dtype == DType::kBF16 ? 0x1p-7
                                                : 0x1p-23;
  const double large = std::max(std::abs(a), std::abs(b));
  return large * digits > 0x1p-10 && std::abs(sum) < large / 8;
}

bool RoundsByCancelling(const Value* a, const Value* b, const Value* sum) {
  double large = 0, small = std::numeric_limits<double>::infinity();
  for (const Value* v : {a, b})
    for (double d : ToDoubles(v->constant)) large = std::max(large, std::abs(d));
  for (double d : ToDoubles(sum->constant)) small = std::min(small, std::abs(d));
  return IsFloatValue(sum) && RoundsByCancelling(large, 0, small, sum->type.dtype);
}

std::optional<Content> ContentOf(const Value* v) {
  if (!v) return std::nullopt;
  if (v->content) return v->content;
  if (!v->is_constant() || v->constant.rank() > 1) return std::nullopt;
  const auto ints = IntsOf(v);
  if (!ints) return std::nullopt;
  return Content(ints->begin(), ints->end());
}

bool IsOp(const Node& node, std::string_view op) { return node.op->name == op; }
bool IsOp(const Node& node, std::string_view op, std::string_view kind) {
  return node.op->name == op && KindName(node) == kind;
}
std::string KindName(const Node& node) { return node.attrs.Has("kind") ? node.attrs.Text("kind") : ""; }

bool ChannelsLast(const Node& node) {
  return node.attrs.Has("channels_last") && node.attrs.Bool("channels_last");
}

Node* MadeBy(const Value* v, std::string_view op) {
  return v && v->producer && IsOp(*v->producer, op) && !ChannelsLast(*v->producer) ? v->producer : nullptr;
}
Node* MadeBy(const Value* v, std::string_view op, std::string_view kind) {
  Node* node = MadeBy(v, op);
  return node && KindName(*node) == kind ? node : nullptr;
}

bool NoEpilogue(const Node& node) {
  if (node.attrs.Has("activation") && node.attrs.Text("activation") != "none") return false;
  return !node.input(3);
}

bool OnlyUse(const Value* v) { return v && v->uses.size() == 1 && v->output_uses == 0; }
Node* OnlyReader(const Value* v) { return OnlyUse(v) ? v->uses[0].first : nullptr; }

bool SameShape(const Value* a, const Value* b) {
  return a && b && a->type.tensor() && b->type.tensor() && a->type.shape.ranked && b->type.shape.ranked &&
         a->type.shape == b->type.shape;
}
bool SameType(const Value* a, const Value* b) { return SameShape(a, b) && a->type.dtype == b->type.dtype; }

bool BroadcastsInto(const Value* v, const Value* target) {
  if (!v || !target || !v->type.shape.ranked || !target->type.shape.ranked) return false;
  const Shape &s = v->type.shape, &w = target->type.shape;
  if (s.rank() > w.rank()) return false;
  for (int i = 1; i <= s.rank(); ++i)
    if (!s[-i].Is(1) && !(s[-i] == w[-i])) return false;
  return true;
}

bool IsFloatValue(const Value* v) { return v && v->type.tensor() && IsFloat(v->type.dtype); }

std::optional<int64_t> CountOf(const Value* v) {
  if (!v || !v->type.tensor() || !v->type.shape.fully_known()) return std::nullopt;
  return CountOf(v->type.shape.Concrete());
}

std::optional<std::vector<int64_t>> ReshapeTarget(const Shape& shape) {
  if (!shape.ranked) return std::nullopt;
  std::vector<int64_t> target;
  for (const Dim& d : shape.dims) {
    if (!d.known() && std::find(target.begin(), target.end(), -1) != target.end()) return std::nullopt;
    target.push_back(d.known() ? d.value() : -1);
  }
  // If a dim is 0, Reshape cannot infer the size of the dim -1.
  const bool empty = std::find(target.begin(), target.end(), 0) != target.end();
  if (empty && std::find(target.begin(), target.end(), -1) != target.end()) return std::nullopt;
  return target;
}

std::optional<int> AxisOf(int64_t axis, const Value* v) {
  if (!v || !v->type.shape.ranked) return std::nullopt;
  const int rank = v->type.shape.rank();
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace tern
