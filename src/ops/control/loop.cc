// Loop: runs a body until trip_count is reached or its condition is false. Passes states from one iteration
// to the next, and stacks the other outputs of the iterations.
#include "ops/control/inputs.h"
#include "ops/control/stack.h"

namespace tern {
namespace {

struct Loop : NoAttrs {};

// The inputs of the node are trip_count, condition, states. The inputs of the body are iteration, condition,
// states.
constexpr int kFirstState = 2;
constexpr int kMaxRelaxations = 8;
constexpr int kMaxRelaxedNesting = 3;

// The number of loops, each inside the previous one, whose types are being inferred. Each loop infers its
// body several times, so the cost is exponential in the nesting. In a loop nested deeper than
// kMaxRelaxedNesting, the shapes of states are unknown from the start, so that its body is inferred only
// once.
thread_local int nesting = 0;
struct Nested {
  Nested() { ++nesting; }
  ~Nested() { --nesting; }
};

int StateCount(int inputs) { return inputs > kFirstState ? inputs - kFirstState : 0; }

// A state's shape may change between iterations, for example from [1,4] to [2,4]. Inference then makes the
// dim unknown, [?,4], and infers the body again, until the types of the states do not change. If they still
// change after kMaxRelaxations inferences, the shapes of all states become unknown, and the body is inferred
// a last time.
Status Infer(const Loop&, InferContext& c) {
  const Nested nested;
  const int relaxations = nesting > kMaxRelaxedNesting ? 0 : kMaxRelaxations;
  const int states = StateCount(c.InputCount());
  TERN_TRY(RequireInputs(c, kFirstState));
  std::vector<Type> inputs = {Type::TensorOf(DType::kI64, Shape(std::vector<Dim>{})),
                              Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{}))};
  for (int i = 0; i < states; ++i) inputs.push_back(c.In(kFirstState + i));
  std::vector<Type> outputs;
  bool stable = false;
  for (int iteration = 0; !stable && iteration <= relaxations; ++iteration) {
    for (int i = 0; iteration == relaxations && i < states; ++i)
      inputs[static_cast<size_t>(kFirstState + i)].shape = Shape();
    TERN_ASSIGN(outputs, c.InferSubgraph(0, inputs));
    if (static_cast<int>(outputs.size()) < 1 + states)
      return InvalidModel("the body gives ", outputs.size(), " outputs, but needs at least ", 1 + states);
    stable = true;
    for (int i = 0; i < states; ++i) {
      Type& in = inputs[static_cast<size_t>(kFirstState + i)];
      const Type merged = MergeTypes(in, outputs[static_cast<size_t>(1 + i)]);
      if (merged.ToString() != in.ToString()) stable = false;
      in = merged;
    }
  }
  if (c.OutputCount() > static_cast<int>(outputs.size()) - 1)
    return InvalidModel("the body gives ", outputs.size() - 1, " results, but the node has ",
                        c.OutputCount());
  for (int i = 0; i < c.OutputCount(); ++i) {
    if (i < states) {
      c.Out(i, inputs[static_cast<size_t>(kFirstState + i)]);
      continue;
    }
    Type slice = outputs[static_cast<size_t>(1 + i)];
    if (slice.shape.ranked) slice.shape.dims.insert(slice.shape.dims.begin(), Dim::Unknown());
    c.Out(i, slice);
  }
  return {};
}

Status Reference(const Loop&, EvalContext& c) {
  const int states = StateCount(c.InputCount());
  int64_t trips = INT64_MAX, condition = 1;
  if (c.Has(0)) {
    TERN_ASSIGN(trips, OneElement(c, 0, "trip_count"));
  }
  if (c.Has(1)) {
    TERN_ASSIGN(condition, OneElement(c, 1, "condition"));
  }
  DatumList state;
  for (int i = 0; i < states; ++i) state.push_back(c.InDatum(kFirstState + i));
  Collector collected(c, 1 + states, std::max(0, c.OutputCount() - states));
  for (int64_t iteration = 0; iteration < trips && condition; ++iteration) {
    Tensor number(DType::kI64, {});
    number.data<int64_t>()[0] = iteration;
    DatumList inputs = {Datum(number), Datum(Tensor::Scalar(DType::kBool, condition != 0))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    TERN_ASSIGN(DatumList out, c.RunSubgraph(0, inputs));
    if (!out[0].is_tensor() || out[0].tensor.size() != 1)
      return InvalidModel("the body's condition must have one element, got ", out[0].Describe());
    condition = LoadLong(out[0].tensor, 0);
    for (int i = 0; i < states; ++i) state[static_cast<size_t>(i)] = out[static_cast<size_t>(1 + i)];
    TERN_TRY(collected.Add(out));
  }
  for (int i = 0; i < states; ++i) c.SetOut(i, state[static_cast<size_t>(i)]);
  for (int i = states; i < c.OutputCount(); ++i) {
    TERN_ASSIGN(Tensor stacked, StackSlices(collected[i - states], 0, c.OutputType(i)));
    c.SetOut(i, std::move(stacked));
  }
  return {};
}

}  // namespace

TERN_OP(Loop) {
  return OpDef::Of<Loop>(
             "runs a body trip_count times or until its condition is false; passes states from one iteration to the next and stacks the other outputs")
      .OptSetting("trip_count", kInts)
      .OptSetting("condition", kBools)
      .VarIn("states", 0)
      .VarOut("outputs", 0)
      .Subgraph("body")
      .Traits(kControlFlow)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
