// Converts pooling.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

Result<AttrList> WindowOf(const LiteNode& n, const char* kind) {
  const auto& o = n.Options<fb::Pool2DOptions>();
  for (int v : {o.filter_height(), o.filter_width(), o.stride_h(), o.stride_w()})
    if (v < 1) return n.Bad("the window size or stride ", v, " is not positive");
  return AttrList{{"kind", kind},
                  {"kernel", std::vector<int64_t>{o.filter_height(), o.filter_width()}},
                  {"strides", std::vector<int64_t>{o.stride_h(), o.stride_w()}},
                  {"auto_pad", o.padding() == 0 ? "same_upper" : "valid"}};
}

// Returns whether one window covers all pixels.
bool CoversAll(const LiteNode& n, const Shape& x) {
  const auto& o = n.Options<fb::Pool2DOptions>();
  return x.rank() == 4 && x[2].Is(o.filter_height()) && x[3].Is(o.filter_width()) && o.padding() != 0;
}

Status AveragePool(LiteNode& n) {
  TERN_ASSIGN(const AttrList attrs, WindowOf(n, "average"));
  Value* x = n.Real(0, Layout::kFirst);
  Value* y = CoversAll(n, x->type.shape) ? n.b.Op("GlobalPool", {x}, {{"kind", "average"}})
                                         : n.b.Op("Pool", {x}, attrs);
  n.OutReal(0, n.Activate(y, n.Options<fb::Pool2DOptions>().activation()), Layout::kFirst);
  return {};
}

// A maximum of quantized numbers is the maximum of the stored integers, if the scale does not change.
Status MaxPool(LiteNode& n) {
  TERN_ASSIGN(const AttrList attrs, WindowOf(n, "max"));
  const int activation = n.Options<fb::Pool2DOptions>().activation();
  const bool stored = activation == 0 && n.InfoIn(0).quant == n.InfoOut(0).quant;
  Value* x = stored ? n.In(0, Layout::kFirst) : n.Real(0, Layout::kFirst);
  Value* y = n.Activate(n.b.Op("Pool", {x}, attrs), activation);
  if (stored)
    n.Out(0, y, Layout::kFirst);
  else
    n.OutReal(0, y, Layout::kFirst);
  return {};
}

// Emits the square root of the mean of squares.
Status L2Pool(LiteNode& n) {
  TERN_ASSIGN(const AttrList attrs, WindowOf(n, "average"));
  Value* x = n.Real(0, Layout::kFirst);
  Value* y = Unary(n.b, "sqrt", n.b.Op("Pool", {Binary(n.b, "mul", x, x)}, attrs));
  n.OutReal(0, n.Activate(y, n.Options<fb::Pool2DOptions>().activation()), Layout::kFirst);
  return {};
}

}  // namespace

TERN_CONVERTERS(pool) {
  table.Add("AVERAGE_POOL_2D", 1, AveragePool);
  table.Add("MAX_POOL_2D", 1, MaxPool);
  table.Add("L2_POOL_2D", 1, L2Pool);
}

}  // namespace tern::tflite
