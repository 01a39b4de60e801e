// Scan: runs a body once per slice of its scan inputs. Passes states from one iteration to the next, and
// stacks the other outputs of the iterations.
#include "ops/control/inputs.h"
#include "ops/control/stack.h"

namespace tern {
namespace {

struct Scan {
  int64_t scan_inputs = 0;
  std::vector<int64_t> input_axes, output_axes, input_reverse, output_reverse;
  template <class V> void Visit(V& v) {
    v("scan_inputs", scan_inputs,
      "number of scan inputs, which are the last inputs; the inputs before them are states");
    v("input_axes", input_axes, "axis to scan, per scan input; empty means 0 for all");
    v("output_axes", output_axes, "axis to stack along, per scan output; empty means 0 for all");
    v("input_reverse", input_reverse,
      "per scan input, 1 means that its slices are read from last to first; empty means 0 for all");
    v("output_reverse", output_reverse,
      "per scan output, 1 means that its slices are stacked from last to first; empty means 0 for all");
  }
};

int64_t At(const std::vector<int64_t>& list, int i) {
  return static_cast<size_t>(i) < list.size() ? list[static_cast<size_t>(i)] : 0;
}

Status Infer(const Scan& op, InferContext& c) {
  if (op.scan_inputs < 1 || op.scan_inputs > c.InputCount())
    return InvalidModel("scan_inputs is ", op.scan_inputs, ", but must be from 1 to ", c.InputCount(),
                        ", the number of inputs");
  const int states = c.InputCount() - static_cast<int>(op.scan_inputs);
  TERN_TRY(RequireInputs(c));
  std::vector<Type> inputs;
  Dim length = Dim::Unknown();
  for (int i = 0; i < c.InputCount(); ++i) {
    Type type = c.In(i);
    if (i >= states && type.shape.ranked) {
      TERN_ASSIGN(int axis, NormalizeAxis(At(op.input_axes, i - states), type.shape.rank()));
      const Dim d = type.shape[axis];
      if (length.known() && d.known() && length != d)
        return InvalidModel("scan inputs have different lengths: ", length.value(), " and ", d.value());
      if (!length.known()) length = d;
      type.shape.dims.erase(type.shape.dims.begin() + axis);
    }
    inputs.push_back(type);
  }
  TERN_ASSIGN(auto outputs, c.InferSubgraph(0, inputs));
  if (static_cast<int>(outputs.size()) < states)
    return InvalidModel("the body gives ", outputs.size(), " outputs for ", states, " states");
  if (c.OutputCount() > static_cast<int>(outputs.size()))
    return InvalidModel("the body gives ", outputs.size(), " outputs, but the node has ", c.OutputCount());
  for (int i = 0; i < c.OutputCount(); ++i) {
    Type type = outputs[static_cast<size_t>(i)];
    if (i < states) {
      type = MergeTypes(type, inputs[static_cast<size_t>(i)]);
    } else if (type.shape.ranked) {
      TERN_ASSIGN(int axis, NormalizeAxis(At(op.output_axes, i - states), type.shape.rank() + 1));
      type.shape.dims.insert(type.shape.dims.begin() + axis, length);
    }
    c.Out(i, type);
  }
  return {};
}

Status Reference(const Scan& op, EvalContext& c) {
  const auto scanned = static_cast<int>(op.scan_inputs);
  const int states = c.InputCount() - scanned;
  DatumList state;
  for (int i = 0; i < states; ++i) state.push_back(c.InDatum(i));
  std::vector<int> axes;
  int64_t length = 0;
  for (int i = 0; i < scanned; ++i) {
    const Tensor& x = c.In(states + i);
    TERN_ASSIGN(int axis, NormalizeAxis(At(op.input_axes, i), x.rank()));
    if (i && x.dim(axis) != length)
      return InvalidArgument("scan inputs have different lengths: ", length, " and ", x.dim(axis));
    length = x.dim(axis);
    axes.push_back(axis);
  }
  Collector collected(c, states, std::max(0, c.OutputCount() - states));
  for (int64_t iteration = 0; iteration < length; ++iteration) {
    DatumList inputs = state;
    for (int i = 0; i < scanned; ++i) {
      const int64_t index = At(op.input_reverse, i) ? length - 1 - iteration : iteration;
      inputs.emplace_back(TakeSlice(c.In(states + i), axes[static_cast<size_t>(i)], index));
    }
    TERN_ASSIGN(DatumList out, c.RunSubgraph(0, inputs));
    for (int i = 0; i < states; ++i) state[static_cast<size_t>(i)] = out[static_cast<size_t>(i)];
    TERN_TRY(collected.Add(out));
  }
  for (int i = 0; i < states; ++i) c.SetOut(i, state[static_cast<size_t>(i)]);
  for (int i = states; i < c.OutputCount(); ++i) {
    DatumList& slices = collected[i - states];
    if (At(op.output_reverse, i - states)) std::reverse(slices.begin(), slices.end());
    int64_t axis = At(op.output_axes, i - states);
    if (axis < 0)
      axis += slices.empty() ? std::max(0, c.OutputType(i).shape.rank()) : slices.front().tensor.rank() + 1;
    TERN_ASSIGN(Tensor stacked, StackSlices(slices, axis, c.OutputType(i)));
    c.SetOut(i, std::move(stacked));
  }
  return {};
}

}  // namespace

TERN_OP(Scan) {
  return OpDef::Of<Scan>(
             "runs a body once per slice of its last inputs; passes states from one iteration to the next and stacks the other outputs")
      .VarIn("inputs", 0)
      .VarOut("outputs", 0)
      .Subgraph("body")
      .Traits(kControlFlow)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
