// Converts the fused cells of recurrent networks.
#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

Value* Gate(TfNode& n, Value* gates, Value* size, int64_t i) {
  const auto at = [&](int64_t k) { return n.Binary("mul", size, n.b.Ints({k})); };
  return n.Op("Slice", {gates, at(i), at(i + 1), n.b.Ints({1})});
}

// Inputs: x, cs_prev, h_prev, w, wci, wcf, wco, b. The gates are in the order i, c, f, o.
Status LstmCell(TfNode& n) {
  Value *x = n.In(0), *c_prev = n.In(1), *h_prev = n.In(2), *size = n.DimOf(c_prev, 1);
  const bool peephole = n.Bool("use_peephole");
  Value* gates = n.Binary("add", n.Op("MatMul", {n.Concat({x, h_prev}, 1), n.In(3)}), n.In(7));
  const auto look = [&](Value* gate, Value* c, int weight) {
    return peephole ? n.Binary("add", gate, n.Binary("mul", c, n.In(weight))) : gate;
  };
  Value* i = n.Unary("sigmoid", look(Gate(n, gates, size, 0), c_prev, 4));
  Value* ci = n.Unary("tanh", Gate(n, gates, size, 1));
  Value* forget = Gate(n, gates, size, 2);
  forget = n.Binary("add", forget, n.Like(forget, n.Float("forget_bias")));
  Value* f = n.Unary("sigmoid", look(forget, c_prev, 5));
  Value* c = n.Binary("add", n.Binary("mul", ci, i), n.Binary("mul", c_prev, f));
  const float clip = n.Float("cell_clip");
  if (clip > 0) c = n.Op("Clip", {c, n.Like(c, -clip), n.Like(c, clip)});
  Value* o = n.Unary("sigmoid", look(Gate(n, gates, size, 3), c, 6));
  Value* co = n.Unary("tanh", c);
  n.Outs({i, c, f, o, ci, co, n.Binary("mul", co, o)});
  return {};
}

// Inputs: x, h_prev, w_ru, w_c, b_ru, b_c.
Status GruCell(TfNode& n) {
  Value *x = n.In(0), *h = n.In(1), *size = n.DimOf(h, 1);
  Value* gates = n.Unary("sigmoid", n.Binary("add", n.Op("MatMul", {n.Concat({x, h}, 1), n.In(2)}), n.In(4)));
  Value *r = Gate(n, gates, size, 0), *u = Gate(n, gates, size, 1);
  Value* reset = n.Concat({x, n.Binary("mul", r, h)}, 1);
  Value* c = n.Unary("tanh", n.Binary("add", n.Op("MatMul", {reset, n.In(3)}), n.In(5)));
  Value* keep = n.Binary("mul", u, h);
  n.Outs({r, u, c, n.Binary("add", keep, n.Binary("mul", n.Binary("sub", n.Like(u, 1), u), c))});
  return {};
}

}  // namespace

TERN_CONVERTERS(rnn) {
  table.Add("LSTMBlockCell", LstmCell);
  table.Add("GRUBlockCell", GruCell);
}

}  // namespace tern::tensorflow
