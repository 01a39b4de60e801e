// Converts LSTM layers. A simple layer becomes the op Rnn. Other layers become a Scan over the time steps.
#include <array>

#include "import/tflite/ops/recurrent.h"

namespace tern::tflite {
namespace {

constexpr int kInput = 0, kForget = 1, kCell = 2, kOutput = 3;

// The inputs of the operator, by number. -1 means that the operator has no such input.
struct LstmInputs {
  int x = 0, aux = -1;
  std::array<int, 4> w{1, 2, 3, 4}, r{5, 6, 7, 8}, bias{12, 13, 14, 15}, norm{20, 21, 22, 23},
      aux_w{-1, -1, -1, -1};
  std::array<int, 3> peephole{9, 10, 11};  // of the gates input, forget, output
  int projection = 16, projection_bias = 17, h = 18, c = 19;
};

struct LstmOptions {
  int activation = 4;
  float cell_clip = 0, projection_clip = 0;
  bool asymmetric = false, diagonal = false;
  Sequence sequence;
};

class Lstm {
 public:
  Lstm(LiteNode& n, const LstmInputs& in, const LstmOptions& o)
      : n_(n),
        in_(in),
        o_(o),
        products_{n, IsFloat(n.InfoIn(in.x).dtype) && n.InfoIn(in.w[kForget]).quantized, o.asymmetric} {}

  // Returns the results of all steps, [time, batch, units]. Writes the states.
  Result<Value*> Emit() {
    for (int gate : {kForget, kCell, kOutput})
      if (!n_.Has(in_.w[At(gate)]) || !n_.Has(in_.r[At(gate)]) || !n_.Has(in_.bias[At(gate)]))
        return n_.Bad("weights are missing");
    if (!n_.Has(in_.h) || !n_.Has(in_.c)) return n_.Bad("a state is missing");
    if (o_.diagonal) return n_.NotYet("diagonal recurrent weights");
    cifg_ = !n_.Has(in_.w[kInput]);
    if (!cifg_ && (!n_.Has(in_.r[kInput]) || !n_.Has(in_.bias[kInput]))) return n_.Bad("weights are missing");
    TERN_ASSIGN(h_, n_.importer().ReadVariable(n_.TensorOf(in_.h), n_.b));
    TERN_ASSIGN(c_, n_.importer().ReadVariable(n_.TensorOf(in_.c), n_.b));
    Value* x = StepsOf(n_, in_.x, o_.sequence);
    return Simple() ? EmitRnn(x) : EmitScan(x);
  }

 private:
  static size_t At(int gate) { return static_cast<size_t>(gate); }
  bool Present(int input) const { return input >= 0 && n_.Has(input); }

  bool Simple() const {
    bool plain = !cifg_ && !products_.hybrid && o_.activation == 4 && o_.cell_clip == 0 &&
                 !Present(in_.projection) && !Present(in_.aux) && !n_.InfoIn(in_.x).quantized;
    for (int i : in_.norm) plain = plain && !Present(i);
    for (int i : in_.peephole) plain = plain && !Present(i);
    return plain;
  }

  // The op Rnn has the gates in the order input, output, forget, cell.
  Result<Value*> EmitRnn(Value* x) {
    Builder& b = n_.b;
    std::vector<Value*> w, r, bias;
    for (int gate : {kInput, kOutput, kForget, kCell}) {
      w.push_back(n_.In(in_.w[At(gate)]));
      r.push_back(n_.In(in_.r[At(gate)]));
      bias.push_back(n_.In(in_.bias[At(gate)]));
    }
    Value* zeros = b.Op("Fill", {ShapeOf(b, Joined(b, bias, 0))}, {{"value", Tensor(DType::kF32, {1})}});
    bias.push_back(zeros);
    const auto one = [&](Value* v) { return Unsqueezed(b, v, {0}); };
    const auto out = b.Ops(
        "Rnn",
        {x, one(Joined(b, w, 0)), one(Joined(b, r, 0)), one(Joined(b, bias, 0)), nullptr, one(h_), one(c_)},
        {{"kind", "lstm"}, {"direction", o_.sequence.reverse ? "reverse" : "forward"}}, 3);
    n_.importer().WriteVariable(n_.TensorOf(in_.h), Squeezed(b, out[1], {0}));
    n_.importer().WriteVariable(n_.TensorOf(in_.c), Squeezed(b, out[2], {0}));
    return Squeezed(b, out[0], {1});
  }

