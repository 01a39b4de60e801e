// Converts convolutions.
#include "import/onnx/ops/window_attrs.h"
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

Status Conv(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(1)->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, kernel));
  attrs.emplace_back("group", n.Int("group", 1));
  n.Out(0, n.b.Op("Conv", {n.In(0), n.In(1), n.In(2)}, attrs));
  return {};
}

// Returns the spatial dims of attribute output_shape. Some exporters wrongly list batch and channels before
// them.
std::vector<int64_t> SpatialOutput(const OnnxNode& n, size_t rank) {
  auto shape = n.Ints("output_shape");
  if (rank && shape.size() == rank + 2) shape.erase(shape.begin(), shape.begin() + 2);
  return shape;
}

Status ConvTranspose(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(1)->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, kernel, true));
  attrs.emplace_back("group", n.Int("group", 1));
  attrs.emplace_back("output_padding", n.Ints("output_padding"));
  attrs.emplace_back("output_shape", SpatialOutput(n, kernel.size()));
  n.Out(0, n.b.Op("ConvTranspose", {n.In(0), n.In(1), n.In(2)}, attrs));
  return {};
}

Status DeformConv(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(1)->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, kernel));
  attrs.pop_back();  // DeformConv has no auto_pad
  attrs.emplace_back("group", n.Int("group", 1));
  attrs.emplace_back("offset_group", n.Int("offset_group", 1));
  n.Out(0, n.b.Op("DeformConv", {n.In(0), n.In(1), n.In(2), n.In(3), n.In(4)}, attrs));
  return {};
}

// Emits the past for the first step, in which the node has no past. For x [N, C, T] and w [C, 1, K], it
// consists of zeros [N, C, K - 1].
Value* Zeros(OnnxNode& n, Value* x, Value* w) {
  Builder& b = n.b;
  Value* lead = b.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{2}}});
  Value* taps = b.Op("Shape", {w}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  Value* past = b.Op("Binary", {taps, b.Ints({1})}, {{"kind", "sub"}});
  return b.Op("Fill", {b.Op("Concat", {lead, past}, {{"axis", int64_t{0}}})},
              {{"value", Tensor::Of(x->type.dtype, {1}, {0})}});
}

Value* LengthOf(Builder& b, Value* x, int64_t axis) {
  return b.Op("Gather", {b.Op("Shape", {x}), b.Scalar(DType::kI64, static_cast<double>(axis))},
              {{"axis", int64_t{0}}});
}

// Emits 0, 1, … length - 1, as a column [length, 1] or as a vector [length].
Value* Counting(Builder& b, Value* length, bool column) {
  Value* range = b.Op("Range", {b.Scalar(DType::kI64, 0), length, b.Scalar(DType::kI64, 1)});
  return column ? b.Op("Unsqueeze", {range, b.Ints({1})}) : range;
}

// Emits a depthwise convolution of x [N, C, length + K - 1] with w [C, 1, K] without the op Conv. This serves
// the case that C is unknown, because Conv's attribute `group` would have to be C. Gathers the windows [N, C,
// length, K] of x, multiplies them by w and sums over K.
Value* SumWindows(OnnxNode& n, Value* x, Value* w, Value* length, Value* bias) {
  Builder& b = n.b;
  Value* at =
      b.Op("Binary", {Counting(b, length, true), Counting(b, LengthOf(b, w, 2), false)}, {{"kind", "add"}});
  Value* windows = b.Op("Gather", {x, at}, {{"axis", int64_t{2}}});
  Value* y = b.Op("Reduce", {b.Op("Binary", {windows, w}, {{"kind", "mul"}}), b.Ints({-1})},
                  {{"kind", "sum"}, {"keep_dims", false}});
  return bias ? b.Op("Binary", {y, b.Op("Unsqueeze", {bias, b.Ints({1})})}, {{"kind", "add"}}) : y;
}

// Concatenates the past and the input, and emits a depthwise convolution of the result. If the node has no
// past, uses zeros. The last elements of the concatenation become the next past, which has the same length as
// the past.
Status CausalConvWithState(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  Builder& b = n.b;
  Value *x = n.In(0), *w = n.In(1);
  const Shape& weight = w->type.shape;
  const Dim channels = weight.ranked ? weight[0] : x->type.shape.rank() == 3 ? x->type.shape[1] : Dim();
  Value* past = n.Has(3) ? n.In(3) : Zeros(n, x, w);
  Value* all = b.Op("Concat", {past, x}, {{"axis", int64_t{2}}});
  Value* y = channels.known() ? b.Op("Conv", {all, w, n.In(2)}, {{"group", channels.value()}})
                              : SumWindows(n, all, w, LengthOf(b, x, 2), n.In(2));
  const std::string activation = n.Text("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = b.Op("Activation", {y}, {{"kind", "swish"}, {"alpha", 1.0}});
  else if (activation != "none")
    return n.Bad("activation '", activation, "' must be none, silu or swish");
  n.Out(0, y);
  if (!n.Wants(1)) return {};
  Value* total = b.Op("Shape", {all}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  Value* kept = b.Op("Shape", {past}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  Value* start = b.Op("Binary", {total, kept}, {{"kind", "sub"}});
  n.Out(1, b.Op("Slice", {all, start, total, b.Ints({2})}));
  return {};
}

}  // namespace

TERN_CONVERTERS(conv) {
  table.Add("Conv", Conv);
  table.Add("ConvTranspose", ConvTranspose);
  table.Add("DeformConv", DeformConv);
  table.Add("CausalConvWithState", CausalConvWithState);
}

}  // namespace tern::onnx
