// Writes elements at the positions that an index tensor gives.
#include <algorithm>
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// The part of src that scatter reads has the dims of the index.
Value* Cropped(AtenNode& n, Value* src, Value* at) {
  if (src->type.shape == at->type.shape) return src;
  const int rank = at->type.shape.rank();
  std::vector<int64_t> starts(static_cast<size_t>(std::max(rank, 0)), 0), axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  if (rank <= 0) return src;
  return n.b.Op("Slice", {src, n.b.Ints(starts), Emit(n.b).Shape(at), n.b.Ints(axes)});
}

Status ScatterWith(AtenNode& n, const std::string& reduction, Value* updates) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = e.Cast(n.In("index"), DType::kI64);
  if (x->type.shape.rank() == 0) return n.NotYet("a scalar");
  n.Out(n.b.Op("ScatterElements", {x, at, Cropped(n, e.Cast(updates, x->type.dtype), at)},
               {{"axis", n.Int("dim")}, {"reduction", reduction}}));
  return {};
}

Result<std::string> ReductionOf(AtenNode& n, const std::string& name) {
  if (name.empty()) return std::string("none");
  if (name == "add" || name == "sum") return std::string("add");
  if (name == "multiply" || name == "prod") return std::string("mul");
  if (name == "amax") return std::string("max");
  if (name == "amin") return std::string("min");
  return n.NotYet("the reduction '", name, "'");
}

Status Scatter(AtenNode& n) {
  Emit e(n.b);
  TERN_ASSIGN(const std::string reduction, ReductionOf(n, n.Text("reduce")));
  if (n.HasParameter("src")) return ScatterWith(n, reduction, n.In("src"));
  Value* at = n.In("index");
  return ScatterWith(n, reduction, e.Expand(As(n, "value", n.TypeOf("self")), e.Shape(at)));
}

Status ScatterAdd(AtenNode& n) { return ScatterWith(n, "add", n.In("src")); }

// Without include_self, the elements that are written start from the neutral element of the reduction.
Status ScatterReduce(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = e.Cast(n.In("index"), DType::kI64);
  Value* src = Cropped(n, e.Cast(n.In("src"), x->type.dtype), at);
  const std::string kind = n.Text("reduce");
  const bool mean = kind == "mean", keep = n.Bool("include_self", true);
  TERN_ASSIGN(const std::string reduction, ReductionOf(n, mean ? "sum" : kind));
  const AttrList axis = {{"axis", n.Int("dim")}};
  if (!keep) {
    const bool real = IsFloat(x->type.dtype);
    if (!real && (reduction == "max" || reduction == "min")) return n.NotYet("integers without include_self");
    const double neutral = reduction == "mul"   ? 1
                           : reduction == "max" ? -INFINITY
                           : reduction == "min" ? INFINITY
                                                : 0;
    x = n.b.Op("ScatterElements", {x, at, e.Expand(e.Like(x, neutral), e.Shape(at))}, axis);
  }
  AttrList attrs = axis;
  attrs.emplace_back("reduction", reduction);
  Value* y = n.b.Op("ScatterElements", {x, at, src}, attrs);
  if (mean) {
    Value* ones = e.Fill(e.Shape(x), x->type.dtype, keep ? 1 : 0);
    Value* counts = n.b.Op("ScatterElements", {ones, at, e.Fill(e.Shape(at), x->type.dtype, 1)}, attrs);
    y = e.Div(y, e.Binary("max", counts, e.Like(x, 1)));
  }
  n.Out(y);
  return {};
}

}  // namespace

TERN_CONVERTERS(scatter) {
  table.Add("aten::scatter", Scatter);
  table.Add("aten::scatter_add", ScatterAdd);
  table.Add("aten::scatter_reduce", ScatterReduce);
}

}  // namespace tern::torch