  // The part of a gate that does not depend on the state, for all steps.
  Value* InputPart(int gate, Value* x, Value* aux) {
    Value* sum = products_.Times(n_.b, x, products_.Weights(in_.w[At(gate)]));
    if (aux && Present(in_.aux_w[At(gate)]))
      sum = Binary(n_.b, "add", sum, products_.Times(n_.b, aux, products_.Weights(in_.aux_w[At(gate)])));
    if (!Present(in_.norm[At(gate)])) sum = Binary(n_.b, "add", sum, RealBias(n_, in_.bias[At(gate)]));
    return sum;
  }

  Result<Value*> EmitScan(Value* x) {
    Builder& b = n_.b;
    Value* aux = Present(in_.aux) ? StepsOf(n_, in_.aux, o_.sequence) : nullptr;
    std::vector<int> gates;
    for (int gate = cifg_ ? kForget : kInput; gate <= kOutput; ++gate) gates.push_back(gate);
    std::vector<Value*> inputs = {h_, c_};
    for (int gate : gates) inputs.push_back(InputPart(gate, x, aux));
    MakeWeights(gates);
    const auto count = static_cast<int64_t>(gates.size());
    const std::vector<int64_t> reverse(gates.size(), o_.sequence.reverse ? 1 : 0);
    Node* scan = b.Open("Scan", inputs,
                        {{"scan_inputs", count},
                         {"input_reverse", reverse},
                         {"output_reverse", std::vector<int64_t>{o_.sequence.reverse ? 1 : 0}}},
                        3);
    Graph* body = b.graph().AddSubgraph(scan, "step");
    std::vector<Value*> slices;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Type type = inputs[i]->type;
      if (i >= 2 && type.shape.rank() > 0) type.shape.dims.erase(type.shape.dims.begin());
      slices.push_back(body->AddInput(StrCat("in_", i), std::move(type)));
    }
    Builder inside(*body);
    EmitStep(inside, gates, slices);
    TERN_TRY(Status(inside.status()));
    b.Finish(scan);
    n_.importer().WriteVariable(n_.TensorOf(in_.h), scan->output(0));
    n_.importer().WriteVariable(n_.TensorOf(in_.c), scan->output(1));
    return scan->output(2);
  }

  // Makes the weights outside the body, so that they are constants of the graph around it.
  void MakeWeights(const std::vector<int>& gates) {
    for (int gate : gates) {
      recurrent_[At(gate)] = products_.Weights(in_.r[At(gate)]);
      if (Present(in_.norm[At(gate)])) {
        norm_[At(gate)] = n_.Real(in_.norm[At(gate)]);
        norm_bias_[At(gate)] = RealBias(n_, in_.bias[At(gate)]);
      }
      const int at = gate == kOutput ? 2 : gate;
      if (gate != kCell && Present(in_.peephole[At(at)])) peephole_[At(gate)] = n_.Real(in_.peephole[At(at)]);
    }
    if (Present(in_.projection)) projection_ = products_.Weights(in_.projection);
    if (Present(in_.projection_bias)) projection_bias_ = RealBias(n_, in_.projection_bias);
  }

