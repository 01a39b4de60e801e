#include "export/onnx/exporter.h"

namespace tern::onnx {
namespace {

Status Reduce(TernNode& n) {
  static constexpr std::pair<const char*, const char*> kNames[] = {{"sum", "ReduceSum"},
                                                                   {"mean", "ReduceMean"},
                                                                   {"max", "ReduceMax"},
                                                                   {"min", "ReduceMin"},
                                                                   {"prod", "ReduceProd"},
                                                                   {"l1", "ReduceL1"},
                                                                   {"l2", "ReduceL2"},
                                                                   {"log_sum", "ReduceLogSum"},
                                                                   {"log_sum_exp", "ReduceLogSumExp"},
                                                                   {"sum_square", "ReduceSumSquare"}};
  const std::string kind = n.attrs().Text("kind");
  std::vector<std::string> inputs = n.Ins();
  // ONNX requires i64 axes.
  if (n.Has(1) && n.TypeOf(1).dtype == DType::kI32)
    inputs[1] = n.Op("Cast", {inputs[1]}, {{"to", DType::kI64}});
  for (const auto& [tern, onnx] : kNames)
    if (kind == tern)
      n.Emit(onnx, inputs, n.Outs(),
             {{"keepdims", n.attrs().Bool("keep_dims")},
              {"noop_with_empty_axes", n.attrs().Bool("noop_if_empty")}});
  return {};
}

Status ArgReduce(TernNode& n) {
  n.Emit(n.attrs().Text("kind") == "max" ? "ArgMax" : "ArgMin", n.Ins(), n.Outs(),
         {{"axis", n.attrs().Int("axis")},
          {"keepdims", n.attrs().Bool("keep_dims")},
          {"select_last_index", n.attrs().Bool("last")}});
  return {};
}

// Emits a cumulative product without CumProd, which would require opset 26. y[i] is the product of all x[j]
// that row i of a triangular mask selects. The cost is quadratic in the length of the axis.
void CumulativeProduct(TernNode& n, int axis) {
  const int rank = n.TypeOf(0).shape.rank();
  const DType t = n.TypeOf(0).dtype;
  std::vector<int64_t> to_last, back;
  for (int i = 0; i < rank; ++i)
    if (i != axis) to_last.push_back(i);
  to_last.push_back(axis);
  for (int i = 0; i < rank; ++i) back.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
  const std::string x = n.Op("Transpose", {n.In(0)}, {{"perm", to_last}});
  const std::string length = n.Op("Shape", {x}, {{"start", int64_t{-1}}});
  const std::string square = n.Op("Concat", {length, length}, {{"axis", int64_t{0}}});
  const std::string ones = n.Op("ConstantOfShape", {square}, {{"value", Tensor::Of(DType::kI64, {1}, {1})}});
  const bool reverse = n.attrs().Bool("reverse"), exclusive = n.attrs().Bool("exclusive");
  const std::string k = n.Const(Tensor::Scalar(DType::kI64, exclusive ? (reverse ? 1 : -1) : 0));
  const std::string triangle = n.Op("Trilu", {ones, k}, {{"upper", reverse}});
  const std::string mask = n.Op("Cast", {triangle}, {{"to", DType::kBool}});
  const std::string rows = n.Op("Unsqueeze", {x, n.Ints({-2})});
  const std::string chosen = n.Op("Where", {mask, rows, n.Scalar(t, 1)});
  const std::string y = n.Op("ReduceProd", {chosen, n.Ints({-1})}, {{"keepdims", false}});
  n.Emit("Transpose", {y}, n.Outs(), {{"perm", back}});
}

Status Cumulative(TernNode& n) {
  const bool product = n.attrs().Text("kind") == "prod";
  const Value& axis_value = *n.node.input(1);
  const int rank = n.TypeOf(0).shape.rank();
  if (product && axis_value.is_constant() && rank > 0) {
    TERN_ASSIGN(const int constant, NormalizeAxis(LoadLong(axis_value.constant, 0), rank));
    CumulativeProduct(n, constant);
    return {};
  }
  if (product) n.NeedOpset(26);
  std::string axis = n.In(1);
  if (n.TypeOf(1).shape.rank() != 0) axis = n.Op("Reshape", {axis, n.Ints({})});
  n.Emit(product ? "CumProd" : "CumSum", {n.In(0), axis}, n.Outs(),
         {{"exclusive", n.attrs().Bool("exclusive")}, {"reverse", n.attrs().Bool("reverse")}});
  return {};
}

Status Softmax(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  n.Emit(kind == "softmax"       ? "Softmax"
         : kind == "log_softmax" ? "LogSoftmax"
                                 : "Hardmax",
         n.Ins(), n.Outs(), {{"axis", n.attrs().Int("axis")}});
  return {};
}

// ONNX requires that k is i64[1], and that the node has both outputs.
Status TopK(TernNode& n) {
  std::string k = n.In(1);
  if (n.TypeOf(1).dtype == DType::kI32) k = n.Op("Cast", {k}, {{"to", DType::kI64}});
  if (n.TypeOf(1).shape.rank() != 1) k = n.Op("Reshape", {k, n.Ints({1})});
  std::vector<std::string> outputs = n.Outs();
  while (outputs.size() < 2) outputs.push_back(n.Temp());
  n.Emit("TopK", {n.In(0), k}, outputs,
         {{"axis", n.attrs().Int("axis")},
          {"largest", n.attrs().Bool("largest")},
          {"sorted", n.attrs().Bool("sorted")}});
  return {};
}

}  // namespace

TERN_EXPORTERS(reduce) {
  table.Add("Reduce", Reduce);
  table.Add("ArgReduce", ArgReduce);
  table.Add("Cumulative", Cumulative);
  table.Add("Softmax", Softmax);
  table.Add("TopK", TopK);
}

}  // namespace tern::onnx
