// Converts operators of com.microsoft that equal an ONNX operator or a few Tern ops.
#include <algorithm>

#include "import/onnx/graph_importer.h"
#include "import/onnx/ops/emit.h"
#include "import/onnx/ops/window_attrs.h"

namespace tern::onnx {
namespace {

// Returns the converter of the ai.onnx operator `op`. That converter must not depend on the opset's version,
// because the node's version is that of com.microsoft.
Converter SameAs(const char* op) {
  return [=](OnnxNode& n) -> Status { return (*Converters().Find("", op))(n); };
}

Status ExpandDims(OnnxNode& n) {
  TERN_TRY(Require(n, 1, kInts));
  Emit e(n);
  n.Out(0, n.b.Op("Unsqueeze", {n.In(0), e.Reshape(e.Cast(n.In(1), DType::kI64), {1})}));
  return {};
}

Status MsPad(OnnxNode& n) {
  Emit e(n);
  Value* value = n.Has(2) && n.RankOf(2) != 0 ? n.b.Op("Reshape", {n.In(2), n.b.Ints({})}) : n.In(2);
  n.Out(0, n.b.Op("Pad", {n.In(0), e.Reshape(n.In(1), {-1}), value}, {{"mode", n.Text("mode", "constant")}}));
  return {};
}

// The first output y contains the distinct elements of x in the order of first appearance. The second output
// contains the index in y of each element of x. The third output contains the number of occurrences of each
// element of y.
Status MsUnique(OnnxNode& n) {
  const auto out = n.b.Ops("Unique", {n.In(0)}, {{"flatten", true}, {"sorted", false}}, 4);
  n.Out({out[0], out[2], out[3]});
  return {};
}

Status Range(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  const auto scalar = [&](int i) {
    return n.RankOf(i) == 0 ? n.In(i) : e.b.Op("Reshape", {n.In(i), n.b.Ints({})});
  };
  n.Out(0, n.b.Op("Range", {scalar(0), scalar(1), n.Has(2) ? scalar(2) : e.Like(n.In(0), 1)}));
  return {};
}

// Emits the squared distance of rows a and b as |a|² + |b|² - 2 * a·b, or its square root if the metric is
// euclidean. Computes it in f64 to limit cancellation.
Status CDist(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  Emit e(n);
  const std::string metric = n.Text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") return n.NotYet("metric '", metric, "'");
  Value *a = e.Cast(n.In(0), DType::kF64), *b = e.Cast(n.In(1), DType::kF64);
  Value* rows = e.Reduce("sum_square", a, {1}, true);
  Value* columns = e.Transpose(e.Reduce("sum_square", b, {1}, true), {1, 0});
  Value* cross = n.b.Op("MatMul", {a, b}, {{"transpose_b", true}, {"alpha", -2.0}});
  Value* y = e.Binary("max", e.Add(e.Add(rows, columns), cross), n.b.Scalar(DType::kF64, 0));
  if (metric == "euclidean") y = e.Unary("sqrt", y);
  n.Out(0, e.Cast(y, n.TypeOf(0)));
  return {};
}

// Extracts windows of `size` elements along an axis and puts their elements in a new last axis. With size 3
// and step 1, [5] becomes [3,3].
Status UnfoldTensor(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kAnyType));
  const int rank = n.RankOf(0);
  if (rank < 1) return n.NotYet("an input of type ", n.In(0)->type.ToString());
  TERN_ASSIGN(const int axis, NormalizeAxis(n.Int("dim", -1), rank));
  const int64_t size = n.Int("size"), step = n.Int("step", 1);
  if (size < 1 || step < 1) return n.Bad("size and step must be at least 1, got ", size, " and ", step);
  Emit e(n);
  Value* end = e.Sub(e.SizeOf(n.In(0), axis), n.b.Ints({size - 1}));
  Value* starts = n.b.Op("Range", {e.Long(0), e.Squeeze(end, {0}), e.Long(step)});
  Value* windows = e.Gather(n.In(0), e.Add(e.Unsqueeze(starts, {1}), e.CountTo(n.b.Ints({size}))), axis);
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= rank; ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  n.Out(0, e.Transpose(windows, perm));
  return {};
}