  // Adds the parts of a gate that depend on the states, and normalizes the sum if the layer has a norm.
  Value* Gate(Builder& b, int gate, Value* part, Value* h, Value* c) {
    Value* sum = Binary(b, "add", part, products_.Times(b, h, recurrent_[At(gate)]));
    if (Value* p = peephole_[At(gate)]) sum = Binary(b, "add", sum, Binary(b, "mul", c, p));
    if (!norm_[At(gate)]) return sum;
    return b.Op("LayerNorm", {sum, norm_[At(gate)], norm_bias_[At(gate)]},
                {{"axis", int64_t{-1}}, {"epsilon", 1e-8}});
  }

  static Value* Clipped(Builder& b, Value* v, float limit) {
    if (!(limit > 0)) return v;
    return b.Op("Clip", {v, b.Scalar(DType::kF32, -static_cast<double>(limit)),
                         b.Scalar(DType::kF32, static_cast<double>(limit))});
  }

  Value* Act(Builder& b, Value* v) {
    if (o_.activation == 4) return Unary(b, "tanh", v);
    if (o_.activation == 1) return Unary(b, "relu", v);
    if (o_.activation == 3) return b.Op("Clip", {v, b.Scalar(DType::kF32, 0), b.Scalar(DType::kF32, 6)});
    if (o_.activation != 0) b.Fail(n_.NotYet("activation function #", o_.activation));
    return v;
  }

  void EmitStep(Builder& b, const std::vector<int>& gates, const std::vector<Value*>& in) {
    Value *h = in[0], *c = in[1];
    std::array<Value*, 4> part{};
    for (size_t i = 0; i < gates.size(); ++i) part[At(gates[i])] = in[2 + i];
    GraphImporter& g = n_.importer();
    Value* forget = Unary(b, "sigmoid", Gate(b, kForget, part[kForget], h, c));
    Value* input = cifg_ ? Binary(b, "sub", b.Scalar(DType::kF32, 1), forget)
                         : Unary(b, "sigmoid", Gate(b, kInput, part[kInput], h, c));
    Value* fresh = Act(b, Gate(b, kCell, part[kCell], h, c));
    Value* cell = Binary(b, "add", Binary(b, "mul", forget, c), Binary(b, "mul", input, fresh));
    cell = RoundedLike(b, g, Clipped(b, cell, o_.cell_clip), n_.InfoIn(in_.c));
    Value* output = Unary(b, "sigmoid", Gate(b, kOutput, part[kOutput], h, cell));
    Value* y = Binary(b, "mul", output, Act(b, cell));
    if (projection_) {
      y = products_.Times(b, y, projection_);
      if (projection_bias_) y = Binary(b, "add", y, projection_bias_);
      y = Clipped(b, y, o_.projection_clip);
    }
    y = RoundedLike(b, g, y, n_.InfoIn(in_.h));
    b.graph().SetOutputs({y, cell, b.Op("Identity", {y})});
  }

  LiteNode& n_;
  const LstmInputs& in_;
  const LstmOptions& o_;
  Products products_;
  bool cifg_ = false;
  Value *h_ = nullptr, *c_ = nullptr, *projection_ = nullptr, *projection_bias_ = nullptr;
  std::array<Value*, 4> recurrent_{}, norm_{}, norm_bias_{}, peephole_{};
};

Status UnidirectionalLstm(LiteNode& n) {
  const auto& o = n.Options<fb::UnidirectionalSequenceLSTMOptions>();
  const LstmOptions options{o.activation(),
                            o.cell_clip(),
                            o.proj_clip(),
                            o.asymmetric_quantize_inputs(),
                            o.diagonal_recurrent_tensors(),
                            {o.time_major()}};
  const LstmInputs inputs;
  TERN_ASSIGN(Value * y, Lstm(n, inputs, options).Emit());
  n.OutReal(0, FromSteps(n.b, y, options.sequence));
  return {};
}

// One step. The gates are in the order input, cell, forget, output, and the weights are one matrix for the
// input and the state.
Status BasicLstm(LiteNode& n) {
  Builder& b = n.b;
  Value* joined = Joined(b, {n.Real(0), n.Real(1)}, -1);
  const TensorInfo& bias = n.InfoIn(3);
  Value* offsets = bias.dtype == DType::kI32 && !bias.quant.scales.empty()
                       ? n.importer().Dequantize(n.In(3), bias, 0, b)
                       : n.Real(3);
  Value* sums = b.Op("MatMul", {joined, n.Real(2), offsets}, {{"transpose_b", true}});
  const auto gates = b.Ops("Split", {sums}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{4}}}, 4);
  Value* kept = Binary(b, "mul", Unary(b, "sigmoid", gates[2]), n.Real(4));
  Value* cell =
      Binary(b, "add", kept, Binary(b, "mul", Unary(b, "sigmoid", gates[0]), Unary(b, "tanh", gates[1])));
  n.OutReal(1, cell);
  n.OutReal(0, Binary(b, "mul", Unary(b, "sigmoid", gates[3]), Unary(b, "tanh", cell)));
  n.OutReal(2, joined);
  n.OutReal(3, sums);
  return {};
}

