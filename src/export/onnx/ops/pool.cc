// Pooling.
#include <algorithm>
#include <cmath>

#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

bool Wanted(const TernNode& n, size_t output) {
  if (n.node.outputs().size() <= output) return false;
  const Value* v = n.node.outputs()[output];
  const auto& results = n.node.graph->outputs();
  return !v->uses.empty() || std::find(results.begin(), results.end(), v) != results.end();
}

// The operators know bytes and, without bf16, the floats; wider integers are exact in f64.
DType PoolType(DType own) {
  if (own == DType::kI8 || own == DType::kU8) return own;
  return IsInt(own) ? DType::kF64 : WithoutBFloat(own);
}

Status MaxPool(TernNode& n, AttrList attrs) {
  attrs.emplace_back("storage_order", n.attrs().Bool("column_major"));
  const DType own = n.TypeOf(0).dtype, work = PoolType(own);
  std::vector<std::string> outputs = {own == work ? n.Out(0) : n.Temp()};
  if (Wanted(n, 1)) outputs.push_back(n.Out(1));
  const std::string y = n.Emit("MaxPool", {CastName(n, n.In(0), own, work)}, outputs, attrs);
  if (own != work) n.Emit("Cast", {y}, {n.Out(0)}, {{"to", own}});
  return {};
}

Result<int64_t> WholeExponent(const TernNode& n) {
  const float p = n.attrs().Float("p");
  if (p != std::floor(p)) return n.NotExportable("the exponent ", p, " is not whole");
  return static_cast<int64_t>(p);
}

Status Pool(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  AttrList attrs = WindowToOnnx(n.attrs());
  attrs.emplace_back("kernel_shape", n.attrs().Ints("kernel"));
  attrs.emplace_back("ceil_mode", n.attrs().Bool("ceil_mode"));
  if (kind == "max") return MaxPool(n, std::move(attrs));
  const DType work = WithoutBFloat(n.TypeOf(0).dtype);
  if (kind == "average") {
    attrs.emplace_back("count_include_pad", n.attrs().Bool("count_include_pad"));
    EmitIn(n, work, "AveragePool", n.Ins(), attrs);
    return {};
  }
  TERN_ASSIGN(const int64_t p, WholeExponent(n));
  attrs.emplace_back("p", p);
  EmitIn(n, work, "LpPool", n.Ins(), attrs);
  return {};
}

Status GlobalPool(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  AttrList attrs;
  if (kind == "lp") {
    TERN_ASSIGN(const int64_t p, WholeExponent(n));
    attrs.emplace_back("p", p);
  }
  const char* op = kind == "max" ? "GlobalMaxPool" : kind == "average" ? "GlobalAveragePool" : "GlobalLpPool";
  EmitIn(n, WithoutBFloat(n.TypeOf(0).dtype), op, n.Ins(), attrs);
  return {};
}

}  // namespace

TERN_EXPORTERS(pool) {
  table.Add("Pool", Pool);
  table.Add("GlobalPool", GlobalPool);
}

}  // namespace tern::onnx
