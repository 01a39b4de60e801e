#include "runtime/usual.h"

#include "runtime/run_once.h"

namespace tern {
namespace {

bool SetUsual(const Value& value, bool windows, Dims& dims) {
  if (!windows) {
    for (size_t i = 0; i + 1 < dims.size(); ++i) dims[i] = 1;
    return true;
  }
  const Shape& shape = value.type.shape;
  if (shape.rank() != static_cast<int>(dims.size())) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!shape.dims[i].known() && i > 0) return false;
    dims[i] = shape.dims[i].known() ? shape.dims[i].value() : 1;
  }
  return true;
}

}  // namespace

std::optional<KernelQuery> UsualQuery(const Node& node, KernelQuery query) {
  const bool windows = query.op().name == "Conv" || query.op().name == "ConvTranspose";
  if (!windows && (query.op().name != "MatMul" || query.attrs().Bool("transpose_a"))) return std::nullopt;
  if (!query.IsWeight(1)) return std::nullopt;
  std::vector<InferInput> inputs(query.inputs.size());
  for (size_t i = 0; i < query.inputs.size(); ++i) {
    TensorInfo& info = query.inputs[i];
    if (info.dtype == DType::kInvalid) continue;
    if (!query.weight[i] && !SetUsual(*node.inputs()[i], windows, info.dims)) return std::nullopt;
    inputs[i].present = true;
    inputs[i].type = Type::TensorOf(info.dtype, Shape::Of(info.dims));
  }
  const auto outputs = InferOutputs(node, std::move(inputs));
  if (!outputs.ok() || !(*outputs)[0].type.shape.fully_known()) return std::nullopt;
  query.outputs[0].dims = (*outputs)[0].type.shape.Concrete();
  return query;
}

}  // namespace tern
