// Converts constants, variables, calls, and operators that return their input.
#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/proto_tensor.h"

namespace tern::tensorflow {
namespace {

Status Pass(TfNode& n) {
  n.Out(0, n.At(0));
  return {};
}

Status PassAll(TfNode& n) {
  for (int i = 0; i < n.InputCount(); ++i) n.Out(i, n.At(i));
  return {};
}

Status Nothing(TfNode&) { return {}; }

Status Const(TfNode& n) {
  const auto* a = n.Raw("value");
  if (!a || !a->has_tensor()) return n.Bad("attribute 'value' must be a tensor");
  const auto dtype = DTypeOf(a->tensor().dtype());
  auto tensor = TensorOf(a->tensor(), n.model().owner);
  if (!tensor.ok())
    return Status(tensor.status().code(), StrCat(n.Describe(), ": ", tensor.status().message()));
  Edge edge(n.b.Const(std::move(*tensor), n.name()));
  edge.complex = dtype.ok() && tern::IsComplex(*dtype);
  n.Out(0, edge);
  return {};
}

// Accepts only the placeholder from which the nodes that restore a model read the name of its file.
Status Placeholder(TfNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype"));
  if (!n.importer().follows_control() || dtype != DType::kString)
    return n.Bad("the placeholder is not an input of the signature");
  n.Out(0, n.b.Const(Tensor::Strings({}, {""})));
  return {};
}

std::shared_ptr<Resource>& ResourceOf(TfNode& n, Resource::Kind kind) {
  std::string shared = n.HasAttr("shared_name") ? n.Text("shared_name") : "";
  // TF2 stores a unique debug name in shared_name. Variables without one have the name of their node.
  if (shared.empty()) shared = n.importer().prefix() + n.name();
  auto& resource = n.model().resources[StrCat(static_cast<int>(kind), ":", shared)];
  if (!resource) {
    resource = std::make_shared<Resource>();
    resource->kind = kind;
    resource->name = shared;
  }
  return resource;
}

Status Variable(TfNode& n) {
  Edge edge;
  edge.resource = ResourceOf(n, Resource::Kind::kVariable);
  edge.reference = n.op() != "VarHandleOp";
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype"));
  edge.complex = edge.reference && tern::IsComplex(dtype);
  edge.resource->complex = tern::IsComplex(dtype);
  n.Out(0, edge);
  return {};
}

Result<Resource*> VariableAt(TfNode& n, int i) {
  const Edge& edge = n.At(i);
  if (!edge.resource || edge.resource->kind != Resource::Kind::kVariable)
    return n.Bad("input ", i, " is not a variable");
  return edge.resource.get();
}

Status ReadVariable(TfNode& n) {
  TERN_ASSIGN(Resource * variable, VariableAt(n, 0));
  TERN_ASSIGN(Value * value, n.importer().ReadVariable(*variable));
  Edge edge(value);
  edge.complex = variable->complex;
  n.Out(0, edge);
  return {};
}

Status VariableShape(TfNode& n) {
  TERN_ASSIGN(Resource * variable, VariableAt(n, 0));
  TERN_ASSIGN(Value * value, n.importer().ReadVariable(*variable));
  TERN_ASSIGN(const DType to, n.DTypeAttr("out_type"));
  n.Out(0, n.Cast(n.ShapeOf(value), to));
  return {};
}

// Restoring a model assigns the tensors of the file. Only their keys are kept, so that unused variables are
// never read.
Status Assign(TfNode& n) {
  TERN_ASSIGN(Resource * variable, VariableAt(n, 0));
  const Edge& source = n.At(1);
  if (source.resource && source.reference) {
    variable->key = source.resource->key;
  } else if (source.value && source.value->is_constant()) {
    variable->tensor = source.value->constant;
  }
  n.Out(0, n.At(0));
  return {};
}

Status RestoreV2(TfNode& n) {
  const Tensor* names = n.Constant(1);
  if (!names || names->dtype() != DType::kString)
    return n.NotYet("the names of the tensors are not constant");
  const Tensor* slices = n.Constant(2);
  const auto keys = ToStrings(*names);
  const auto parts =
      slices && slices->dtype() == DType::kString ? ToStrings(*slices) : std::vector<std::string>();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i < parts.size() && !parts[i].empty())
      return n.NotYet("the slice '", parts[i], "' of variable '", keys[i], "'");
    Edge edge;
    edge.resource = std::make_shared<Resource>();
    edge.resource->kind = Resource::Kind::kVariable;
    edge.resource->name = edge.resource->key = keys[i];
    edge.reference = true;
    n.Out(static_cast<int>(i), edge);
  }
  return {};
}

Status Call(TfNode& n) {
  std::vector<Edge> args;
  for (int i = 0; i < n.InputCount(); ++i) args.push_back(n.At(i));
  TERN_ASSIGN(auto results, n.importer().Call(n.Function("f"), args, n.b.graph(), n.name()));
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<int>(i), results[i]);
  return {};
}

Status Unreadable(TfNode& n) {
  n.Out(0, n.b.Const(Tensor::Strings({}, {""})));
  return {};
}

}  // namespace

TERN_CONVERTERS(basic) {
  for (const char* op :
       {"Identity", "StopGradient", "Snapshot", "PreventGradient", "CheckNumerics", "CheckNumericsV2",
        "EnsureShape", "PlaceholderWithDefault", "DeepCopy", "RefIdentity", "DebugGradientIdentity"})
    table.Add(op, Pass);
  table.Add("Print", Pass);
  table.Add("IdentityN", PassAll);
  table.Add("Const", Const);
  for (const char* op : {"Placeholder", "PlaceholderV2"}) table.Add(op, Placeholder);
  for (const char* op : {"VarHandleOp", "VariableV2", "Variable"}) table.Add(op, Variable);
  for (const char* op : {"ReadVariableOp"}) table.Add(op, ReadVariable);
  table.Add("VariableShape", VariableShape);
  for (const char* op : {"Assign", "AssignVariableOp"}) table.Add(op, Assign);
  table.Add("RestoreV2", RestoreV2);
  for (const char* op : {"PartitionedCall", "StatefulPartitionedCall"}) table.Add(op, Call);
  for (const char* op : {"NoOp", "Assert", "ControlTrigger", "PrintV2"}) table.Add(op, Nothing);
  table.Add("ShardedFilename", Unreadable);
}

}  // namespace tern::tensorflow
