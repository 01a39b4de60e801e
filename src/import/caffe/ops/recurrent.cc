// Converts recurrent layers. A step multiplies the previous state by `cont`, which is 0 at the start of a
// sequence.
#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

struct Recurrent {
  int64_t steps = 0, batch = 0, outputs = 0, inputs = 0;
  bool has_static = false, expose = false;
  Value* gates = nullptr;  // [steps, batch, gates]: the part of the gates that depends on the inputs
  Value* cont = nullptr;   // [steps, batch, 1]
  int next_blob = 0;
  int next_bottom = 0;
};

int64_t CountFrom(const Dims& dims, size_t first) {
  return CountOf(Dims(dims.begin() + static_cast<int64_t>(first), dims.end()));
}

// Reads the bottoms x, cont and the optional x_static, and emits their part of the gates.
Result<Recurrent> InputsOf(Layer& n, int64_t gate_count, int states) {
  const auto& p = n.proto.recurrent_param();
  Recurrent r;
  TERN_ASSIGN(const Dims x, n.DimsOf(0));
  TERN_ASSIGN(const Dims cont, n.DimsOf(1));
  if (x.size() < 2 || cont.size() != 2 || cont[0] != x[0] || cont[1] != x[1])
    return n.Bad("the bottoms must be [steps,batch,…] and [steps,batch], got [", Join(x, ","), "] and [",
                 Join(cont, ","), "]");
  r.steps = x[0], r.batch = x[1], r.outputs = p.num_output(), r.inputs = CountFrom(x, 2),
  r.expose = p.expose_hidden();
  if (r.outputs < 1) return n.Bad("num_output is missing");
  const int extra = n.Bottoms() - 2 - (r.expose ? states : 0);
  if (extra < 0 || extra > 1) return n.Bad("has ", n.Bottoms(), " bottoms");
  r.has_static = extra == 1;
  const int64_t gates = gate_count * r.outputs;
  TERN_ASSIGN(Value* const w, n.BlobValue(0, {gates, r.inputs}));
  TERN_ASSIGN(Value* const bias, n.BlobValue(1, {gates}));
  Value* flat = Reshaped(n, n.In(0), {r.steps, r.batch, r.inputs});
  r.gates = n.b.Op("MatMul", {flat, w, bias}, {{"transpose_b", true}});
  r.next_blob = 2, r.next_bottom = 2;
  if (r.has_static) {
    TERN_ASSIGN(const Dims fixed, n.DimsOf(2));
    if (fixed.empty() || fixed[0] != r.batch)
      return n.Bad("the static bottom must be [batch,…], got [", Join(fixed, ","), "]");
    TERN_ASSIGN(Value* const ws, n.BlobValue(2, {gates, CountFrom(fixed, 1)}));
    Value* part = n.b.Op("MatMul", {Reshaped(n, n.In(2), {r.batch, -1}), ws}, {{"transpose_b", true}});
    r.gates = Binary(n, "add", r.gates, part);
    r.next_blob = 3, r.next_bottom = 3;
  }
  r.cont = n.b.Op("Unsqueeze", {n.In(1), n.b.Ints({2})});
  return r;
}

// Returns the initial state, which is a bottom or zeros.
Result<Value*> InitialState(Layer& n, Recurrent& r) {
  if (r.expose) return Reshaped(n, n.In(r.next_bottom++), {r.batch, r.outputs});
  return n.b.Op("Fill", {n.b.Ints({r.batch, r.outputs})}, {{"value", Tensor::Of(DType::kF32, {1}, {0})}});
}

// Emits the ops of one step into `graph`: the body of a Scan, or the graph of an LSTMUnit.
struct Body {
  Graph* graph;
  Builder b;
  explicit Body(Graph* g) : graph(g), b(*g) {}
  Value* Input(const char* name, const Dims& dims) {
    return graph->AddInput(name, Type::TensorOf(DType::kF32, Shape::Of(dims)));
  }
  Value* Two(const char* kind, Value* x, Value* y) { return b.Op("Binary", {x, y}, {{"kind", kind}}); }
  Value* One(const char* kind, Value* x) { return b.Op("Unary", {x}, {{"kind", kind}}); }
  Value* Product(Value* x, Value* w, Value* bias = nullptr) {
    return b.Op("MatMul", {x, w, bias}, {{"transpose_b", true}});
  }
  Value* Part(Value* x, int64_t i, int64_t size) {
    return b.Op("Slice", {x, b.Ints({i * size}), b.Ints({(i + 1) * size}), b.Ints({-1})});
  }
};

struct Cell {
  Value *h, *c;
};

