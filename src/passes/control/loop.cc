// Unrolls or removes loops with a known number of iterations.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

constexpr int64_t kMaxIterations = 8;
// A loop with two or more iterations is unrolled only if the result has at most this many nodes.
constexpr int64_t kMaxNodes = 32;
// The inputs of a Loop are trip_count, condition, states. The inputs of its body are iteration, condition,
// states.
constexpr size_t kFirstState = 2;

bool Given(const Value* v) { return v != nullptr; }

// True if the body never ends the loop. The condition output of such a body is constant true, or is its
// condition input.
bool NeverStops(const Graph& body) {
  const Value* goes_on = body.outputs()[0];
  while (goes_on->producer && goes_on->graph == &body && IsOp(*goes_on->producer, "Identity"))
    goes_on = goes_on->producer->input(0);
  if (goes_on == body.inputs()[1]) return true;
  const auto constant = ScalarOf(goes_on);
  return constant && *constant != 0;
}

// Returns nullopt if the number of iterations is not known.
std::optional<int64_t> IterationsOf(const Node& loop) {
  const Value *trips = loop.input(0), *condition = loop.input(1);
  const auto goes_on = ScalarOf(condition), count = ScalarOf(trips);
  if ((goes_on && *goes_on == 0) || (count && *count < 1)) return 0;
  if (Given(condition) && !goes_on) return std::nullopt;
  if (!count) return std::nullopt;
  const auto iterations = static_cast<int64_t>(*count);
  if (iterations > 1 && !NeverStops(*loop.subgraphs()[0])) return std::nullopt;
  return iterations;
}

// Concatenates the slices of all iterations along a new first axis.
Value* Stack(Rewrite& r, const std::vector<Value*>& slices) {
  std::vector<Value*> rows;
  for (Value* v : slices) rows.push_back(r.Op("Unsqueeze", {v, r.Ints({0})}));
  return rows.size() == 1 ? rows[0] : r.Op("Concat", rows, {{"axis", int64_t{0}}});
}

bool UnrollLoop(Rewrite& r) {
  const Node& loop = r.root();
  const Graph& body = *loop.subgraphs()[0];
  const auto iterations = IterationsOf(loop);
  if (!iterations || *iterations < 1) return r.Skip("the number of iterations is 0 or not known");
  if (*iterations > kMaxIterations ||
      *iterations * body.NodeCount() > (*iterations == 1 ? INT32_MAX : kMaxNodes))
    return r.Skip("the loop is too long to unroll");
  std::vector<Value*> states(loop.inputs().begin() + kFirstState, loop.inputs().end());
  std::vector<std::vector<Value*>> slices(std::max(loop.outputs().size(), states.size()) - states.size());
  Value* always = r.Scalar(DType::kBool, 1);
  for (int64_t iteration = 0; iteration < *iterations; ++iteration) {
    Tensor number(DType::kI64, {});
    StoreLong(number, 0, iteration);
    std::vector<Value*> inputs = {r.Const(number), always};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const auto body_outputs = r.Inline(body, inputs);
    states.assign(body_outputs.begin() + 1, body_outputs.begin() + 1 + static_cast<long>(states.size()));
    for (size_t i = 0; i < slices.size(); ++i) slices[i].push_back(body_outputs[1 + states.size() + i]);
  }
  std::vector<Value*> outputs = states;
  for (const auto& list : slices) outputs.push_back(Stack(r, list));
  outputs.resize(loop.outputs().size());
  return r.Replace(outputs);
}

bool RemoveEmptyLoop(Rewrite& r) {
  const Node& loop = r.root();
  const auto iterations = IterationsOf(loop);
  if (!iterations || *iterations != 0) return r.Skip("the loop may run at least once");
  std::vector<Value*> outputs(loop.inputs().begin() + kFirstState, loop.inputs().end());
  for (size_t i = outputs.size(); i < loop.outputs().size(); ++i) {
    const Value* stack = loop.outputs()[i];
    if (stack->unused()) {
      outputs.push_back(nullptr);
      continue;
    }
    const Shape& shape = stack->type.shape;
    if (!shape.ranked || shape.rank() == 0) return r.Skip("the shape of a stacked output is not known");
    Dims dims = {0};
    for (int k = 1; k < shape.rank(); ++k) {
      if (!shape[k].known()) return r.Skip("the shape of a stacked output is not known");
      dims.push_back(shape[k].value());
    }
    outputs.push_back(r.Const(Tensor(stack->type.dtype, dims)));
  }
  outputs.resize(loop.outputs().size());
  return r.Replace(outputs);
}

int64_t At(const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; }

bool InlineScan(Rewrite& r) {
  const Node& scan = r.root();
  const auto scanned = static_cast<size_t>(scan.attrs.Int("scan_inputs"));
  const size_t states = scan.inputs().size() - scanned;
  const auto in_axes = scan.attrs.Ints("input_axes"), out_axes = scan.attrs.Ints("output_axes");
  std::vector<int64_t> axes;
  bool single = false;
  for (size_t i = 0; i < scanned; ++i) {
    const Value* x = scan.inputs()[states + i];
    const auto axis = AxisOf(At(in_axes, i), x);
    if (!axis) return r.Skip("the rank of an input is not known");
    single |= x->type.shape[*axis].Is(1);
    axes.push_back(*axis);
  }
  if (!single) return r.Skip("the Scan may run more than once");
  std::vector<Value*> inputs(scan.inputs().begin(), scan.inputs().begin() + static_cast<long>(states));
  for (size_t i = 0; i < scanned; ++i)
    inputs.push_back(r.Op("Squeeze", {scan.inputs()[states + i], r.Ints({axes[i]})}));
  std::vector<Value*> outputs = r.Inline(*scan.subgraphs()[0], inputs);
  outputs.resize(scan.outputs().size());
  for (size_t i = states; i < outputs.size(); ++i)
    outputs[i] = r.Op("Unsqueeze", {outputs[i], r.Ints({At(out_axes, i - states)})});
  return r.Replace(outputs);
}

}  // namespace

TERN_RULE(UnrollLoop) {
  return Rule{.summary = "a Loop with one iteration, or with up to 8 iterations of a short body, is unrolled",
              .roots = {"Loop"},
              .apply = UnrollLoop,
              .example = R"(graph @g(%x: f32[N]) -> (%y) {
  #two: i64[] = (2)
  %y = Loop(#two, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[N]) -> (%c, %t) { %t = Relu(%s) }]
})"};
}

TERN_RULE(RemoveEmptyLoop) {
  return Rule{.summary = "a Loop with 0 iterations returns its initial states",
              .roots = {"Loop"},
              .apply = RemoveEmptyLoop,
              .example = R"(graph @g(%x: f32[N]) -> (%y) {
  #none: i64[] = (0)
  %l = Loop(#none, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[N]) -> (%c, %t) { %t = Relu(%s) }]
  %y = Tanh(%l)
})"};
}

TERN_RULE(InlineScan) {
  return Rule{.summary = "a Scan over inputs of length 1 is replaced by its body",
              .roots = {"Scan"},
              .apply = InlineScan,
              .example = R"(graph @g(%x: f32[1,N]) -> (%y) {
  %y = Scan(%x) {scan_inputs=1} [body @b(%r: f32[N]) -> (%t) { %t = Relu(%r) }]
})"};
}

}  // namespace tern
