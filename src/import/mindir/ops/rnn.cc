// Converts LSTM, whose weights are one flat tensor: those of the input, of the state, and the biases.
#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

// MindSpore orders the gates i, f, g, o; Tern orders them i, o, f, g.
const std::vector<int64_t> kGates = {0, 3, 1, 2};

// Returns rows [4·H, columns] of a part of the weights as [1, 4·H, columns] in Tern's order of gates.
Value* GatesOf(Emit& e, Value* part, int64_t hidden, int64_t columns) {
  Value* gates = e.Gather(e.Reshape(part, {4, hidden, columns}), e.b.Ints(kGates));
  return e.Reshape(gates, {1, 4 * hidden, columns});
}

// Inputs: x [time, batch, input], h, c [1, batch, H], weights.
Status Lstm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  for (int i = 1; i < 4; ++i) TERN_TRY(Require(n, i, kFloats));
  const int64_t input = n.Int(n.kAttribute, {"input_size"}), hidden = n.Int(n.kAttribute, {"hidden_size"});
  if (input < 1 || hidden < 1 || input > 1000000 || hidden > 1000000)
    return n.Bad("sizes ", input, " and ", hidden);
  if (n.Int(n.kAttribute, {"num_layers"}, 1) != 1 || n.Bool(n.kAttribute, {"bidirectional"}))
    return n.NotYet("several layers or directions in one primitive");
  if (n.Int(n.kAttribute, {"proj_size"}, 0) != 0) return n.NotYet("proj_size");
  Emit e(n);
  Value* flat = e.Reshape(n.In(3), {-1});
  const int64_t of_state = 4 * hidden * input, of_bias = of_state + 4 * hidden * hidden;
  Value* w = GatesOf(e, e.Slice(flat, 0, of_state, 0), hidden, input);
  Value* r = GatesOf(e, e.Slice(flat, of_state, of_bias, 0), hidden, hidden);
  Value* bias = nullptr;
  if (n.Bool(n.kAttribute, {"has_bias"}, true)) {
    Value* first =
        e.Reshape(GatesOf(e, e.Slice(flat, of_bias, of_bias + 4 * hidden, 0), hidden, 1), {1, 4 * hidden});
    bias = e.Concat({first, e.Fill(n.b.Ints({1, 4 * hidden}), first->type.dtype, 0)}, 1);
  }
  auto outputs = n.b.Ops("Rnn", {n.In(0), w, r, bias, nullptr, n.In(1), n.In(2)},
                         {{"kind", "lstm"}, {"hidden_size", hidden}}, 3);
  n.OutItem(Item::Tuple({Item::Of(e.Squeeze(outputs[0], {1})), Item::Of(outputs[1]), Item::Of(outputs[2]),
                         Item::Text("the workspace of LSTM"), Item::Text("the workspace of LSTM")}));
  return {};
}

// Dropout that drops elements is random. Accepts only dropout that keeps all elements.
Status Dropout(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  const bool drop = n.op() != "Dropout";
  const double kept = drop ? 1 - n.Float(1, {"p", "drop_prob"}, 0.5) : n.Float(1, {"keep_prob"}, 0.5);
  if (kept != 1) return n.NotYet("active dropout; call net.set_train(False) before export");
  n.OutItem(Item::Tuple({n.inputs()[0], Item::Text("the mask of dropout")}));
  return {};
}

}  // namespace

TERN_CONVERTERS(rnn) {
  table.Add("LSTM", Lstm);
  for (const char* name : {"Dropout", "DropoutExt"}) table.Add(name, Dropout);
}

}  // namespace tern::mindir
