// Converts simple recurrent layers, and SVDF.
#include "import/tflite/ops/recurrent.h"

namespace tern::tflite {
namespace {

// The inputs of one layer, by number.
struct RnnInputs {
  int x = 0, w = 1, r = 2, bias = 3, h = 4, aux = -1, aux_w = -1;
};

// h' = activation(x · wᵀ + h · rᵀ + bias), for all steps. Returns [time, batch, units].
Result<Value*> EmitRnn(LiteNode& n, const RnnInputs& in, const Sequence& s, int activation, bool asymmetric) {
  for (int i : {in.x, in.w, in.r, in.bias, in.h})
    if (!n.Has(i)) return n.Bad("has no input ", i);
  Builder& b = n.b;
  Products products{n, IsFloat(n.InfoIn(in.x).dtype) && n.InfoIn(in.w).quantized, asymmetric};
  TERN_ASSIGN(Value * h, n.importer().ReadVariable(n.TensorOf(in.h), b));
  Value* sums = products.Times(b, StepsOf(n, in.x, s), products.Weights(in.w));
  if (in.aux >= 0)
    sums = Binary(b, "add", sums, products.Times(b, StepsOf(n, in.aux, s), products.Weights(in.aux_w)));
  sums = Binary(b, "add", sums, n.Real(in.bias));
  Value* recurrent = products.Weights(in.r);
  const std::vector<int64_t> reverse = {s.reverse ? 1 : 0};
  Node* scan =
      b.Open("Scan", {h, sums},
             {{"scan_inputs", int64_t{1}}, {"input_reverse", reverse}, {"output_reverse", reverse}}, 2);
  Graph* body = b.graph().AddSubgraph(scan, "step");
  Type slice = sums->type;
  if (slice.shape.rank() > 0) slice.shape.dims.erase(slice.shape.dims.begin());
  Value* past = body->AddInput("h", h->type);
  Value* part = body->AddInput("x", slice);
  Builder inside(*body);
  LiteNode step(n.importer(), n.proto(), n.op(), inside);
  Value* y = step.Activate(Binary(inside, "add", part, products.Times(inside, past, recurrent)), activation);
  body->SetOutputs({y, inside.Op("Identity", {y})});
  TERN_TRY(Status(inside.status()));
  b.Finish(scan);
  n.importer().WriteVariable(n.TensorOf(in.h), scan->output(0));
  return scan->output(1);
}

Status RnnStep(LiteNode& n) {
  const auto& o = n.Options<fb::RNNOptions>();
  const Sequence s{false, true};
  TERN_ASSIGN(Value * y, EmitRnn(n, {}, s, o.activation(), o.asymmetric_quantize_inputs()));
  n.OutReal(0, FromSteps(n.b, y, s));
  return {};
}

Status SequenceRnn(LiteNode& n) {
  const auto& o = n.Options<fb::SequenceRNNOptions>();
  const Sequence s{o.time_major()};
  TERN_ASSIGN(Value * y, EmitRnn(n, {}, s, o.activation(), o.asymmetric_quantize_inputs()));
  n.OutReal(0, FromSteps(n.b, y, s));
  return {};
}

Status BidirectionalRnn(LiteNode& n) {
  const auto& o = n.Options<fb::BidirectionalSequenceRNNOptions>();
  RnnInputs forward, backward{0, 5, 6, 7, 8};
  if (n.Has(9) && n.Has(10) && n.Has(11))
    forward.aux = backward.aux = 9, forward.aux_w = 10, backward.aux_w = 11;
  else if (n.Has(9))
    backward.x = 9;
  Sequence s{o.time_major()};
  TERN_ASSIGN(Value * first, EmitRnn(n, forward, s, o.activation(), o.asymmetric_quantize_inputs()));
  s.reverse = true;
  TERN_ASSIGN(Value * second, EmitRnn(n, backward, s, o.activation(), o.asymmetric_quantize_inputs()));
  if (o.merge_outputs()) {
    n.OutReal(0, FromSteps(n.b, Joined(n.b, {first, second}, -1), s));
    return {};
  }
  n.OutReal(0, FromSteps(n.b, first, s));
  n.OutReal(1, FromSteps(n.b, second, s));
  return {};
}

// The layer applies pairs of filters. The first filter of a pair combines the features of a step, and the
// second one combines the results of the first filter for the last `memory` steps. The state contains these
// results.
Status Svdf(LiteNode& n) {
  const auto& o = n.Options<fb::SVDFOptions>();
  Builder& b = n.b;
  for (int i : {1, 2, 4})
    if (!n.Has(i)) return n.Bad("has no input ", i);
  const Shape& time = n.In(2)->type.shape;
  if (time.rank() != 2 || !time.fully_known()) return n.Bad("the weights over time must be a matrix");
  const int64_t filters = time[0].value(), memory = time[1].value(), rank = o.rank();
  if (rank < 1 || filters % rank != 0 || memory < 1) return n.Bad("has ", filters, " filters of rank ", rank);
  const TensorInfo& state_info = n.InfoIn(4);
  TERN_ASSIGN(Value * state, n.importer().ReadVariable(n.TensorOf(4), b));
  Products products{n, IsFloat(n.InfoIn(0).dtype) && n.InfoIn(1).quantized, o.asymmetric_quantize_inputs()};
  Value* features = products.Times(b, n.Real(0), products.Weights(1));
  features = RoundedLike(b, n.importer(), features, state_info);
  Value* past = Reshaped(b, state, {-1, filters, memory});
  Value* present = Joined(b, {Sliced(b, past, 2, 1, INT32_MAX), Unsqueezed(b, features, {2})}, 2);
  n.importer().WriteVariable(n.TensorOf(4), Reshaped(b, present, {-1, filters * memory}));
  Value* sums = Reduced(b, "sum", Binary(b, "mul", present, n.Real(2)), {2}, false);
  Value* y = Reduced(b, "sum", Reshaped(b, sums, {-1, filters / rank, rank}), {2}, false);
  if (n.Has(3)) y = Binary(b, "add", y, RealBias(n, 3));
  n.OutReal(0, n.Activate(y, o.activation()));
  return {};
}

}  // namespace

TERN_CONVERTERS(rnn) {
  table.Add("RNN", 5, RnnStep);
  table.Add("UNIDIRECTIONAL_SEQUENCE_RNN", 5, SequenceRnn);
  table.Add("BIDIRECTIONAL_SEQUENCE_RNN", 9, BidirectionalRnn);
  table.Add("SVDF", 1, Svdf);
}

}  // namespace tern::tflite
