#include "runtime/model/representative.h"

#include "ir/static_node.h"
#include "runtime/exec/run_once.h"

namespace tern {
namespace {

StaticNode StaticOf(const KernelQuery& query) {
  StaticNode node{&query.attrs(), {}, {}};
  for (const TensorInfo& info : query.inputs) node.inputs.push_back({info.dtype, info.dims, nullptr});
  return node;
}

// Sets the dims of an input to the declared dims. An unknown dim gets the size that OpDef::typical_dim
// returns. Returns false if a dim has no typical size.
bool SetRepresentativeDims(const Shape& declared, const StaticNode& node, size_t input,
                           Representative& representative) {
  Dims& dims = representative.query.inputs[input].dims;
  const bool ranked = declared.rank() == static_cast<int>(dims.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (ranked && declared.dims[axis].known()) {
      dims[axis] = declared.dims[axis].value();
      continue;
    }
    const int64_t size = representative.query.op().typical_dim(node, input, axis);
    if (size == 0) return false;
    if (size == kSizeOfWeights) continue;
    dims[axis] = size;
    representative.has_unknown_dims = true;
  }
  representative.query.known[input] = nullptr;  // the known data has other dims
  return true;
}

}  // namespace

std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query) {
  if (!query.op().typical_dim || !query.IsWeight(query.op().WeightInput())) return std::nullopt;
  const StaticNode given = StaticOf(query);
  Representative representative{std::move(query)};
  std::vector<InferInput> inputs(representative.query.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& info = representative.query.inputs[i];
    if (info.dtype == DType::kInvalid) continue;
    if (!representative.query.weight[i] &&
        !SetRepresentativeDims(node.inputs()[i]->type.shape, given, i, representative))
      return std::nullopt;
    inputs[i].present = true;
    inputs[i].type = Type::TensorOf(info.dtype, Shape::Of(info.dims));
  }
  const auto outputs = InferOutputs(node, std::move(inputs));
  if (!outputs.ok()) return std::nullopt;
  for (size_t i = 0; i < representative.query.outputs.size(); ++i) {
    if (representative.query.outputs[i].dtype == DType::kInvalid) continue;
    if (!(*outputs)[i].type.shape.fully_known()) return std::nullopt;
    representative.query.outputs[i].dims = (*outputs)[i].type.shape.Concrete();
  }
  return representative;
}

}  // namespace tern
