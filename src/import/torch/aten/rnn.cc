// Recurrent layers and cells.
#include <algorithm>
#include <limits>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// Reorders the gates from PyTorch's order (LSTM i f g o, GRU r z n) to ONNX's order, which Tern uses (LSTM i
// o f c, GRU z r h).
Value* Reordered(Builder& b, Value* w, const std::vector<int64_t>& order) {
  Emit e(b);
  if (order.size() == 1) return w;
  const auto parts =
      b.Ops("Split", {w}, {{"axis", int64_t{0}}, {"num_outputs", static_cast<int64_t>(order.size())}},
            static_cast<int>(order.size()));
  std::vector<Value*> sorted;
  for (const int64_t i : order) sorted.push_back(parts[static_cast<size_t>(i)]);
  return e.Concat(sorted, 0);
}

struct Cell {
  const char* kind;
  std::vector<int64_t> order;
  const char* activation = nullptr;
};

struct Layer {
  std::vector<Value*> w, r, bias;  // one per direction
};

// Joins the directions of a parameter along a new first axis.
Value* Directions(Builder& b, const std::vector<Value*>& parts) {
  Emit e(b);
  std::vector<Value*> rows;
  for (Value* v : parts) rows.push_back(e.Unsqueeze(v, {0}));
  return e.Concat(rows, 0);
}

// The parameters of one direction of an LSTM with a projection of its outputs, in PyTorch's order. The biases
// may be null.
struct Projected {
  Value *w, *r, *w_bias, *r_bias, *projection;
};

// Returns the sequence in the other order.
Value* Reversed(Builder& b, Value* x) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::min();
  return Emit(b).Slice(x, 0, -1, kAll, -1);
}

// Runs one direction over x [length, batch, size] from h [batch, projected] and c [batch, hidden]. Returns
// the outputs [length, batch, projected] and the last h and c. Rnn has no projection, so this is a Scan over
// the steps.
Result<std::vector<Value*>> RunProjected(AtenNode& n, Value* x, Value* h, Value* c, const Projected& p,
                                         bool backward) {
  const AttrList transposed = {{"transpose_b", true}};
  Value* inputs = n.b.Op("MatMul", {backward ? Reversed(n.b, x) : x, p.w, p.w_bias}, transposed);
  Node* scan = n.b.Open("Scan", {h, c, inputs}, {{"scan_inputs", int64_t{1}}}, 3);
  Graph* body = n.b.graph().AddSubgraph(scan, "body");
  Value *h_in = body->AddInput("h", h->type), *c_in = body->AddInput("c", c->type);
  Type step = inputs->type;
  if (step.shape.rank() > 0) step.shape.dims.erase(step.shape.dims.begin());
  Value* now = body->AddInput("step", step);
  Builder b(*body);
  b.At(n.name, n.origin);
  Emit e(b);
  Value* gates = e.Add(now, b.Op("MatMul", {h_in, p.r, p.r_bias}, transposed));
  const auto g = b.Ops("Split", {gates}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{4}}}, 4);
  Value* cell =
      e.Add(e.Mul(e.Unary("sigmoid", g[1]), c_in), e.Mul(e.Unary("sigmoid", g[0]), e.Unary("tanh", g[2])));
  Value* hidden = e.Mul(e.Unary("sigmoid", g[3]), e.Unary("tanh", cell));
  Value* next = b.Op("MatMul", {hidden, p.projection}, transposed);
  Value* y = b.Op("Identity", {next});
  TERN_TRY(Status(b.status()));
  body->SetOutputs({next, cell, y});
  n.b.Finish(scan);
  TERN_TRY(Status(n.b.status()));
  const auto& out = scan->outputs();
  return std::vector<Value*>{backward ? Reversed(n.b, out[2]) : out[2], out[0], out[1]};
}

// Returns row `i` of the states of all layers and directions.
Value* StateOf(Builder& b, Value* all, int64_t i) {
  Emit e(b);
  return e.Squeeze(e.Slice(all, 0, i, i + 1), {0});
}

