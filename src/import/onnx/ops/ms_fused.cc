// Converts matrix products and convolutions of com.microsoft that include an activation, a sum or a
// transposition.
#include <cmath>

#include "import/onnx/ops/emit.h"
#include "import/onnx/ops/window_attrs.h"

namespace tern::onnx {
namespace {

// Emits the activation that attribute `activation` names. `params` are the parameters of the activation, in
// the order of the ONNX operator's attributes. A parameter that is missing or NaN has its default value.
Result<Value*> Activated(OnnxNode& n, Value* x, const std::vector<float>& params) {
  const std::string name = n.Text("activation");
  const auto param = [&](size_t i, float otherwise) {
    return static_cast<double>(i < params.size() && !std::isnan(params[i]) ? params[i] : otherwise);
  };
  Emit e(n);
  if (name.empty()) return x;
  if (name == "Relu") return e.Unary("relu", x);
  if (name == "Sigmoid") return e.Unary("sigmoid", x);
  if (name == "Tanh") return e.Unary("tanh", x);
  if (name == "Softplus") return e.Unary("softplus", x);
  if (name == "Softsign") return e.Unary("softsign", x);
  if (name == "HardSwish") return e.Unary("hard_swish", x);
  if (name == "Gelu") return n.b.Op("Gelu", {x});
  if (name == "LeakyRelu")
    return n.b.Op("Activation", {x}, {{"kind", "leaky_relu"}, {"alpha", param(0, 0.01f)}});
  if (name == "Elu") return n.b.Op("Activation", {x}, {{"kind", "elu"}, {"alpha", param(0, 1)}});
  if (name == "ThresholdedRelu")
    return n.b.Op("Activation", {x}, {{"kind", "thresholded_relu"}, {"alpha", param(0, 1)}});
  if (name == "HardSigmoid")
    return n.b.Op("Activation", {x},
                  {{"kind", "hard_sigmoid"}, {"alpha", param(0, 0.2f)}, {"beta", param(1, 0.5f)}});
  if (name == "Softmax") return n.b.Op("Softmax", {x}, {{"axis", n.Int("activation_axis", -1)}});
  if (name == "Clip" && params.size() >= 2 && !std::isnan(params[0]) && !std::isnan(params[1]))
    return n.b.Op("Clip", {x, e.Like(x, params[0]), e.Like(x, params[1])});
  return n.NotYet("activation '", name, "' with ", params.size(), " parameters");
}

// If `channels_last` is true, x, the summand (input 3) and the result are channels-last. The weight is always
// [M, C, kernel…].
Status FusedConv(OnnxNode& n, bool channels_last) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  Emit e(n);
  if (channels_last && n.RankOf(0) < 3) return n.NotYet("an input of type ", n.In(0)->type.ToString());
  Value* x = channels_last ? e.ChannelsFirst(n.In(0)) : n.In(0);
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(1)->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, x->type.shape, kernel));
  attrs.emplace_back("group", n.Int("group", 1));
  Value* y = n.b.Op("Conv", {x, n.In(1), n.In(2)}, attrs);
  if (channels_last) {
    if (!y->type.shape.ranked) return n.NotYet("a result of unknown rank");
    y = e.ChannelsLast(y);
  }
  if (n.Has(3)) y = e.Add(y, n.In(3));
  TERN_ASSIGN(y, Activated(n, y, n.Floats("activation_params")));
  n.Out(0, y);
  return {};
}

// Returns the activation's parameters for operators that store each parameter in a separate attribute. A
// parameter that the node does not set is NaN.
std::vector<float> ParamsByName(const OnnxNode& n) {
  std::vector<float> params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    params.push_back(n.HasAttr(name) ? n.Float(name) : NAN);
  return params;
}

Status FusedGemm(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  Emit e(n);
  const float beta = n.Float("beta", 1);
  Value* c = n.In(2) && beta != 0 ? n.In(2) : nullptr;
  if (c && beta != 1) c = e.Mul(c, n.b.Scalar(n.TypeOf(0), beta));
  Value* y = n.b.Op("MatMul", {n.In(0), n.In(1), c},
                    {{"transpose_a", n.Int("transA") != 0},
                     {"transpose_b", n.Int("transB") != 0},
                     {"alpha", static_cast<double>(n.Float("alpha", 1))}});
  TERN_ASSIGN(y, Activated(n, y, ParamsByName(n)));
  n.Out(0, y);
  return {};
}

// Returns input i. If attribute `flag` (transBatchA or transBatchB) is set, moves the first axis before the
// last axis, so that [a,b,c,d] becomes [b,c,a,d]. The attributes transA and transB apply afterwards.
Result<Value*> BatchTransposed(OnnxNode& n, int i, const char* flag) {
  Value* x = n.In(i);
  if (!n.Int(flag) || n.RankOf(i) == 1) return x;
  const int64_t rank = n.RankOf(i);
  if (rank < 0) return n.NotYet("attribute '", flag, "' with an input of unknown rank");
  std::vector<int64_t> perm;
  for (int64_t k = 1; k < rank - 1; ++k) perm.push_back(k);
  perm.push_back(0);
  perm.push_back(rank - 1);
  return Emit(n).Transpose(x, perm);
}

Status FusedMatMul(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  TERN_ASSIGN(Value * a, BatchTransposed(n, 0, "transBatchA"));
  TERN_ASSIGN(Value * b, BatchTransposed(n, 1, "transBatchB"));
  Value* y = n.b.Op("MatMul", {a, b},
                    {{"transpose_a", n.Int("transA") != 0},
                     {"transpose_b", n.Int("transB") != 0},
                     {"alpha", static_cast<double>(n.Float("alpha", 1))}});
  TERN_ASSIGN(y, Activated(n, y, ParamsByName(n)));
  n.Out(0, y);
  return {};
}

Status GemmFastGelu(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  n.Out(0, n.b.Op("Gelu", {n.b.Op("MatMul", {n.In(0), n.In(1), n.In(2)})}, {{"approximate", "tanh"}}));
  return {};
}

Status MatMulInteger16(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kInts));
  n.Out(0, n.b.Op("MatMul", {n.In(0), n.In(1)}));
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_fused) {
  table.Add(
      "FusedConv", [](OnnxNode& n) { return FusedConv(n, false); }, kMicrosoft);
  table.Add(
      "NhwcConv", [](OnnxNode& n) { return FusedConv(n, true); }, kMicrosoft);
  table.Add(
      "NhwcFusedConv", [](OnnxNode& n) { return FusedConv(n, true); }, kMicrosoft);
  table.Add("FusedGemm", FusedGemm, kMicrosoft);
  table.Add("FusedMatMul", FusedMatMul, kMicrosoft);
  table.Add("FusedMatMulActivation", FusedMatMul, kMicrosoft);
  table.Add("TransposeMatMul", FusedMatMul, kMicrosoft);
  table.Add("GemmFastGelu", GemmFastGelu, kMicrosoft);
  table.Add("MatMulInteger16", MatMulInteger16, kMicrosoft);
}

}  // namespace tern::onnx
