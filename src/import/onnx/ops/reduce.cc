// Converts reductions, and operators along one axis.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

// The axes are an attribute in old opsets. They are an input of ReduceSum from opset 13 on, and of the other
// reductions from opset 18 on.
Converter ReduceOf(const char* kind) {
  return [kind](OnnxNode& n) -> Status {
    std::vector<Value*> inputs = {n.In(0)};
    if (n.HasAttr("axes"))
      inputs.push_back(n.b.Ints(n.Ints("axes")));
    else if (n.Has(1))
      inputs.push_back(n.In(1));
    const AttrList attrs = {{"kind", kind},
                            {"keep_dims", n.Int("keepdims", 1) != 0},
                            {"noop_if_empty", n.Int("noop_with_empty_axes") != 0}};
    n.Out(0, n.b.Op("Reduce", inputs, attrs));
    return {};
  };
}

// Before opset 13, the operator flattens x to a matrix and works on its rows. The dims before `axis` become
// the rows, and the other dims become the columns.
Converter SoftmaxOf(const char* kind) {
  return [kind](OnnxNode& n) -> Status {
    const int rank = n.RankOf(0);
    const int64_t axis = n.Int("axis", n.opset < 13 ? 1 : -1);
    if (n.opset >= 13 || axis == -1 || (rank > 0 && axis == rank - 1)) {
      n.Out(0, n.b.Op("Softmax", {n.In(0)}, {{"kind", kind}, {"axis", axis}}));
      return {};
    }
    Value* shape = n.b.Op("Shape", {n.In(0)});
    Value* matrix = n.b.Op("Flatten", {n.In(0)}, {{"axis", axis}});
    Value* y = n.b.Op("Softmax", {matrix}, {{"kind", kind}, {"axis", int64_t{-1}}});
    n.Out(0, n.b.Op("Reshape", {y, shape}, {{"allow_zero", true}}));
    return {};
  };
}

Converter ArgOf(const char* kind) {
  return Direct("ArgReduce", {"axis", "keepdims=keep_dims", "select_last_index=last"}, {{"kind", kind}});
}

Converter CumulativeOf(const char* kind) {
  return Direct("Cumulative", {"exclusive", "reverse"}, {{"kind", kind}});
}

// Before opset 10, k is an attribute instead of an input.
Status TopK(OnnxNode& n) {
  Value* k = n.opset < 10 ? n.b.Ints({n.Int("k")}) : n.In(1);
  const AttrList attrs = {{"axis", n.Int("axis", -1)},
                          {"largest", n.Int("largest", 1) != 0},
                          {"sorted", n.Int("sorted", 1) != 0}};
  n.Out(n.b.Ops("TopK", {n.In(0), k}, attrs, 2));
  return {};
}

}  // namespace

TERN_CONVERTERS(reduce) {
  table.Add("ReduceSum", ReduceOf("sum"));
  table.Add("ReduceMean", ReduceOf("mean"));
  table.Add("ReduceMax", ReduceOf("max"));
  table.Add("ReduceMin", ReduceOf("min"));
  table.Add("ReduceProd", ReduceOf("prod"));
  table.Add("ReduceL1", ReduceOf("l1"));
  table.Add("ReduceL2", ReduceOf("l2"));
  table.Add("ReduceLogSum", ReduceOf("log_sum"));
  table.Add("ReduceLogSumExp", ReduceOf("log_sum_exp"));
  table.Add("ReduceSumSquare", ReduceOf("sum_square"));
  table.Add("Softmax", SoftmaxOf("softmax"));
  table.Add("LogSoftmax", SoftmaxOf("log_softmax"));
  table.Add("Hardmax", SoftmaxOf("hardmax"));
  table.Add("ArgMax", ArgOf("max"));
  table.Add("ArgMin", ArgOf("min"));
  table.Add("CumSum", CumulativeOf("sum"));
  table.Add("CumProd", CumulativeOf("prod"));
  table.Add("TopK", TopK);
}

}  // namespace tern::onnx
