// Rnn: one recurrent layer (simple RNN, GRU or LSTM) over a sequence [length, batch, features].
#include <algorithm>

#include "ir/eval_context.h"
#include "ir/graph.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/rnn/activation.h"
#include "ops/rnn/cell.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

enum class Direction { kForward, kReverse, kBidirectional };

struct Rnn {
  RnnKind kind = RnnKind::kLstm;
  Direction direction = Direction::kForward;
  int64_t hidden_size = 0;
  std::vector<std::string> activations;
  std::vector<float> activation_alpha, activation_beta;
  float clip = 0;
  bool linear_before_reset = false, input_forget = false;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"rnn", "gru", "lstm"}, "the cell");
    v.Enum("direction", direction, {"forward", "reverse", "bidirectional"},
           "the direction in which a sequence is read");
    v("hidden_size", hidden_size, "size of the state; 0 means the last dim of r");
    v("activations", activations,
      "names of the functions f (rnn), f and g (gru) or f, g and h (lstm), per direction; empty means sigmoid for gates and tanh for others");
    v("activation_alpha", activation_alpha, "one per activation; empty means each function's default");
    v("activation_beta", activation_beta, "one per activation; empty means each function's default");
    v("clip", clip, "inputs of the activations f and g are clamped to [-clip, clip]; 0 means no clamping");
    v("linear_before_reset", linear_before_reset, "gru: the reset gate is applied after the product with r");
    v("input_forget", input_forget, "lstm: the forget gate is 1 - the input gate");
  }
};

int Directions(const Rnn& op) { return op.direction == Direction::kBidirectional ? 2 : 1; }
int Gates(const Rnn& op) { return op.kind == RnnKind::kRnn ? 1 : op.kind == RnnKind::kGru ? 3 : 4; }

// Returns the activation functions of one direction, with their parameters.
Result<std::vector<RnnActivation>> Activations(const Rnn& op, int direction) {
  static const std::vector<std::string> kDefaults[] = {
      {"tanh"}, {"sigmoid", "tanh"}, {"sigmoid", "tanh", "tanh"}};
  const auto& defaults = kDefaults[static_cast<int>(op.kind)];
  const size_t count = defaults.size(), wanted = count * static_cast<size_t>(Directions(op));
  if (!op.activations.empty() && op.activations.size() != wanted)
    return InvalidModel("activations has ", op.activations.size(), " names, but needs ", wanted);
  for (const auto* list : {&op.activation_alpha, &op.activation_beta})
    if (!list->empty() && list->size() != wanted)
      return InvalidModel("activation_alpha and activation_beta must have ", wanted, " numbers or none, got ",
                          list->size());
  std::vector<RnnActivation> out;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i + count * static_cast<size_t>(direction);
    TERN_ASSIGN(RnnActivation f,
                FindRnnActivation(op.activations.empty() ? defaults[i] : op.activations[at]));
    if (!op.activation_alpha.empty()) f.alpha = op.activation_alpha[at];
    if (!op.activation_beta.empty()) f.beta = op.activation_beta[at];
    out.push_back(f);
  }
  return out;
}

Status CheckPort(InferContext& c, const char* port, const std::vector<Dim>& wanted) {
  if (!c.Has(port) || !c.ShapeOf(port).ranked) return {};
  const Shape& s = c.ShapeOf(port);
  bool fits = s.dims.size() == wanted.size();
  for (size_t i = 0; fits && i < wanted.size(); ++i) fits = !Differ(s.dims[i], wanted[i]);
  if (fits) return {};
  return InvalidModel("input '", port, "' must be ", Shape(wanted).ToString(), ", got ", s.ToString());
}

Status Infer(const Rnn& op, InferContext& c) {
  const int directions = Directions(op), gates = Gates(op);
  for (int d = 0; d < directions; ++d) TERN_TRY(Status(Activations(op, d).status()));
  if (op.hidden_size < 0 || op.hidden_size >= int64_t{1} << 31)
    return InvalidModel("hidden_size is ", op.hidden_size, ", but must be in [0, 2^31)");
  const Shape &x = c.ShapeOf("x"), &r = c.ShapeOf("r");
  if (x.ranked && x.rank() != 3)
    return InvalidModel("input 'x' must be [length, batch, features], got ", x.ToString());
  if (r.ranked && r.rank() != 3) return InvalidModel("input 'r' must have rank 3, got ", r.ToString());
  const Dim hidden = op.hidden_size ? Dim(op.hidden_size) : r.ranked ? r[2] : Dim();
  const Dim length = x.ranked ? x[0] : Dim(), batch = x.ranked ? x[1] : Dim(),
            features = x.ranked ? x[2] : Dim();
  TERN_TRY(CheckPort(c, "w", {directions, hidden * gates, features}));
  TERN_TRY(CheckPort(c, "r", {directions, hidden * gates, hidden}));
  TERN_TRY(CheckPort(c, "b", {directions, hidden * (2 * gates)}));
  TERN_TRY(CheckPort(c, "sequence_lens", {batch}));
  TERN_TRY(CheckPort(c, "initial_h", {directions, batch, hidden}));
  TERN_TRY(CheckPort(c, "initial_c", {directions, batch, hidden}));
  TERN_TRY(CheckPort(c, "p", {directions, hidden * 3}));
  const DType type = c.TypeOf("x");
  c.Out("y", type, Shape({length, directions, batch, hidden}));
  c.Out("y_h", type, Shape({directions, batch, hidden}));
  c.Out("y_c", type, Shape({directions, batch, hidden}));
  return {};
}