Status ScaledSilu(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  Value* scale = n.Has(1) ? e.Cast(n.In(1), n.TypeOf(0)) : e.Like(n.In(0), n.Float("alpha", 1));
  n.Out(0, n.b.Op("Activation", {e.Mul(n.In(0), scale)}, {{"kind", "swish"}, {"alpha", 1.0}}));
  return {};
}

// Crops y by `pads`, which are known only at run time. y is the result of a transposed convolution without
// pads.
Value* CutPads(Emit& e, Value* y, Value* pads, int64_t spatial) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < spatial; ++i) axes.push_back(i + 2);
  const auto sides = e.b.Ops("Split", {pads}, {{"axis", int64_t{0}}, {"num_outputs", int64_t{2}}}, 2);
  Value* ends = e.Sub(e.b.Op("Shape", {y}, {{"start", int64_t{2}}}), sides[1]);
  return e.b.Op("Slice", {y, sides[0], ends, e.b.Ints(axes)});
}

Status ConvTransposeWithPads(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  const auto known = n.Has(2) ? n.Longs(2) : std::vector<int64_t>();
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(1)->type.shape));
  if (!known && kernel.empty()) return n.NotYet("a weight of unknown rank");
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, kernel, true));
  attrs.erase(std::remove_if(attrs.begin(), attrs.end(), [](const auto& a) { return a.name == "pads"; }),
              attrs.end());
  attrs.insert(attrs.end(), {{"group", n.Int("group", 1)}, {"output_padding", n.Ints("output_padding")}});
  if (known) attrs.emplace_back("pads", *known);
  Emit e(n);
  Value* y = n.b.Op("ConvTranspose", {n.In(0), n.In(1), n.In(3)}, attrs);
  n.Out(0, known ? y : CutPads(e, y, n.In(2), static_cast<int64_t>(kernel.size())));
  return {};
}

// Emits the Fourier transform of the last axis. A new last axis of size 2 contains real and imaginary parts.
Status Rfft(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  if (n.Int("signal_ndim", 1) != 1 || n.Int("normalized") || !n.Int("onesided", 1))
    return n.NotYet("signal_ndim other than 1, normalized=1 or onesided=0");
  Emit e(n);
  n.Out(0, n.b.Op("DFT", {e.Unsqueeze(n.In(0), {-1}), nullptr, n.b.Ints({-2})}, {{"onesided", true}}));
  return {};
}

// The input contains the first half of the spectrum. The second half is the first half without its first and
// last elements, reversed and conjugated.
Status Irfft(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  if (n.Int("signal_ndim", 1) != 1 || n.Int("normalized") || !n.Int("onesided", 1))
    return n.NotYet("signal_ndim other than 1, normalized=1 or onesided=0");
  Emit e(n);
  Value* x = n.In(0);
  Value* middle = n.b.Op("Slice", {x, n.b.Ints({-2}), n.b.Ints({0}), n.b.Ints({-2}), n.b.Ints({-1})});
  Value* signs = n.b.Const(Tensor::Of(x->type.dtype, {2}, {1, -1}));
  Value* inverse =
      n.b.Op("DFT", {e.Concat({x, e.Mul(middle, signs)}, -2), nullptr, n.b.Ints({-2})}, {{"inverse", true}});
  n.Out(0, e.Squeeze(n.b.Op("Slice", {inverse, n.b.Ints({0}), n.b.Ints({1}), n.b.Ints({-1})}), {-1}));
  return {};
}

Result<Value*> ExpertActivation(Emit& e, Value* x) {
  const std::string kind = e.n.Text("activation_type", "relu");
  if (kind == "relu") return e.Unary("relu", x);
  if (kind == "gelu") return e.b.Op("Gelu", {x}, {{"approximate", "tanh"}});
  if (kind == "silu") return e.b.Op("Activation", {x}, {{"kind", "swish"}, {"alpha", 1.0}});
  if (kind == "identity") return x;
  return e.n.NotYet("experts with activation '", kind, "'");
}

