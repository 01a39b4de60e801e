// Exports pooling ops.
#include <cmath>

#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

// Returns the type in which MaxPool computes. MaxPool supports i8, u8 and all floats except bf16. bf16 is
// computed in f32, and wider integers are computed in f64.
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

Result<int64_t> IntegerExponent(const TernNode& n) {
  const float p = n.attrs().Float("p");
  if (p != std::floor(p)) return n.NotExportable("the exponent ", p, " is not an integer");
  return static_cast<int64_t>(p);
}

// Returns whether the pool drops a last window that would start beyond the input. Opsets before 22 count this
// window in their shape inference.
bool DropsWindow(const TernNode& n) {
  const Shape &x = n.TypeOf(0).shape, &y = n.node.output(0)->type.shape;
  const auto strides = n.attrs().Ints("strides");
  if (!n.attrs().Bool("ceil_mode") || !x.ranked || !y.ranked || strides.empty()) return false;
  const auto kernel = n.attrs().Ints("kernel"), pads = n.attrs().Ints("pads"),
             dilations = n.attrs().Ints("dilations");
  const size_t rank = kernel.size(), first = ChannelsLast(n.attrs()) ? 1 : 2;
  for (size_t i = 0; i < rank; ++i) {
    const Dim in = x.dims[i + first], out = y.dims[i + first];
    const int64_t padding = pads.empty() ? 0 : pads[i] + pads[i + rank],
                  extent = (dilations.empty() ? 1 : dilations[i]) * (kernel[i] - 1) + 1;
    if (in.known() && out.known() && CeilDiv(in + padding - extent, strides[i]) + 1 != out) return true;
  }
  return false;
}

}  // namespace

AttrList PoolToOnnx(TernNode& n) {
  AttrList attrs = WindowToOnnx(n.attrs());
  attrs.emplace_back("kernel_shape", n.attrs().Ints("kernel"));
  attrs.emplace_back("ceil_mode", n.attrs().Bool("ceil_mode"));
  if (DropsWindow(n)) n.NeedOpset(22);
  return attrs;
}

namespace {

Status Pool(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  AttrList attrs = PoolToOnnx(n);
  if (kind == "max") return MaxPool(n, std::move(attrs));
  const DType work = WithoutBFloat(n.TypeOf(0).dtype);
  if (kind == "average") {
    attrs.emplace_back("count_include_pad", n.attrs().Bool("count_include_pad"));
    EmitIn(n, work, "AveragePool", n.Ins(), attrs);
    return {};
  }
  TERN_ASSIGN(const int64_t p, IntegerExponent(n));
  attrs.emplace_back("p", p);
  EmitIn(n, work, "LpPool", n.Ins(), attrs);
  return {};
}

Status GlobalPool(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  AttrList attrs;
  if (kind == "lp") {
    TERN_ASSIGN(const int64_t p, IntegerExponent(n));
    attrs.emplace_back("p", p);
  }
  const char* op = kind == "max" ? "GlobalMaxPool" : kind == "average" ? "GlobalAveragePool" : "GlobalLpPool";
  EmitIn(n, WithoutBFloat(n.TypeOf(0).dtype), op, n.Ins(), attrs);
  return {};
}

// Runtimes disagree about the meaning of the indices if the operator has an output_shape. Therefore the
// operator is emitted without it, and a Pad extends the result to output_shape.
Status MaxUnpool(TernNode& n) {
  AttrList attrs = WindowToOnnx(n.attrs());
  attrs.emplace_back("kernel_shape", n.attrs().Ints("kernel"));
  const DType own = n.TypeOf(0).dtype, work = WithoutBFloat(own);
  if (!n.Has(2)) return EmitIn(n, work, "MaxUnpool", n.Ins(), attrs, 0b110), Status();
  const std::string y = n.Op("MaxUnpool", {CastName(n, n.In(0), own, work), n.In(1)}, attrs);
  const std::string missing = n.Op("Sub", {n.In(2), n.Op("Shape", {y})});
  const std::string pads =
      n.Op("Concat", {n.Ints(std::vector<int64_t>(n.attrs().Ints("kernel").size() + 2, 0)), missing},
           {{"axis", int64_t{0}}});
  const std::string padded = n.Emit("Pad", {y, pads}, {own == work ? n.Out(0) : n.Temp()});
  if (own != work) n.Emit("Cast", {padded}, {n.Out(0)}, {{"to", own}});
  return {};
}

}  // namespace

TERN_EXPORTERS(pool) {
  table.Add("Pool", Pool);
  table.Add("GlobalPool", GlobalPool);
  table.Add("MaxUnpool", MaxUnpool);
}

}  // namespace tern::onnx