// One step of an LSTM. The gates are in the order input, forget, output, candidate.
Cell LstmStep(Body& s, Value* gates, Value* c, Value* cont, int64_t size) {
  Value* in = s.One("sigmoid", s.Part(gates, 0, size));
  Value* forget = s.Two("mul", s.One("sigmoid", s.Part(gates, 1, size)), cont);
  Value* out = s.One("sigmoid", s.Part(gates, 2, size));
  Value* candidate = s.One("tanh", s.Part(gates, 3, size));
  Value* next = s.Two("add", s.Two("mul", forget, c), s.Two("mul", in, candidate));
  return {s.Two("mul", out, s.One("tanh", next)), next};
}

Status Lstm(Layer& n) {
  TERN_ASSIGN(Recurrent r, InputsOf(n, 4, 2));
  TERN_ASSIGN(Value* const w, n.BlobValue(r.next_blob, {4 * r.outputs, r.outputs}));
  TERN_ASSIGN(Value* const h0, InitialState(n, r));
  TERN_ASSIGN(Value* const c0, InitialState(n, r));
  TERN_TRY(Status(n.b.status()));
  Node* scan = n.b.Open("Scan", {h0, c0, r.gates, r.cont}, {{"scan_inputs", int64_t{2}}}, 3);
  Body s(scan->graph->AddSubgraph(scan, "body"));
  Value *h = s.Input("h", {r.batch, r.outputs}), *c = s.Input("c", {r.batch, r.outputs});
  Value *gates = s.Input("gates", {r.batch, 4 * r.outputs}), *cont = s.Input("cont", {r.batch, 1});
  Value* sum = s.Two("add", s.Product(s.Two("mul", h, cont), w), gates);
  const Cell next = LstmStep(s, sum, c, cont, r.outputs);
  Value* each = s.b.Op("Identity", {next.h});
  TERN_TRY(Status(s.b.status()));
  s.graph->SetOutputs({next.h, next.c, each});
  n.b.Finish(scan);
  n.Out(0, scan->output(2));
  for (int i = 1; i < n.Tops(); ++i) n.Out(i, Reshaped(n, scan->output(i - 1), {1, r.batch, r.outputs}));
  return {};
}

Status Rnn(Layer& n) {
  TERN_ASSIGN(Recurrent r, InputsOf(n, 1, 1));
  TERN_ASSIGN(Value* const w, n.BlobValue(r.next_blob, {r.outputs, r.outputs}));
  TERN_ASSIGN(Value* const w_out, n.BlobValue(r.next_blob + 1, {r.outputs, r.outputs}));
  TERN_ASSIGN(Value* const b_out, n.BlobValue(r.next_blob + 2, {r.outputs}));
  TERN_ASSIGN(Value* const h0, InitialState(n, r));
  TERN_TRY(Status(n.b.status()));
  Node* scan = n.b.Open("Scan", {h0, r.gates, r.cont}, {{"scan_inputs", int64_t{2}}}, 2);
  Body s(scan->graph->AddSubgraph(scan, "body"));
  Value* h = s.Input("h", {r.batch, r.outputs});
  Value *gates = s.Input("gates", {r.batch, r.outputs}), *cont = s.Input("cont", {r.batch, 1});
  Value* next = s.One("tanh", s.Two("add", s.Product(s.Two("mul", h, cont), w), gates));
  Value* each = s.One("tanh", s.Product(next, w_out, b_out));
  TERN_TRY(Status(s.b.status()));
  s.graph->SetOutputs({next, each});
  n.b.Finish(scan);
  n.Out(0, scan->output(1));
  if (n.Tops() > 1) n.Out(1, Reshaped(n, scan->output(0), {1, r.batch, r.outputs}));
  return {};
}

// One step: the bottoms are the previous cell [1, N, D], the gates [1, N, 4 D] and cont [1, N].
Status LstmUnit(Layer& n) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.size() != 3) return n.Bad("the first bottom must be [1,batch,size], got [", Join(dims, ","), "]");
  Body s(&n.b.graph());
  s.b.At(n.proto.name(), n.proto.type());
  Value* cont = n.b.Op("Unsqueeze", {n.In(2), n.b.Ints({2})});
  const Cell next = LstmStep(s, n.In(1), n.In(0), cont, dims[2]);
  TERN_TRY(Status(s.b.status()));
  n.Out(0, next.c);
  n.Out(1, next.h);
  return {};
}

}  // namespace

TERN_CONVERTERS(recurrent) {
  table.Add("LSTM", Lstm, {2, 5, 1, 3});
  table.Add("RNN", Rnn, {2, 4, 1, 2});
  table.Add("LSTMUnit", LstmUnit, {3, 3, 2, 2});
}

}  // namespace tern::caffe