// Runs all layers of an LSTM with projections. Returns y, h and c. Recurrent changes the order of their axes
// afterwards.
Result<std::vector<Value*>> ProjectedLayers(AtenNode& n, Value* x, const std::vector<Value*>& states,
                                            const std::vector<Value*>& params, int64_t layers,
                                            int64_t directions, bool bias) {
  Emit e(n.b);
  const size_t per = bias ? 5 : 3;
  std::vector<Value*> last_h, last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<Value*> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t row = layer * directions + d;
      Value* const* at = params.data() + static_cast<size_t>(row) * per;
      const Projected p{at[0], at[1], bias ? at[2] : nullptr, bias ? at[3] : nullptr, at[per - 1]};
      TERN_ASSIGN(const auto out,
                  RunProjected(n, x, StateOf(n.b, states[0], row), StateOf(n.b, states[1], row), p, d == 1));
      outputs.push_back(out[0]);
      last_h.push_back(e.Unsqueeze(out[1], {0}));
      last_c.push_back(e.Unsqueeze(out[2], {0}));
    }
    x = e.Concat(outputs, -1);
  }
  return std::vector<Value*>{x, e.Concat(last_h, 0), e.Concat(last_c, 0)};
}

Status Recurrent(AtenNode& n, const Cell& cell) {
  Emit e(n.b);
  const bool lstm = std::string_view(cell.kind) == "lstm", bias = n.Bool("has_biases"),
             both = n.Bool("bidirectional");
  if (!n.HasParameter("input")) return n.NotYet("a packed sequence");
  if (n.Bool("train") && n.Float("dropout") > 0 && n.Int("num_layers") > 1)
    return n.NotYet("dropout in training mode");
  const std::vector<Value*> params = n.Ins("params");
  const int64_t layers = n.Int("num_layers"), directions = both ? 2 : 1;
  if (layers < 1 || layers > 1000) return n.NotYet(layers, " layers");
  const bool first = n.Bool("batch_first");
  Value* x = n.In("input");
  std::vector<Value*> states = n.Get("hx").list() ? n.Ins("hx") : std::vector<Value*>{n.In("hx")};
  const bool unbatched = x->type.shape.rank() == 2;
  if (unbatched) {
    x = e.Unsqueeze(x, {1});
    for (Value*& s : states) s = e.Unsqueeze(s, {1});
  } else if (first) {
    x = e.Transpose(x, {1, 0, 2});
  }
  const auto per = static_cast<int64_t>(params.size()) / (layers * directions);
  const bool projected = lstm && per == (bias ? 5 : 3);
  if (projected && x->type.shape.ranked && x->type.shape.rank() != 3)
    return n.Bad("an input ", x->type.ToString());
  if (per * layers * directions != static_cast<int64_t>(params.size()) ||
      (per != (bias ? 4 : 2) && !projected))
    return n.NotYet(params.size(), " parameters for ", layers, " layers");
  if (states.size() != (lstm ? 2u : 1u)) return n.Bad(states.size(), " states");
  const auto finish = [&](std::vector<Value*> results) {
    if (first && !unbatched) results[0] = e.Transpose(results[0], {1, 0, 2});
    for (Value*& v : results)
      if (unbatched) v = e.Squeeze(v, {1});
    n.Out(results);
  };
  if (projected) {
    TERN_ASSIGN(auto results, ProjectedLayers(n, x, states, params, layers, directions, bias));
    finish(std::move(results));
    return {};
  }
  std::vector<Value*> last_h, last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Layer p;
    for (int64_t d = 0; d < directions; ++d) {
      const auto at = static_cast<size_t>((layer * directions + d) * per);
      p.w.push_back(Reordered(n.b, params[at], cell.order));
      p.r.push_back(Reordered(n.b, params[at + 1], cell.order));
      if (bias)
        p.bias.push_back(e.Concat(
            {Reordered(n.b, params[at + 2], cell.order), Reordered(n.b, params[at + 3], cell.order)}, 0));
    }
    const auto state = [&](Value* all) {
      return e.Slice(all, 0, layer * directions, (layer + 1) * directions);
    };
    AttrList attrs = {{"kind", cell.kind},
                      {"direction", both ? "bidirectional" : "forward"},
                      {"linear_before_reset", true}};
    if (cell.activation)
      attrs.emplace_back("activations",
                         std::vector<std::string>(static_cast<size_t>(directions), cell.activation));
    const auto out =
        n.b.Ops("Rnn",
                {x, Directions(n.b, p.w), Directions(n.b, p.r), bias ? Directions(n.b, p.bias) : nullptr,
                 nullptr, state(states[0]), lstm ? state(states[1]) : nullptr},
                attrs, lstm ? 3 : 2);
    // [length, directions, batch, hidden] → [length, batch, directions * hidden]
    x = both ? e.Reshape(e.Transpose(out[0], {0, 2, 1, 3}), {0, 0, -1}) : e.Squeeze(out[0], {1});
    last_h.push_back(out[1]);
    if (lstm) last_c.push_back(out[2]);
  }
  std::vector<Value*> results = {x, e.Concat(last_h, 0)};
  if (lstm) results.push_back(e.Concat(last_c, 0));
  finish(std::move(results));
  return {};
}

