// Reads the types that a file declares. Dims that the import does not trust (see Trust) become unknown. After
// a failed import, finds out whether declared shapes were the cause.
#include "import/onnx/graph_importer.h"

namespace tern::onnx {
namespace {

bool HasNames(const Type& type) {
  for (const Dim& d : type.shape.dims)
    if (d.symbolic()) return true;
  return type.element && HasNames(*type.element);
}

void ForgetDims(Type& type, bool numbers_too) {
  for (Dim& d : type.shape.dims)
    if (numbers_too || d.symbolic()) d = Dim::Unknown();
  if (!type.element) return;
  Type element = *type.element;
  ForgetDims(element, numbers_too);
  type.element = std::make_shared<const Type>(std::move(element));
}

void ForgetDims(Graph& graph) {
  for (const auto& v : graph.values()) {
    if (v->is_constant()) continue;
    ForgetDims(v->type, true);
    v->content.reset();
  }
}

}  // namespace

Type GraphImporter::Declared(const pb::TypeProto& proto, bool is_input) {
  Type type = TypeFromOnnx(proto, model_.dim_names);
  if (HasNames(type)) model_.claims.names = true;
  if (outer_ && type.tensor() && !type.shape.dims.empty()) model_.claims.numbers = true;
  if (model_.trust != Trust::kAll) ForgetDims(type, !is_input && model_.trust == Trust::kInputsOnly);
  return type;
}

// Converts a failed node once more with all dims unknown. If this conversion succeeds, declared shapes
// contradict each other. If it fails too, the operator, element types, attributes or inputs are wrong. The
// import has failed in both cases and discards its graph, so clearing the dims of all values does no harm.
void GraphImporter::Diagnose(const Converter& converter, const pb::NodeProto& node, int opset, int index) {
  if (!model_.claims.names && !model_.claims.numbers) return;
  for (Graph* g = &graph_; g; g = g->parent) ForgetDims(*g);
  model_.claims.contradiction = RunConverter(converter, node, opset, index).ok();
}

}  // namespace tern::onnx