// Emits the sum of all experts' results, weighted by the router's probabilities. Every expert computes all
// rows. The weight of an expert that is not among the top k of a row is 0.
Status MixtureOfExperts(OnnxNode& n) {
  for (int i : {0, 1, 2, 4}) TERN_TRY(Require(n, i, kFloats));
  if (n.Has(6) || n.Int("use_sparse_mixer") || n.Int("swiglu_fusion"))
    return n.NotYet("experts with a third layer, a sparse mixer or a fused SwiGLU");
  const Shape& router = n.In(1)->type.shape;
  if (router.rank() != 2) return n.NotYet("router_probs of type ", n.In(1)->type.ToString());
  Emit e(n);
  Value* probabilities = n.b.Op("Softmax", {n.In(1)}, {{"axis", int64_t{-1}}});
  const auto top = n.b.Ops("TopK", {probabilities, n.b.Ints({n.Int("k", 1)})}, {{"axis", int64_t{-1}}}, 2);
  Value* share = n.Int("normalize_routing_weights")
                     ? e.Binary("div", top[0], e.Reduce("sum", top[0], {1}, true))
                     : top[0];
  Value* zeros = e.Mul(probabilities, e.Like(probabilities, 0));
  Value* weights = n.b.Op("ScatterElements", {zeros, top[1], share}, {{"axis", int64_t{1}}});
  Value* x = n.RankOf(0) == 3
                 ? e.b.Op("Reshape", {n.In(0), e.Concat({n.b.Ints({-1}), e.SizeOf(n.In(0), 2)}, 0)})
                 : n.In(0);
  const auto layer = [&](Value* in, int weight, int bias) {
    Value* y = n.b.Op("MatMul", {in, n.In(weight)}, {{"transpose_b", true}});
    return n.Has(bias) ? e.Add(y, e.Unsqueeze(n.In(bias), {1})) : y;
  };
  TERN_ASSIGN(Value * hidden, ExpertActivation(e, layer(e.Unsqueeze(x, {0}), 2, 3)));
  Value* per_expert = e.Mul(layer(hidden, 4, 5), e.Unsqueeze(e.Transpose(weights, {1, 0}), {2}));
  Value* y = e.Reduce("sum", per_expert, {0}, false);
  n.Out(0, n.RankOf(0) == 3 ? n.b.Op("Reshape", {y, n.b.Op("Shape", {n.In(0)})}) : y);
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_misc) {
  table.Add("ExpandDims", ExpandDims, kMicrosoft);
  table.Add("Pad", MsPad, kMicrosoft);
  table.Add("Unique", MsUnique, kMicrosoft);
  table.Add("Range", Range, kMicrosoft);
  table.Add("Trilu", SameAs("Trilu"), kMicrosoft);
  table.Add("GatherND", SameAs("GatherND"), kMicrosoft);
  table.Add("GridSample", SameAs("GridSample"), kMicrosoft);
  table.Add("CausalConvWithState", SameAs("CausalConvWithState"), kMicrosoft);
  table.Add("LinearAttention", SameAs("LinearAttention"), kMicrosoft);
  table.Add("Inverse", Direct("Inverse"), kMicrosoft);
  table.Add("CDist", CDist, kMicrosoft);
  table.Add("UnfoldTensor", UnfoldTensor, kMicrosoft);
  table.Add("ScaledSiLU", ScaledSilu, kMicrosoft);
  table.Add("ConvTransposeWithDynamicPads", ConvTransposeWithPads, kMicrosoft);
  table.Add("Rfft", Rfft, kMicrosoft);
  table.Add("Irfft", Irfft, kMicrosoft);
  table.Add("MoE", MixtureOfExperts, kMicrosoft);
  table.Add("MurmurHash3", Direct("MurmurHash3", {"seed", "positive"}), kMicrosoft);
}

}  // namespace tern::onnx