Status LstmStep(LiteNode& n) {
  const auto& o = n.Options<fb::LSTMOptions>();
  if (o.kernel_type() == 1) {
    if (n.InputCount() != 5) return n.Bad("has ", n.InputCount(), " inputs, not 5");
    return BasicLstm(n);
  }
  const LstmOptions options{o.activation(), o.cell_clip(), o.proj_clip(), o.asymmetric_quantize_inputs(),
                            false,          {false, true}};
  const LstmInputs inputs;
  TERN_ASSIGN(Value * y, Lstm(n, inputs, options).Emit());
  n.OutReal(0, FromSteps(n.b, y, options.sequence));
  return {};
}

// If the auxiliary input has weights, both layers add its product. Otherwise it is the input of the backward
// layer.
Status BidirectionalLstm(LiteNode& n) {
  const auto& o = n.Options<fb::BidirectionalSequenceLSTMOptions>();
  LstmOptions options{o.activation(), o.cell_clip(),   o.proj_clip(), o.asymmetric_quantize_inputs(),
                      false,          {o.time_major()}};
  LstmInputs forward, backward;
  const bool has_aux = n.Has(39), aux_weights = n.Has(41);
  forward.h = 35, forward.c = 36, forward.norm = {-1, -1, -1, -1};
  backward.norm = forward.norm, backward.h = 37, backward.c = 38, backward.projection = 33,
  backward.projection_bias = 34;
  backward.w = {18, 19, 20, 21}, backward.r = {22, 23, 24, 25}, backward.peephole = {26, 27, 28},
  backward.bias = {29, 30, 31, 32};
  if (has_aux && aux_weights) {
    forward.aux = backward.aux = 39;
    forward.aux_w = {40, 41, 42, 43}, backward.aux_w = {44, 45, 46, 47};
  } else if (has_aux) {
    backward.x = 39;
  }
  TERN_ASSIGN(Value * first, Lstm(n, forward, options).Emit());
  options.sequence.reverse = true;
  TERN_ASSIGN(Value * second, Lstm(n, backward, options).Emit());
  if (o.merge_outputs()) {
    n.OutReal(0, FromSteps(n.b, Joined(n.b, {first, second}, -1), options.sequence));
    return {};
  }
  n.OutReal(0, FromSteps(n.b, first, options.sequence));
  n.OutReal(1, FromSteps(n.b, second, options.sequence));
  return {};
}

}  // namespace

TERN_CONVERTERS(lstm) {
  table.Add("UNIDIRECTIONAL_SEQUENCE_LSTM", 1, UnidirectionalLstm);
  table.Add("LSTM", 1, LstmStep);
  table.Add("BIDIRECTIONAL_SEQUENCE_LSTM", 1, BidirectionalLstm);
}

}  // namespace tern::tflite