std::vector<double> OptionalDoubles(EvalContext& c, const char* port, int64_t count) {
  return c.Has(port) ? c.Doubles(port) : std::vector<double>(static_cast<size_t>(count), 0);
}

Result<std::vector<int64_t>> Lengths(EvalContext& c, int64_t length, int64_t batch) {
  if (!c.Has("sequence_lens")) return std::vector<int64_t>(static_cast<size_t>(batch), length);
  auto lengths = c.Longs("sequence_lens");
  for (size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] < 0 || lengths[i] > length)
      return InvalidArgument("sequence_lens[", i, "] is ", lengths[i], ", which is outside [0, ", length,
                             "]");
  return lengths;
}

Status Reference(const Rnn& op, EvalContext& c) {
  const Dims &dx = c.In("x").dims(), &dr = c.In("r").dims();
  const int64_t length = dx[0], batch = dx[1], features = dx[2], hidden = dr[2], gates = Gates(op),
                directions = Directions(op);
  const auto x = c.Doubles("x"), w = c.Doubles("w"), r = c.Doubles("r");
  const auto b = OptionalDoubles(c, "b", directions * 2 * gates * hidden),
             p = OptionalDoubles(c, "p", directions * 3 * hidden);
  auto h = OptionalDoubles(c, "initial_h", directions * batch * hidden),
       cell = OptionalDoubles(c, "initial_c", directions * batch * hidden);
  TERN_ASSIGN(const auto lengths, Lengths(c, length, batch));
  std::vector<double> y(static_cast<size_t>(length * directions * batch * hidden), 0);
  for (int64_t d = 0; d < directions; ++d) {
    TERN_ASSIGN(auto functions, Activations(op, static_cast<int>(d)));
    const bool backward = op.direction == Direction::kReverse || d == 1;
    RnnCell step{op.kind,
                 features,
                 hidden,
                 w.data() + d * gates * hidden * features,
                 r.data() + d * gates * hidden * hidden,
                 b.data() + d * 2 * gates * hidden,
                 p.data() + d * 3 * hidden,
                 functions,
                 op.clip,
                 op.linear_before_reset,
                 op.input_forget};
    for (int64_t n = 0; n < batch; ++n) {
      double *state = h.data() + (d * batch + n) * hidden, *memory = cell.data() + (d * batch + n) * hidden;
      const int64_t steps = lengths[static_cast<size_t>(n)];
      for (int64_t t = 0; t < steps; ++t) {
        const int64_t at = backward ? steps - 1 - t : t;
        step.Step(x.data() + (at * batch + n) * features, state, memory);
        std::copy(state, state + hidden, y.data() + ((at * directions + d) * batch + n) * hidden);
      }
    }
  }
  c.Out("y", {length, directions, batch, hidden}, y);
  c.Out("y_h", {directions, batch, hidden}, h);
  c.Out("y_c", {directions, batch, hidden}, cell);
  return {};
}

// Each step of each sequence takes one MAC per element of w and one per element of r.
std::optional<double> Macs(const Node& n) {
  const auto input = DimOf(n.input(0), -1), elements = ElementsOf(n.input(0)), w = ElementsOf(n.input(1)),
             r = ElementsOf(n.input(2));
  if (!input || !elements || !w || !r || *input == 0) return std::nullopt;
  return *elements / *input * (*w + *r);
}

// For OpDef::typical_dim. The typical input is one sequence of one step.
int64_t TypicalDim(const StaticNode&, size_t input, size_t axis) {
  const bool length_or_batch = input == 0 ? axis < 2 : input == 4 || axis == 1;
  return length_or_batch ? 1 : kSizeOfWeights;
}

}  // namespace

TERN_OP(Rnn) {
  return OpDef::Of<Rnn>(
             "a recurrent layer; the gates are in ONNX order (gru: z r h, lstm: i o f c), and y is [length, directions, batch, hidden]")
      .In("x", kRealFloats)
      .Weight("w", kRealFloats)
      .Weight("r", kRealFloats)
      .OptIn("b", kRealFloats)
      .OptSetting("sequence_lens", kIndices)
      .OptIn("initial_h", kRealFloats)
      .OptIn("initial_c", kRealFloats)
      .OptIn("p", kRealFloats)
      .Out("y", kRealFloats)
      .OptOut("y_h", kRealFloats)
      .OptOut("y_c", kRealFloats)
      .Macs(Macs)
      .Batch(No{"the outermost axis is time"})
      .Axes(No{"the axes must be time, batch and features, in this order"})
      .TypicalDims(TypicalDim)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