// input @ wᵀ + b
Value* Affine(AtenNode& n, Value* x, const char* weight, const char* bias) {
  return n.b.Op("MatMul", {x, n.In(weight), n.In(bias)}, {{"transpose_b", true}});
}

Status LstmCell(AtenNode& n) {
  Emit e(n.b);
  const std::vector<Value*> state = n.Ins("hx");
  if (state.size() != 2) return n.Bad(state.size(), " states");
  Value* gates = e.Add(Affine(n, n.In("input"), "w_ih", "b_ih"), Affine(n, state[0], "w_hh", "b_hh"));
  const auto g = n.b.Ops("Split", {gates}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{4}}}, 4);
  Value* c = e.Add(e.Mul(e.Unary("sigmoid", g[1]), state[1]),
                   e.Mul(e.Unary("sigmoid", g[0]), e.Unary("tanh", g[2])));
  n.Out({e.Mul(e.Unary("sigmoid", g[3]), e.Unary("tanh", c)), c});
  return {};
}

Status GruCell(AtenNode& n) {
  Emit e(n.b);
  Value* h = n.In("hx");
  const AttrList three = {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}};
  const auto x = n.b.Ops("Split", {Affine(n, n.In("input"), "w_ih", "b_ih")}, three, 3);
  const auto y = n.b.Ops("Split", {Affine(n, h, "w_hh", "b_hh")}, three, 3);
  Value *r = e.Unary("sigmoid", e.Add(x[0], y[0])), *z = e.Unary("sigmoid", e.Add(x[1], y[1]));
  Value* fresh = e.Unary("tanh", e.Add(x[2], e.Mul(r, y[2])));
  n.Out(e.Add(fresh, e.Mul(z, e.Sub(h, fresh))));
  return {};
}

Status RnnCell(AtenNode& n, const char* kind) {
  Emit e(n.b);
  n.Out(
      e.Unary(kind, e.Add(Affine(n, n.In("input"), "w_ih", "b_ih"), Affine(n, n.In("hx"), "w_hh", "b_hh"))));
  return {};
}

}  // namespace

TERN_CONVERTERS(rnn) {
  table.Add("aten::lstm", [](AtenNode& n) { return Recurrent(n, {"lstm", {0, 3, 1, 2}}); });
  table.Add("aten::gru", [](AtenNode& n) { return Recurrent(n, {"gru", {1, 0, 2}}); });
  table.Add("aten::rnn_tanh", [](AtenNode& n) { return Recurrent(n, {"rnn", {0}, "tanh"}); });
  table.Add("aten::rnn_relu", [](AtenNode& n) { return Recurrent(n, {"rnn", {0}, "relu"}); });
  table.Add("aten::lstm_cell", LstmCell);
  table.Add("aten::gru_cell", GruCell);
  table.Add("aten::rnn_tanh_cell", [](AtenNode& n) { return RnnCell(n, "tanh"); });
  table.Add("aten::rnn_relu_cell", [](AtenNode& n) { return RnnCell(n, "relu"); });
}

}  // namespace tern::torch
