// Exports convolutions.
#include "export/onnx/ops/common.h"

namespace tern::onnx {

AttrList WindowToOnnx(const Attrs& attrs) {
  AttrList list;
  for (const char* name : {"strides", "dilations", "pads"})
    if (attrs.Has(name) && !attrs.Ints(name).empty()) list.emplace_back(name, attrs.Ints(name));
  // onnxruntime cannot fuse an AveragePool with the attribute dilations between quantized tensors.
  std::erase_if(list, [&](const auto& a) {
    return a.name == "dilations" &&
           std::ranges::count(attrs.Ints("dilations"), 1) == std::ssize(attrs.Ints("dilations"));
  });
  const std::string auto_pad = attrs.Has("auto_pad") ? attrs.Text("auto_pad") : "none";
  if (auto_pad == "none") return list;
  std::erase_if(list, [](const auto& a) { return a.name == "pads"; });
  list.emplace_back("auto_pad", auto_pad == "valid"        ? "VALID"
                                : auto_pad == "same_upper" ? "SAME_UPPER"
                                                           : "SAME_LOWER");
  return list;
}

namespace {

std::string BiasAlongChannels(TernNode& n, int rank) {
  std::vector<int64_t> axes;
  for (int i = 1; i < rank - 1; ++i) axes.push_back(i);
  return axes.empty() ? n.In(2) : n.Op("Unsqueeze", {n.In(2), n.Ints(axes)});
}

// Emits an integer convolution. ConvInteger supports u8 data with u8 or i8 weights. Other integers are
// computed in f32, which is exact if all sums are below 2^24.
Status IntegerConv(TernNode& n, const AttrList& attrs, const std::string& out) {
  const DType x = n.TypeOf(0).dtype, w = n.TypeOf(1).dtype, y = n.node.output(0)->type.dtype;
  if (x == DType::kU8 && (w == DType::kU8 || w == DType::kI8)) {
    const int rank = std::max(n.TypeOf(0).shape.rank(), n.TypeOf(1).shape.rank());
    if (!n.Has(2)) return n.Emit("ConvInteger", {n.In(0), n.In(1)}, {out}, attrs), Status();
    if (rank < 0) return n.NotExportable("an integer convolution with bias needs a known rank");
    n.Emit("Add", {n.Op("ConvInteger", {n.In(0), n.In(1)}, attrs), BiasAlongChannels(n, rank)}, {out});
    return {};
  }
  std::vector<std::string> inputs;
  for (int i = 0; i < 3; ++i)
    if (n.Has(i)) inputs.push_back(CastName(n, n.In(i), n.TypeOf(i).dtype, DType::kF32));
  n.Emit("Cast", {n.Op("Conv", inputs, attrs)}, {out}, {{"to", y}});
  return {};
}

// Emits the convolution with bias, then the epilogue.
Status Convolution(TernNode& n, const char* op, const AttrList& attrs) {
  const DType type = n.node.output(0)->type.dtype;
  const std::string sums = SumsOf(n);
  if (IsInt(type))
    TERN_TRY(IntegerConv(n, attrs, sums));
  else
    EmitIn(n, WithoutBFloat(type), op, {n.In(0), n.In(1), n.In(2)}, attrs, 0, sums);
  EmitEpilogue(n, sums);
  return {};
}

// Returns FusedConv's name of the activation and sets `parameters`. Returns "" if FusedConv does not support
// the activation.
std::string ActivationOf(const Attrs& a, std::vector<double>& parameters) {
  const std::string kind = a.Text("activation");
  const double alpha = a.Float("act_alpha"), beta = a.Float("act_beta");
  if (kind == "relu") return "Relu";
  if (kind == "sigmoid") return "Sigmoid";
  if (kind == "tanh") return "Tanh";
  if (kind == "leaky_relu") parameters = {alpha};
  if (kind == "clip" || kind == "hard_sigmoid") parameters = {alpha, beta};
  return kind == "leaky_relu"     ? "LeakyRelu"
         : kind == "clip"         ? "Clip"
         : kind == "hard_sigmoid" ? "HardSigmoid"
                                  : "";
}

// Emits FusedConv with the residual and the activation. If FusedConv does not support the activation, emits
// the activation as a separate operator. Returns false and emits nothing if FusedConv cannot be used, for
// example because the residual does not have the result's shape.
bool FusedConv(TernNode& n, AttrList attrs) {
  constexpr int kResidual = 3;
  const Type& y = n.node.output(0)->type;
  const bool active = n.attrs().Text("activation") != "none";
  if (!n.Contrib(y.dtype) || (!active && !n.Has(kResidual))) return false;
  if (n.Has(kResidual) && !(y.shape.ranked && n.TypeOf(kResidual).shape == y.shape)) return false;
  std::vector<double> parameters;
  const std::string activation = ActivationOf(n.attrs(), parameters);
  if (activation.empty() && !n.Has(kResidual)) return false;
  if (!activation.empty()) attrs.emplace_back("activation", activation);
  if (!parameters.empty()) attrs.emplace_back("activation_params", parameters);
  const bool activation_after = active && activation.empty();
  const std::string sums = activation_after ? n.Temp() : n.Out(0);
  n.Emit("FusedConv", {n.In(0), n.In(1), n.In(2), n.In(kResidual)}, {sums}, attrs, kContrib);
  if (activation_after) EmitActivation(n, sums);
  return true;
}

Status Conv(TernNode& n) {
  AttrList attrs = WindowToOnnx(n.attrs());
  attrs.emplace_back("group", n.attrs().Int("group"));
  if (FusedConv(n, attrs)) return {};
  return Convolution(n, "Conv", attrs);
}

Status ConvTranspose(TernNode& n) {
  AttrList attrs = WindowToOnnx(n.attrs());
  attrs.emplace_back("group", n.attrs().Int("group"));
  for (const char* name : {"output_padding", "output_shape"})
    if (!n.attrs().Ints(name).empty()) attrs.emplace_back(name, n.attrs().Ints(name));
  return Convolution(n, "ConvTranspose", attrs);
}

Status DeformConv(TernNode& n) {
  AttrList attrs = WindowToOnnx(n.attrs());
  for (const char* name : {"group", "offset_group"}) attrs.emplace_back(name, n.attrs().Int(name));
  EmitIn(n, WithoutBFloat(n.TypeOf(0).dtype), "DeformConv", n.Ins(), attrs);
  return {};
}

}  // namespace

TERN_EXPORTERS(conv) {
  table.Add("Conv", Conv);
  table.Add("ConvTranspose", ConvTranspose);
  table.Add("DeformConv", DeformConv);
}

}  // namespace tern::onnx
